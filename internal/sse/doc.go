// Package sse reads and writes event streams (text/event-stream) as the WHATWG HTML standard defines them, section
// "Server-sent events".
//
// It knows bytes only: no HTTP, no JSON, no reconnecting. A [Reader] turns an io.Reader into events, one call at a
// time, in bounded memory. [AppendEvent] and [AppendComment] build what a server sends in a buffer of the caller.
package sse
