// Package upstream keeps one connection to each configured server and what the server lists.
//
// All servers are connected side by side; one that fails does not stop the others and is tried again, with pauses that
// grow to a minute. A connection that ends is made anew in the same way. What a server lists is read completely (all
// pages) and kept as raw JSON, and read again when the server says that it has changed.
//
// The connection that reads the lists is the gateway's own. Callers share it where that is safe, and have connections of their
// own elsewhere, by the setting [Share]: one for each principal, or for each session. Those are opened when they are needed,
// bounded in number ([PoolLimits]), and closed when nobody has needed them for a while. Each has a breaker, restarts and lists
// of its own; news that come on it go to its owner alone.
//
// What a caller can do goes along with a single call, where the server's revision takes it there.
//
// Other servers are taken into use by [Set.Reload] while calls go on.
//
// A lost server keeps its place, and its lists, for a while ([Options.KeepLists]), so that a restart of a child process
// changes nothing for clients but that calls fail meanwhile, with the reason.
package upstream
