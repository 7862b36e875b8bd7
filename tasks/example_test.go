package tasks_test

import (
	"context"
	"fmt"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
	"github.com/rialto-mcp/rialto/transport"
)

// A tool checks what it is given, and goes on as a task.
func ExampleRun() {
	ctx := context.Background()
	s := server.New(mcp.Implementation{Name: "baker", Version: "1.0.0"}, server.Options{Tasks: tasks.New(tasks.Options{})})
	server.AddTool(s, mcp.Tool{Name: "bake", Execution: tasks.May()},
		func(ctx context.Context, req *server.Request, in struct{ Loaves int }) (string, error) {
			if in.Loaves < 1 {
				return "", fmt.Errorf("bake at least one loaf, not %d", in.Loaves)
			}
			return tasks.Run(ctx, req, func(ctx context.Context, req *server.Request) (string, error) {
				return fmt.Sprintf("%d loaves", in.Loaves), nil // an hour later
			})
		})

	near, far := transport.Pair(0)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, far) }() // ends with the client
	c, err := client.Connect(ctx, near, client.Options{Tasks: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	call, err := c.StartTool(ctx, "bake", map[string]int{"Loaves": 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a task:", call.Task != nil)
	result, err := c.AwaitTask(ctx, call.Task.ID) // here, or in another program that knows the id
	fmt.Println(result.Text(), err)
	fmt.Println(c.Close(), <-served, s.Shutdown(ctx))
	// Output:
	// a task: true
	// 3 loaves <nil>
	// <nil> <nil> <nil>
}
