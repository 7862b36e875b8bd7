package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// CallTool calls a tool. args is anything whose JSON form is an object; a json.RawMessage is sent as it is, nil as {}. A
// tool that fails is a result with IsError set, not an error.
//
// Over HTTP on the modern era the arguments that the tool declares with x-mcp-header are repeated in headers, as far as the
// client has seen the tool in a list; an integer beyond ±(2^53-1) among them fails the call here. When the server refuses
// the headers, the list is read again and the call repeated once.
//
// With Options.Tasks a call that goes on as a task is waited for, as [Client.AwaitTask] does; [Client.StartTool] does not wait.
//
// The result of a tool that was seen in a list is held to the tool's output schema; one that breaks it is an [*OutputError].
// The result of a tool that failed is not: it holds the tool's own words.
func (c *Client) CallTool(ctx context.Context, name string, args any, opts ...CallOptions) (*mcp.CallToolResult, error) {
	params, err := toolParams(name, args)
	if err != nil {
		return nil, fmt.Errorf("call tool %q: %w", name, err)
	}
	output, err := c.promised(name)
	if err != nil {
		return nil, fmt.Errorf("call tool %q: %w", name, err)
	}
	result := &mcp.CallToolResult{}
	err = c.wholeTool(ctx, params, first(opts), result)
	if err == nil && output != nil {
		err = c.checkOutput(ctx, name, output, result, first(opts))
	}
	if err != nil {
		return nil, fmt.Errorf("call tool %q: %w", name, err)
	}
	return result, nil
}

func toolParams(name string, args any) (json.RawMessage, error) {
	raw := json.RawMessage("{}")
	if args != nil {
		var err error
		if raw, err = encode(args); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
	}
	if !jsonrpc.IsObject(raw) {
		return nil, mcp.InvalidParams("the arguments must be a JSON object, got %.60s", raw)
	}
	o := era.OpenObject(make([]byte, 0, len(raw)+len(name)+32))
	o.Resume(jsonrpc.AppendString(o.Key("name"), name))
	o.Put("arguments", raw)
	return o.Close(), nil
}

// into sends a call and reads its result.
func (c *Client) into(ctx context.Context, method string, params json.RawMessage, opts []CallOptions, result any) (*era.Outcome, error) {
	outcome, err := c.call(ctx, method, params, first(opts), c.callLimits())
	if err != nil {
		return nil, err
	}
	if kind := outcome.ResultType; kind != "" {
		return nil, mcp.Errorf(mcp.CodeInvalidResult, "the server answered %q with a result of type %.60q, which this method does not have", method, kind)
	}
	return outcome, decode(method, outcome, result)
}

// ReadResource reads a resource. An answer that the server lets keep is kept: see [CacheOptions].
func (c *Client) ReadResource(ctx context.Context, uri string, opts ...CallOptions) (*mcp.ReadResourceResult, error) {
	result, err := c.readResource(ctx, uri, first(opts))
	if err != nil {
		return nil, fmt.Errorf("read resource %q: %w", uri, err)
	}
	return result, nil
}

func (c *Client) readResource(ctx context.Context, uri string, o CallOptions) (*mcp.ReadResourceResult, error) {
	outcome, kept, err := c.ask(ctx, mcp.MethodReadResource, uri, single("uri", uri), o, c.callLimits())
	if err != nil {
		return nil, err
	}
	result := &mcp.ReadResourceResult{}
	if err := decode(mcp.MethodReadResource, outcome, result); err != nil {
		if kept { // what the store holds is not what was put there
			o.Cache = CacheRefresh
			return c.readResource(ctx, uri, o)
		}
		return nil, err
	}
	result.Cache = outcome.Cache
	return result, nil
}

// GetPrompt fills in a prompt.
func (c *Client) GetPrompt(ctx context.Context, name string, args map[string]string, opts ...CallOptions) (*mcp.GetPromptResult, error) {
	params, err := encode(mcp.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return nil, fmt.Errorf("get prompt %q: %w", name, err)
	}
	result := &mcp.GetPromptResult{}
	if _, err := c.into(ctx, mcp.MethodGetPrompt, params, opts, result); err != nil {
		return nil, fmt.Errorf("get prompt %q: %w", name, err)
	}
	return result, nil
}

// Complete asks how an argument that is being typed may go on.
func (c *Client) Complete(ctx context.Context, p mcp.CompleteParams, opts ...CallOptions) (*mcp.CompleteResult, error) {
	if err := p.Ref.Check(); err != nil {
		return nil, fmt.Errorf("complete: %w", err)
	}
	params, err := encode(p)
	if err != nil {
		return nil, fmt.Errorf("complete: %w", err)
	}
	result := &mcp.CompleteResult{}
	if _, err := c.into(ctx, mcp.MethodComplete, params, opts, result); err != nil {
		return nil, fmt.Errorf("complete %q: %w", p.Argument.Name, err)
	}
	return result, nil
}

// Ping asks whether the server answers: with ping where the revision has it, with server/discover elsewhere.
func (c *Client) Ping(ctx context.Context, opts ...CallOptions) error {
	method := mcp.MethodPing
	if _, standing := c.now().codec.Look(method, false, era.ServerSide); standing != era.Known {
		method = mcp.MethodDiscover
	}
	if _, err := c.call(ctx, method, nil, first(opts), c.callLimits()); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// SetLevel asks for log messages from a level on. On the legacy era that is a request; on the modern one the level rides
// in each later request, and nothing is sent now.
func (c *Client) SetLevel(ctx context.Context, level mcp.Level, opts ...CallOptions) error {
	if _, err := mcp.ParseLevel(string(level)); err != nil {
		return fmt.Errorf("set log level: %w", err)
	}
	if !c.now().codec.Traits().PerRequestLevel {
		if _, err := c.call(ctx, mcp.MethodSetLevel, single("level", string(level)), first(opts), c.callLimits()); err != nil {
			return fmt.Errorf("set log level: %w", err)
		}
	}
	c.level.Store(level)
	return nil
}

// SubscribeResource asks a legacy server for notifications/resources/updated of a resource; they come to
// Options.OnNotification. The modern era has no such request: [Client.Subscribe] works in both eras, and shares what it has
// asked for. This is the bare request, which is not counted, so it should not be used beside that for the same resource.
func (c *Client) SubscribeResource(ctx context.Context, uri string, opts ...CallOptions) error {
	if _, err := c.call(ctx, mcp.MethodSubscribeResource, single("uri", uri), first(opts), c.callLimits()); err != nil {
		return fmt.Errorf("subscribe to %q: %w", uri, err)
	}
	return nil
}

// UnsubscribeResource ends what SubscribeResource began.
func (c *Client) UnsubscribeResource(ctx context.Context, uri string, opts ...CallOptions) error {
	if _, err := c.call(ctx, mcp.MethodUnsubscribeResource, single("uri", uri), first(opts), c.callLimits()); err != nil {
		return fmt.Errorf("unsubscribe from %q: %w", uri, err)
	}
	return nil
}

// Notify sends a notification. One that the revision does not have is refused with mcp.CodeMethodNotSupported and not
// written.
func (c *Client) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if err := c.usable(); err != nil {
		return err
	}
	l, err := c.ready(ctx, c.opts.CallTimeout)
	if err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	if err := l.wire.peer.Send(ctx, l.wire.via, l.codec, &era.Notice{Method: method, Params: params}); err != nil {
		return fmt.Errorf("send %s: %w", method, l.explain(ctx, err))
	}
	return nil
}

// single builds params of one member that is a string.
func single(name, value string) json.RawMessage {
	o := era.OpenObject(make([]byte, 0, len(name)+len(value)+8))
	o.Resume(jsonrpc.AppendString(o.Key(name), value))
	return o.Close()
}
