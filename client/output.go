package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/mcp"
)

// OutputError is what CallTool fails with when a result breaks the output schema of its tool, or lacks the structured content
// that the schema promises. It unwraps to [mcp.CodeInvalidResult]. Options.UncheckedOutput turns the check off.
type OutputError struct {
	Tool   string
	Result *mcp.CallToolResult // as it came: the tool has run
	err    error
}

// Error implements error. It does not show the value.
func (e *OutputError) Error() string {
	return fmt.Sprintf("the result breaks the output schema that the server lists for the tool: %s", e.err)
}

// Unwrap answers mcp.CodeInvalidResult and what is wrong.
func (e *OutputError) Unwrap() []error { return []error{mcp.CodeInvalidResult, e.err} }

// outputs are the output schemas of the tools that a client has seen listed. Its methods may be called concurrently.
type outputs struct {
	mu    sync.Mutex
	tools map[string]*output
	bytes int
}

// output is the schema of one tool. It is compiled when the tool is called first.
type output struct {
	raw       json.RawMessage
	confirmed bool // listed anew after a result had broken it; guarded by outputs.mu

	once     sync.Once
	compiled *schema.Schema
	err      error
}

// mostOutputs bounds the output schemas that are kept, in bytes. Results of tools for which there is no room are not checked.
const mostOutputs = 8 << 20

// keep replaces what is known of one tool; nil is no schema. It answers false where there is no room for it.
func (o *outputs) keep(name string, raw json.RawMessage) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	old := o.tools[name]
	if old != nil && bytes.Equal(old.raw, raw) {
		return true
	}
	if old != nil {
		o.bytes -= len(name) + len(old.raw)
		delete(o.tools, name)
	}
	switch {
	case raw == nil:
		return true
	case o.bytes+len(name)+len(raw) > mostOutputs:
		return false
	case o.tools == nil:
		o.tools = make(map[string]*output)
	}
	o.bytes += len(name) + len(raw)
	o.tools[name] = &output{raw: bytes.Clone(raw)}
	return true
}

func (o *outputs) of(name string) *output {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tools[name]
}

// confirm notes that a schema was listed anew, and tells whether it had been already.
func (o *outputs) confirm(schema *output) (already bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	already, schema.confirmed = schema.confirmed, true
	return already
}

// compile prepares the check.
func (o *output) compile() (*schema.Schema, error) {
	o.once.Do(func() { o.compiled, o.err = schema.Compile(o.raw, schema.Options{ForeignPatterns: true}) })
	return o.compiled, o.err
}

// check says what is wrong with a result; nil for nothing, and for a tool that failed.
func (o *output) check(result *mcp.CallToolResult) error {
	if result.IsError {
		return nil
	}
	compiled, err := o.compile()
	switch {
	case err != nil:
		return err
	case result.StructuredContent == nil:
		return errors.New("it has no structuredContent")
	}
	err = compiled.Validate(result.StructuredContent)
	var verdict *schema.ValidationError
	if errors.As(err, &verdict) {
		return errors.New(verdict.WithoutValue())
	}
	return err
}

// learn takes up what a page of tools says about calls. What comes from a store may be new to this connection.
func (c *Client) learn(page *mcp.ListToolsResult, outcome *era.Outcome, kept bool) {
	l := c.now()
	if kept && l.mirrors != nil {
		l.mirrors.take(outcome.Result)
	}
	if c.opts.UncheckedOutput || !l.codec.Traits().StructuredContent {
		return
	}
	room := true
	for i := range page.Tools {
		room = c.outputs.keep(page.Tools[i].Name, page.Tools[i].OutputSchema) && room
	}
	if !room {
		c.faults.report(c.named("the output schemas of its tools are larger than is kept; the results of some are not checked"))
	}
}

// promised finds the output schema that the result of a tool is to be checked against; nil for none. A schema that cannot
// be used for a check is an error: it must not count as one that everything fits. Spec 2026-07-28, basic, "$ref Resolution".
func (c *Client) promised(name string) (*output, error) {
	o := c.outputs.of(name)
	if o == nil {
		return nil, nil
	}
	if _, err := o.compile(); err != nil {
		return nil, fmt.Errorf("it was not called, since its output schema cannot be used to check the result (see Options.UncheckedOutput): %w", err)
	}
	return o, nil
}

// checkOutput holds a result to its schema. A result that breaks one that may be old is held to the one of now.
func (c *Client) checkOutput(ctx context.Context, name string, o *output, result *mcp.CallToolResult, opts CallOptions) error {
	err := o.check(result)
	if err == nil {
		return nil
	}
	if !c.outputs.confirm(o) {
		if err := c.reread(ctx, name, opts); err != nil && ctx.Err() == nil {
			c.faults.report(c.named("the output schema of tool %q cannot be read again: %w", name, err))
		}
		switch fresh := c.outputs.of(name); fresh {
		case nil:
			return nil
		case o:
		default:
			err = fresh.check(result)
		}
	}
	if err == nil {
		return nil
	}
	return &OutputError{Tool: name, Result: result, err: err}
}

// reread lists the tools until one has come.
func (c *Client) reread(ctx context.Context, name string, o CallOptions) error {
	for tool, err := range tools.all(ctx, c, CallOptions{Cache: CacheRefresh, Meta: o.Meta, Headers: o.Headers}) {
		if err != nil {
			return err
		}
		if tool.Name == name {
			return nil
		}
	}
	return nil
}
