// Package upstream keeps one connection to each configured server and what the server lists.
//
// All servers are connected side by side; one that fails does not stop the others and is tried again, with pauses that
// grow to a minute. A connection that ends is made anew in the same way. What a server lists is read completely (all
// pages) and kept as raw JSON, and read again when the server says that it has changed.
//
// A connection is shared by all callers: it declares no capabilities of its own, so a server asks nothing that nobody
// could answer. What a caller can do goes along with a single call, where the server's revision takes it there.
//
// Other servers are taken into use by [Set.Reload] while calls go on.
//
// A lost server keeps its place, and its lists, for a while ([Options.KeepLists]), so that a restart of a child process
// changes nothing for clients but that calls fail meanwhile, with the reason.
package upstream
