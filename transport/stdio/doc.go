// Package stdio carries frames as lines over standard input and output: one JSON text a line, UTF-8, no line breaks
// inside.
//
// [Open] is the server's end, over the process's own input and output or any other reader and writer. [Start] is the
// client's end: it runs the server as a child process and ends it in order. Both are a transport.Conn.
//
// # What can be interrupted
//
// A Read or Write that waits must end with its context and with Close. Files and sockets with deadlines allow that
// directly. Standard input and output usually have none, because their file descriptions are shared with whoever
// started the process and must not be switched to non-blocking mode. On Linux pipes and terminals are therefore opened
// a second time, which gives a description of their own; standard input is then waited for on the thread that reads,
// which answers a peer with one request at a time about twice as fast as the runtime's poller would. Where that is
// impossible (other systems, regular files, readers of other packages) a goroutine does the reading or writing, and
// Close closes the reader and writer where they can be closed. The process's own three descriptors are never closed:
// there, one goroutine may stay in a read until input comes or the process ends.
package stdio
