package examples

import (
	"context"
	"fmt"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// What the pages show of methods outside the specification, on the side of the server.

// A method of a vendor needs no more than a function.
func Example_method() {
	s := newShop(server.Options{})
	// [method]
	server.AddMethod(s, "acme/buy", func(ctx context.Context, req *server.Request, in Order) (Receipt, error) {
		if err := req.Notify(ctx, "acme/price", []byte(`{"item":"pear"}`)); err != nil { // to the client of this call
			return Receipt{}, err
		}
		return Receipt{Total: 0.5 * float64(in.Count)}, nil
	})
	// [end]
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		told := make(chan string, 1)
		c, done := connect(s, client.Options{Mode: mode, Vendor: []client.VendorHandler{
			client.OnNotification("acme/price", func(_ context.Context, changed Order) { told <- changed.Item }),
		}})
		receipt, err := client.Request[Receipt](context.Background(), c, "acme/buy", Order{Item: "pear", Count: 3})
		fmt.Println(receipt.Total, err, <-told)
		done()
	}
	// Output:
	// 1.5 <nil> pear
	// 1.5 <nil> pear
}

// An extension of one's own is declared on both sides, and names its methods.
func Example_extension() {
	// [extension]
	orders := mcp.Extension{Identifier: "com.example/orders", Requests: []string{"orders/place"}}
	s := newShop(server.Options{Extensions: []mcp.Extension{orders}})
	server.AddMethod(s, "orders/place", func(_ context.Context, _ *server.Request, in Order) (Receipt, error) {
		return Receipt{Total: 0.5 * float64(in.Count)}, nil
	})
	// [end]
	for _, own := range [][]mcp.Extension{{orders}, nil} {
		c, done := connect(s, client.Options{Extensions: own})
		receipt, err := client.Request[Receipt](context.Background(), c, "orders/place", Order{Item: "pear", Count: 2})
		fmt.Println(receipt.Total, err)
		done()
	}
	// Output:
	// 1 <nil>
	// 0 orders/place: peer: missing required client capability: method "orders/place" belongs to the extension com.example/orders; declare it in the clientCapabilities of this request
}
