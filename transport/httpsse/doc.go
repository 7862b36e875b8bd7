// Package httpsse carries the legacy era over HTTP+SSE, the transport of revision 2024-11-05, for the clients that know
// nothing newer.
//
// [New] makes the server's end: one http.Handler that answers two paths. A client opens the event stream with a GET and
// finds in its first event, "endpoint", where to post its messages. Each POST is answered with 202 at once; what the
// server has to say comes as "message" events on the stream. The stream is the session: when it ends, what runs for the
// client ends with it.
//
//	GET  -> guard -> session, peer -> event stream: endpoint, then messages, keep-alive comments, broadcasts
//	POST -> guard -> session -> body -> jsonrpc -> negotiate -> exchange -> Receiver
//	Receiver -> exchange -> event of the stream
//
// What can be told apart from a message (another type, too large, no JSON, no session) is refused with an HTTP status. A
// request that has been read is always answered on the stream, refusals included, since that is where clients wait.
//
// The modern era has no such transport: a request that claims a modern revision is refused with -32022.
//
// [Handler.Broadcast] sends events of any name to every open stream, for pages that look on. Clients of the protocol
// should ignore names they do not know.
//
// Streams take their connection over from net/http (HTTP/1.1), as those of package streamhttp do: http.Server.Shutdown
// does not know of them, so [Handler.Shutdown] or [Handler.Close] must be called. Spec 2024-11-05, basic/transports,
// "HTTP with SSE".
package httpsse
