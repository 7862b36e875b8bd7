// Package jsonrpc reads and writes one JSON-RPC 2.0 message at a time, as the Model Context Protocol uses it.
//
// [Decode] scans a frame once and notes where everything stands: the id as its raw token, the method, the raw params,
// result or error, and the members that a [Lift] table names, so that no layer above parses the frame again. Encoding
// splices: a raw value is copied, never marshalled, so its tokens leave with the bytes they came with. Only line
// breaks between tokens are dropped, since a frame is one line on stdio and one data line in an event stream.
//
// Below whole messages, [Fields] is the one walk over raw objects; [Member], [Members], [With] and [Without] rest on it, and
// so do the codecs and package mcp.
//
// What is refused, and with which code, is part of the contract: a frame that is not JSON, holds duplicate names or
// invalid UTF-8, or nests deeper than the limit is a parse error (-32700); JSON that is no message is an invalid
// request (-32600). Names match exactly; unknown members are kept in [Message.Extra] and otherwise ignored. Integers
// are never read as floating-point numbers.
//
// Nothing in this package knows the Model Context Protocol's methods or eras. It does no I/O and starts no goroutine.
// All functions may be called concurrently; a Message may be read, not changed, by several goroutines at once.
package jsonrpc
