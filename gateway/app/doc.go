// Package app runs the gateway: it provisions (settings, the address, the servers), starts, and at the end of its context
// drains and stops, with every stream closed and every child process ended within three seconds.
//
// While it runs it follows its file (see [Source]): what changed is swapped in one step, calls under way go on, and a file with
// any mistake changes nothing.
//
// Clients see everything at one address, and each bundle of the configuration at one of its own: see [front].
//
// What happens is told in lines on standard error; standard output is touched only where it carries the protocol.
package app
