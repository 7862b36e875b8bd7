// Package compose puts several servers together inside a program, as the gateway does from a file: servers of the program itself,
// and others by address or command, of either era, behind one server that clients of either era may use.
//
//	all, err := compose.New(info, compose.Options{}, compose.Local("desk", desk), compose.Remote(manager.Server{
//		Name: "issues", Transport: manager.HTTP, URL: "https://issues.example/mcp",
//	}))
//	http.Handle("/mcp", all.Server().Handler())
//	defer all.Close(ctx)
//
// It is no more than the wiring of package upstream, which keeps the connections, and package bridge, which serves what they list.
// Programs that want more of either wire them themselves.
package compose
