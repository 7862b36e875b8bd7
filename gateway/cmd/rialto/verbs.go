package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

type (
	discoverCommand  struct{ targeted }
	resourcesCommand struct{ targeted }
	promptsCommand   struct{ targeted }

	toolsCommand struct {
		targeted
		Tokens bool `help:"Show what each tool's definition costs a model, in tokens, by estimate."`
	}
	callCommand struct {
		targeted
		Tool      string   `arg:"" optional:"" help:"Name of the tool."`
		Arguments []string `arg:"" optional:"" help:"key=value (read by the tool's schema) or key:=JSON."`
		InputJSON string   `name:"input-json" placeholder:"JSON" help:"All arguments as one JSON object; words on the command line come on top."`
	}
	readCommand struct {
		targeted
		URI string `arg:"" optional:"" help:"Address of the resource."`
	}
	promptCommand struct {
		targeted
		Name      string   `arg:"" optional:"" help:"Name of the prompt."`
		Arguments []string `arg:"" optional:"" help:"key=value."`
	}
)

func (c *callCommand) shift() {
	if c.Tool != "" {
		c.Arguments = append([]string{c.Tool}, c.Arguments...)
	}
	c.Tool, c.Target = c.Target, ""
}

func (c *readCommand) shift() { c.URI, c.Target = c.Target, c.URI }

func (c *promptCommand) shift() {
	if c.Name != "" {
		c.Arguments = append([]string{c.Name}, c.Arguments...)
	}
	c.Name, c.Target = c.Target, ""
}

func (c *discoverCommand) do(ctx context.Context, e *environment) error {
	s, err := c.open(ctx, e)
	if err != nil {
		return err
	}
	defer s.close()
	about := about{
		Version: s.client.ProtocolVersion(), Info: s.client.ServerInfo(),
		Capabilities: s.client.ServerCapabilities(), Instructions: s.client.Instructions(),
	}
	if c.JSON {
		return e.json(about)
	}
	return e.discovered(about)
}

// about is what discover shows.
type about struct {
	Version      string                 `json:"protocolVersion"`
	Info         mcp.Implementation     `json:"serverInfo"`
	Capabilities mcp.ServerCapabilities `json:"capabilities"`
	Instructions string                 `json:"instructions,omitempty"`
}

func (c *toolsCommand) do(ctx context.Context, e *environment) error {
	if c.Tokens {
		return c.costs(ctx, e)
	}
	return c.list(ctx, e, upstream.Tools, e.tools)
}

func (c *resourcesCommand) do(ctx context.Context, e *environment) error {
	return c.list(ctx, e, upstream.Resources|upstream.Templates, e.resources)
}

func (c *promptsCommand) do(ctx context.Context, e *environment) error {
	return c.list(ctx, e, upstream.Prompts, e.prompts)
}

func (t *targeted) list(ctx context.Context, e *environment, kinds upstream.Kinds, show func(*upstream.Lists) error) error {
	s, err := t.open(ctx, e)
	if err != nil {
		return err
	}
	defer s.close()
	lists, err := s.read(ctx, e, kinds)
	if err != nil {
		return err
	}
	if t.JSON {
		return e.raw(listsJSON(lists, kinds))
	}
	return show(lists)
}

func (s *session) read(ctx context.Context, e *environment, kinds upstream.Kinds) (*upstream.Lists, error) {
	warn := func(text string) { _, _ = fmt.Fprintln(e.stderr, "rialto: "+clean(text)) }
	lists, err := upstream.Read(ctx, s.conn, kinds, warn)
	if err != nil {
		return nil, explain("list", s.server, err)
	}
	return lists, nil
}

func (c *callCommand) do(ctx context.Context, e *environment) error {
	if c.Tool == "" {
		return usage("the name of a tool is missing; rialto tools TARGET lists them")
	}
	s, err := c.open(ctx, e)
	if err != nil {
		return err
	}
	defer s.close()
	lists, err := s.read(ctx, e, upstream.Tools)
	if err != nil {
		return err
	}
	schema, err := schemaOf(lists.Tools, c.Tool)
	if err != nil {
		return err
	}
	args, err := toolArguments(schema, c.Arguments, c.InputJSON)
	if err != nil {
		return err
	}
	result, err := s.ask(ctx, e, mcp.MethodCallTool, named(c.Tool, args))
	if err != nil {
		return err
	}
	return e.called(result, c.JSON)
}

// schemaOf finds the input schema of a tool.
func schemaOf(tools []upstream.Item, name string) (json.RawMessage, error) {
	var names []string
	for _, t := range tools {
		if t.Key == name {
			schema, _ := jsonrpc.Member(t.Raw, "inputSchema")
			return schema, nil
		}
		names = append(names, t.Key)
	}
	if len(names) == 0 {
		return nil, usage("the server has no tool %q, and lists no other", name)
	}
	return nil, usage("the server has no tool %q; %s", name, suggest(name, names))
}

// named are params {"name": ..., "arguments": ...}.
func named(name string, args json.RawMessage) json.RawMessage {
	params := jsonrpc.AppendString([]byte(`{"name":`), name)
	params = append(params, `,"arguments":`...)
	return append(append(params, args...), '}')
}

func (c *readCommand) do(ctx context.Context, e *environment) error {
	if c.URI == "" {
		return usage("the address of a resource is missing; rialto resources TARGET lists them")
	}
	params := append(jsonrpc.AppendString([]byte(`{"uri":`), c.URI), '}')
	return c.relay(ctx, e, mcp.MethodReadResource, params, e.contents)
}

func (c *promptCommand) do(ctx context.Context, e *environment) error {
	if c.Name == "" {
		return usage("the name of a prompt is missing; rialto prompts TARGET lists them")
	}
	args, err := promptArguments(c.Arguments)
	if err != nil {
		return err
	}
	return c.relay(ctx, e, mcp.MethodGetPrompt, named(c.Name, args), e.messages)
}

func (t *targeted) relay(ctx context.Context, e *environment, method string, params json.RawMessage, show func(json.RawMessage) error) error {
	s, err := t.open(ctx, e)
	if err != nil {
		return err
	}
	defer s.close()
	result, err := s.ask(ctx, e, method, params)
	if err != nil {
		return err
	}
	if t.JSON {
		return e.raw(result)
	}
	return show(result)
}

// ask makes one call and shows its progress on a terminal.
func (s *session) ask(ctx context.Context, e *environment, method string, params json.RawMessage) (json.RawMessage, error) {
	o := client.RawOptions{}
	if e.terminal {
		o.OnProgress, o.ResetOnProgress = e.progress, true
	}
	result, err := s.client.Raw(ctx, method, params, o)
	switch {
	case err != nil:
		return nil, explain(method, s.server, err)
	case result.Input != nil:
		return nil, &failure{exit: exitTool, step: method, kind: "input", seen: "the server asks for input from the user, which this command cannot give yet"}
	case result.Result == nil || result.ResultType != "":
		return nil, &failure{exit: exitTool, step: method, kind: "result", seen: fmt.Sprintf("the server answers with a result of the kind %q, which this command does not know", result.ResultType)}
	}
	return result.Result, nil
}
