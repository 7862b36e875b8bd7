package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// answering are the options of a client that answers whatever a server may ask.
func answering() client.Options {
	return client.Options{
		Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			content := sample(req.RequestedSchema)
			for name := range content {
				if _, has := jsonrpc.Member(req.Defaults(), name); has {
					delete(content, name) // the client adds it
				}
			}
			return client.Accept(content)
		},
		CreateMessage: func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "none", Content: []mcp.Content{mcp.Text("an answer")}}, nil
		},
		Roots: []mcp.Root{{URI: "file:///conformance"}},
	}
}

// use lists what the server offers and uses each thing once. A tool that fails is no error; a call that does is one, after
// the others have been made.
func use(ctx context.Context, c *client.Client) error {
	var faults []error
	for tool, err := range c.Tools(ctx) {
		if err == nil {
			_, err = c.CallTool(ctx, tool.Name, sample(tool.InputSchema))
		}
		faults = append(faults, err)
	}
	for prompt, err := range c.Prompts(ctx) {
		if err == nil {
			args := map[string]string{}
			for _, argument := range prompt.Arguments {
				args[argument.Name] = "test"
			}
			_, err = c.GetPrompt(ctx, prompt.Name, args)
		}
		faults = append(faults, err)
	}
	for resource, err := range c.Resources(ctx) {
		if err == nil {
			_, err = c.ReadResource(ctx, resource.URI)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// sample makes arguments of a tool, or what a person fills a form with: a value of the right type for each member that the
// schema requires.
func sample(schema json.RawMessage) map[string]any {
	var object struct {
		Required   []string
		Properties map[string]struct {
			Type any
			Enum []any
		}
	}
	args := map[string]any{}
	if err := json.Unmarshal(schema, &object); err != nil {
		return args // an unusual schema: the server will say what is missing
	}
	values := map[string]any{"string": "test", "integer": 7, "number": 7, "boolean": true, "array": []any{}, "object": map[string]any{}}
	for _, name := range object.Required {
		property := object.Properties[name]
		if args[name] = values[fmt.Sprint(property.Type)]; len(property.Enum) > 0 {
			args[name] = property.Enum[0]
		}
	}
	return args
}
