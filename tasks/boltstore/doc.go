// Package boltstore keeps tasks in one file, so that clients find them again when the server was started anew.
//
//	store, err := boltstore.Open("tasks.db", boltstore.Options{})
//	defer store.Close() // after the server was shut down
//	s := server.New(info, server.Options{Tasks: tasks.New(tasks.Options{Store: store})})
//
// What a task has come to is kept, written through to the disk. Its work is not: a task that ran when the process ended has
// failed when the next one begins, and says so.
//
// The file is a B+ tree of go.etcd.io/bbolt, locked while it is open. Owners of tasks, what they ask and their results stand in
// it as they are, so it belongs where other users of the machine cannot read.
package boltstore
