// Package streamhttp carries both eras over Streamable HTTP.
//
// [New] makes the server's handler: one http.Handler for any path, on which modern requests are served without state and
// legacy ones in sessions. [NewClient] makes the other end. Both feed a transport.Receiver and know nothing above it.
//
// # How a POST is answered
//
// A request is judged in the order of the table of refusals (docs/refusals.md). Its answer is a JSON body when nothing
// precedes it and it comes within Options.UpgradeAfter; otherwise the response becomes an event stream with keep-alive
// comments. What the client's Accept header leaves out is never sent.
//
//	request -> guard, media types, body -> jsonrpc -> negotiate -> exchange -> Receiver
//	Receiver -> exchange -> reply (JSON body) or stream (events) -> client
//
// The server's end lies in handler, post, batch and get (what comes in), reply and stream (what goes out), and session; the
// client's in client, call, events and listen. What a client without an http.Client of the user's posts to an http:// address
// goes the short way of direct.
//
// # Streams that outlive their connections
//
// What goes on a stream of a session is a line: an event is stored in the session's log, then written to the connection the
// line has just now, if any. A GET that names an event gives the line a new connection (resume); cut ends one before its
// time. What a client can go on with, and what is refused, stands in decision 0018.
//
// # Sessions of several handlers
//
// With Options.Sessions any of several handlers serves any session (decision 0020). Each request finds its session by the
// store (takeup); sharedsession is what one handler knows of it, follow its GET streams, which bring what any handler has
// put into the log, and word what they say to each other on the bus.
//
// # Streams that stay open
//
// A subscriptions/listen stream and a session's GET stream take their connection over from net/http (HTTP/1.1), so that
// an idle one costs a few KiB. Access logs see such a handler return at once, and http.Server.Shutdown does not know of
// the connection: Handler.Shutdown and Handler.Close end it. Options.NoHijack turns this off.
package streamhttp
