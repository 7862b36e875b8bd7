package examples

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// What one call leaves for the next travels in a handle, and no session has to last for it.
func Example_handle() {
	s := newShop(server.Options{})
	// [handle]
	type Add struct {
		Item   string `json:"item"`
		Basket string `json:"basket,omitempty" jsonschema:"what the last call returned; leave out to begin"`
	}
	server.AddTool(s, mcp.Tool{Name: "add", Description: "Puts an item into the basket and returns the basket to use next"},
		func(ctx context.Context, req *server.Request, in Add) (string, error) {
			var items []string
			if in.Basket != "" {
				var err error
				if items, err = server.OpenHandle[[]string](ctx, req, "basket", in.Basket); err != nil {
					return "", err // server.ErrHandle: its text tells the model to ask for a new one
				}
			}
			return server.NewHandle(ctx, req, "basket", append(items, in.Item), time.Hour)
		})
	// [end]
	server.AddTool(s, mcp.Tool{Name: "list"}, func(ctx context.Context, req *server.Request, in struct{ Basket string }) (string, error) {
		items, err := server.OpenHandle[[]string](ctx, req, "basket", in.Basket)
		return strings.Join(items, ", "), err
	})
	c, done := connect(s, client.Options{})
	defer done()
	call := func(tool string, arguments map[string]string) string {
		result, err := c.CallTool(context.Background(), tool, arguments)
		if err != nil {
			panic(err)
		}
		return result.Text()
	}
	basket := call("add", map[string]string{"item": "apple"})
	basket = call("add", map[string]string{"item": "pear", "basket": basket})
	fmt.Println(call("list", map[string]string{"Basket": basket}))
	fmt.Println(call("list", map[string]string{"Basket": "mine"}))
	// Output:
	// apple, pear
	// this handle is not valid or has expired; ask for a new one
}
