package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// A store that several clients share.
func ExampleNewMemoryCache() {
	ctx := context.Background()
	store := client.NewMemoryCache(10_000, 64<<20)
	conn, _ := play(modern(script{"tools/list": result(`{"tools":[],"ttlMs":60000,"cacheScope":"public"}`)}))
	c, err := client.Connect(ctx, conn, client.Options{Cache: client.CacheOptions{Store: store}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	page, err := c.ListTools(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Cache.Scope, page.Cache.TTL().Round(time.Minute), store.Len())
	// Output: public 1m0s 1
}

// A method of a vendor has types of the caller's own.
func ExampleRequest() {
	type search struct {
		Words string `json:"words"`
	}
	type found struct {
		Hits int `json:"hits"`
	}
	ctx := context.Background()
	conn, _ := play(modern(script{"acme/search": result(`{"hits":3}`)}))
	c, err := client.Connect(ctx, conn, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	got, err := client.Request[found](ctx, c, "acme/search", search{Words: "harbour"})
	fmt.Println(got.Hits, err)
	// Output: 3 <nil>
}

// Notifications of a vendor come to a function with a type of its own.
func ExampleOnNotification() {
	type tick struct {
		At int `json:"at"`
	}
	seen := make(chan tick)
	ctx := context.Background()
	conn, p := play(legacy(nil))
	c, err := client.Connect(ctx, conn, client.Options{Vendor: []client.VendorHandler{
		client.OnNotification("acme/tick", func(_ context.Context, in tick) { seen <- in }),
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	p.conn.Write(ctx, []byte(`{"jsonrpc":"2.0","method":"acme/tick","params":{"at":7}}`))
	fmt.Println((<-seen).At)
	// Output: 7
}

// A result that breaks the schema its tool was listed with is an error that holds it.
func ExampleOutputError() {
	ctx := context.Background()
	conn, _ := play(modern(script{
		"tools/list": result(`{"tools":[{"name":"depth","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["metres"]}}]}`),
		"tools/call": result(`{"content":[],"structuredContent":{"feet":12}}`),
	}))
	c, err := client.Connect(ctx, conn, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, err := range c.Tools(ctx) {
		if err != nil {
			log.Fatal(err)
		}
	}
	_, err = c.CallTool(ctx, "depth", nil)
	fmt.Println(err)
	var broken *client.OutputError
	if errors.As(err, &broken) {
		fmt.Printf("%s\n", broken.Result.StructuredContent)
	}
	// Output:
	// call tool "depth": the result breaks the output schema that the server lists for the tool: misses "metres"
	// {"feet":12}
}
