// Package client calls Model Context Protocol servers of both eras.
//
//	c, err := client.DialHTTP(ctx, "https://example.com/mcp", client.Options{})
//	c, err := client.DialSSE(ctx, "https://example.com/sse", client.Options{})
//	c, err := client.DialStdio(ctx, client.Command{Path: "some-server"}, client.Options{})
//	c, err := client.Connect(ctx, conn, client.Options{})
//
// The era of the server is found by itself: the modern opening goes first, and what does not answer it like a modern
// server is opened with initialize. From then on the same methods serve both: [Client.CallTool], [Client.Tools] and so on
// take and return the neutral types of package mcp. What a revision does not have is refused here and never written
// ([mcp.CodeMethodNotSupported]).
//
// # Errors
//
// An error that the server answered is an [*mcp.Error] with Remote set. Failures of this side carry one of the local codes
// of package mcp, to be asked for with errors.Is: [mcp.CodeRequestTimeout], [mcp.CodeConnectionClosed],
// [mcp.CodeNotConnected], [mcp.CodeInvalidResult] and so on. The end of the caller's context is the context's error. A
// server that wants to know who asks is an [*AuthError]. A tool that failed is no error but a result with IsError set.
//
// # Lost connections
//
// A child process that has ended is started again, and a session that an HTTP server has forgotten is replaced by a new one:
// see [Options.Restart], [Client.Done] and [Client.Err]. What the server may have begun is never repeated by itself.
//
// # What a server asks
//
// [Options.CreateMessage], [Options.Elicit], [Options.ElicitURL] and [Options.Roots] answer servers of both eras: requests of
// legacy ones, and the questions by which a modern one wants a call repeated. The call goes on by itself. Over HTTP the first
// call of a legacy server that may ask waits, up to a second, for the stream on which it may do so.
//
// # News
//
// [Client.Subscribe] brings changes of lists and of resources in both eras. [Client.OnToolsChange] and its kin call a
// function.
//
// # Kept answers
//
// Lists and resources are kept as long as their server says; see [CacheOptions] and CallOptions.Cache.
//
// # Vendors
//
// [Request] sends a method outside the specification, [HandleRequest] and [OnNotification] take those of the server.
//
// # The raw door
//
// [Client.Raw] and [Client.Start] carry any method as raw JSON, token for token, and [Options.OnRequest] takes whatever the
// server asks. Relays are built from these.
//
// # Middleware
//
// [Options.Middleware] stands around every request that is sent once the connection is open: it may add to it, answer by
// itself, or send it again.
//
// # Concurrency
//
// A [Client] may be used by many goroutines at once. Each call runs on the goroutine of its caller, progress callbacks
// included; what the server sends outside a call is handed to the hooks of [Options] one at a time and in order, and an
// answer is handed over after the hooks of what came before it have returned.
package client
