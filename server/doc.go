// Package server is the door for those who write Model Context Protocol servers.
//
// A server is built once, in neutral types, and serves clients of both eras at the same time: over one HTTP handler, one
// stdio process, or any other transport.
//
//	s := server.New(mcp.Implementation{Name: "weather", Version: "1.2.0"}, server.Options{})
//	server.AddTool(s, mcp.Tool{Name: "forecast", Description: "Weather for the next days"}, forecast)
//	http.Handle("/mcp", s.Handler())
//
// Handlers get a context that ends with their request and a [Request] that tells who asks. What they return decides the
// answer:
//
//	a value              the result
//	*mcp.InputRequired   questions to the client; the handler runs again with the answers (tools, prompts, resources)
//	*mcp.Error           an error with that code
//	any other error      tools: a result with isError and the error's text; elsewhere an internal error without detail
//
// A handler that panics is answered like one that fails without a word for the client, and the server goes on. A request
// that its client has cancelled gets no answer.
//
// # Doors
//
//	tools       AddTool (types), RegisterTools (a value's methods), AddRawTool (given schemas, raw arguments)
//	resources   AddResource, AddResourceTemplate; ResourceUpdated tells who subscribed
//	prompts     AddPrompt; CompletePrompt and CompleteTemplate suggest values
//	vendors     AddMethod (types), Handle (raw JSON), for methods outside the specification or of an extension
//	relays      Options.Fallback for what nothing registered answers, Options.Catalogue for lists: raw JSON, token for token
//
// Around them stand Options.Middleware (every request; [Logging], [Timeout], [RateLimit], [Concurrency], [MaxResultBytes]),
// Options.Visible (who sees what, in lists and calls alike) and Options.Hooks (sessions).
//
// Everything may be added, replaced and removed while the server runs; clients that listen hear of it, once for a change
// that comes in many parts. All exported functions and methods may be called concurrently.
//
// # Way of a request
//
// The engine hands a decoded request to dispatch.go, which sends it through the middleware (middleware.go) and looks up
// whom it is for and whether its sender may see that (filter.go; row 9 of the table of refusals), compares the headers that
// mirror arguments (10), judges what a retry brings and the parameters (12), runs the handler, and makes an outcome of what
// it returns; the capability that a question needs (11) is checked when the handler asks. A call whose client was asked on
// the way is dispatched again, without the middleware.
// What differs between revisions is asked of the codec's traits.
package server
