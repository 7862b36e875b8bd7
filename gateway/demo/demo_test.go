package demo_test

import (
	"context"
	"fmt"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/demo"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

func ExampleServer() {
	near, far := transport.Pair(0)
	served := make(chan error, 1)
	go func() { served <- demo.Server("1.0.0", server.Options{}).Serve(context.Background(), far) }() // ends with the client
	c, err := client.Connect(context.Background(), near, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := c.CallTool(context.Background(), "add", map[string]int{"a": 2, "b": 3})
	fmt.Println(string(result.StructuredContent), err)
	failed, err := c.CallTool(context.Background(), "count", map[string]int{"to": 1000})
	fmt.Println(failed.IsError, failed.Text(), err)
	fmt.Println(c.Close(), <-served)
	// Output:
	// {"sum":5} <nil>
	// true this tool counts to something from 1 to 100, with pauses of 0 to 1000 milliseconds <nil>
	// <nil> <nil>
}
