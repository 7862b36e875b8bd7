// Package mcptest helps to test Model Context Protocol servers and clients.
//
//   - [Pair] connects a client to a server inside the process, in either era.
//   - [Wires] lists every wire, each in both eras, so that one test runs over all of them.
//   - [Peer] is the other side of a connection, played from a script.
//   - [Replay] takes a handler through its questions, and finds what it does in the wrong run.
//   - [Record] keeps the frames of a connection; a [Transcript] can be compared with a golden file.
//
// Helpers take testing.TB, clean up after themselves and report into the test. What uses memory alone works inside a
// testing/synctest bubble.
package mcptest
