// Command hello is the smallest server: one tool, on standard input and output.
package main

import (
	"context"
	"log"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

type person struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

func greet(_ context.Context, _ *server.Request, in person) (string, error) {
	return "Hello, " + in.Name + "!", nil
}

func main() {
	s := server.New(mcp.Implementation{Name: "hello", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "greet", Description: "Greets somebody by name"}, greet)
	if err := s.RunStdio(context.Background()); err != nil {
		log.Fatal(err)
	}
}
