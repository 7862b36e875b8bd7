package examples

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// A call that takes long need not hold a connection.
func Example_closeStream() {
	s := server.New(mcp.Implementation{Name: "bakery", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "bake"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		// [close]
		req.CloseStream(20 * time.Millisecond) // the client comes back then; for clients that cannot, it does nothing
		return bake(ctx)
		// [end]
	})
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	ctx := context.Background()
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		c, err := client.DialHTTP(ctx, web.URL, client.Options{Mode: mode})
		if err != nil {
			panic(err)
		}
		result, err := c.CallTool(ctx, "bake", nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Text())
		if err := c.Close(); err != nil {
			panic(err)
		}
	}
	if err := s.Shutdown(ctx); err != nil {
		panic(err)
	}
	// Output:
	// a loaf of bread
	// a loaf of bread
}

func bake(context.Context) (string, error) { return "a loaf of bread", nil }
