// Package tasks lets tool calls go on after their answer: the client gets a task, asks now and then how far it is, answers
// what it asks, and fetches the result, also after it was started anew. One code serves the extension of tasks on the modern
// era and the experimental tasks of 2025-11-25; clients that know neither get the result of an ordinary call.
//
//	host := tasks.New(tasks.Options{})
//	s := server.New(info, server.Options{Tasks: host})
//	server.AddTool(s, mcp.Tool{Name: "render", Execution: tasks.May()},
//		func(ctx context.Context, req *server.Request, in Film) (Reel, error) {
//			// questions here are ordinary rounds, before there is a task
//			return tasks.Run(ctx, req, func(ctx context.Context, req *server.Request) (Reel, error) {
//				return render(ctx, in, func(done float64) { req.Progress(ctx, done, 1, "rendering") })
//			})
//		})
//
// A tool says by mcp.Tool.Execution whether its calls run as tasks: [Never], [May] or [Must]. Who decides, where they may,
// depends on the era: on the modern one the server, for clients that declare the extension; on 2025-11-25 the client, call by
// call.
//
// Inside a task a question of the handler waits for its answer, however long that takes, and the handler goes on where it
// asked. The task shows the question meanwhile; a client of the modern era answers with tasks/update, and one of 2025-11-25 is
// sent it while it waits for the result.
//
// A task belongs to the principal that its call came from, and to everybody else it does not exist. Where nobody is known its
// id, which cannot be guessed, is the key to it.
//
// [Memory] keeps tasks in the process, and package boltstore in a file. The work itself is in the process either way: what runs
// when it ends has failed, and says so afterwards.
//
// The methods of tasks lie in methods.go and, those of 2025-11-25 alone, in result.go and list.go; what runs in live.go. The
// form of a task on the wire is the codec's.
package tasks
