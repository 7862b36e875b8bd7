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
//	*mcp.InputRequired   questions to the user, where the client's revision has them (tools, prompts, resources)
//	*mcp.Error           an error with that code
//	any other error      tools: a result with isError and the error's text; elsewhere an internal error without detail
//
// Everything may be added and removed while the server runs; clients that listen hear of it. All exported functions and
// methods may be called concurrently.
package server
