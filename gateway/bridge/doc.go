// Package bridge serves the lists of all upstreams as one server: the server's door in, the upstreams' connections out.
//
// Requests are looked up in the table of package route, and relayed as raw JSON: of the parameters only the name or the
// address is exchanged, of an answer only the addresses of resources that are shown under another name; every other token
// leaves as it came. Progress comes back under the caller's own token, cancellation goes on by the context, an error of an
// upstream keeps its code and data.
//
// Arguments that a tool marks with x-mcp-header are judged where a client of the modern era repeats them in headers, by the
// definition that is shown; the headers for the server are made anew from the body, by the client that reads its lists.
//
// # One call
//
// answer (bridge.go) finds where a request goes: find.go, by the view of its caller (view.go; sight.go and owners.go where that is
// the caller's own). pass takes the steps of the rules around it. relay (relay.go) makes the call, or park (parked.go) where the
// client can be asked by the result of its request alone; its next request comes in by answer again, and goes on by resume. finished
// says what the client gets, and failure.go what it is told of an error.
//
// # Questions
//
// A server may ask the user or the model of the client behind a call. A modern upstream is told with each request what that
// client can do, and its question comes back as a result, which is passed on byte for byte like the answer to it. A legacy
// upstream was told once, when it was connected, what the gateway can pass on ([upstream.MayAsk]), and asks by a request of its
// own: it is answered by the client of the call it came with, or refused where that client has not declared that it answers. Roots
// it may be told of by the configuration as well ([upstream.Roots]).
//
// A legacy client is asked on the stream of its call, whatever the upstream. A modern one gets the questions as the result of its
// request, under a sealed state, while the call of the upstream stays parked; the request with the answers takes it up again.
// A client that does not come back within ten minutes loses it.
//
// # Tasks
//
// A call may be answered with a task of its server (tasks.go). Clients get an id that says where the task is, sealed for whoever
// has begun it; the methods of tasks (tasks_methods.go, tasks_list.go) open it and ask that server, in the one form that package
// client gives tasks of every revision. A client that takes no task is answered at the end of it (tasks_wait.go); clients hear of
// changes from tasks_follow.go. A result takes the steps of the rules whichever way it is handed out (tasks_results.go).
package bridge
