package manager

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// Name is a tool, prompt or resource with the server it belongs to.
type Name struct {
	Server string // in the configuration
	Name   string // by the server; of a resource its address
}

// String writes a qualified name, "server/name". In the server's part '/' and '%' are written %2F and %25, so that every
// name has one spelling and can be read back.
func (n Name) String() string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(n.Server) + "/" + n.Name
}

// ParseName reads what String has written. The name itself may hold further slashes.
func ParseName(text string) (Name, error) {
	server, name, ok := strings.Cut(text, "/")
	plain, err := url.PathUnescape(server)
	n := Name{plain, name}
	if !ok || err != nil || server == "" || n.String() != text {
		return Name{}, fmt.Errorf("%.80q is no qualified name; write the server, a slash, and the name", text)
	}
	return n, nil
}

// CallOptions adjusts one call. The zero value means the defaults.
type CallOptions struct {
	client.CallOptions
	Retry Retry
}

// Call calls a tool. Arguments and result are those of [client.Client.CallTool].
//
// It fails with *DownError while the server cannot be reached, and with *OpenError while its breaker is open; nothing was sent
// then. A call that fails on the way is repeated, up to Options.Retries times, when it was certainly not begun; and when its
// connection was lost, if the tool says that it only reads or may be repeated and Options.TrustHints believes the server, or
// if the caller says so. Otherwise it fails with *UnknownOutcomeError. A call that has run out of time is never repeated.
func (m *Manager) Call(ctx context.Context, tool Name, args any, opts ...CallOptions) (*mcp.CallToolResult, error) {
	b, err := m.member(tool.Server)
	if err != nil {
		return nil, err
	}
	if b.hides(tool.Name) {
		return nil, errors.Join(ErrNotRun, mcp.InvalidParams("server %q has no tool %.80q", tool.Server, tool.Name))
	}
	var result *mcp.CallToolResult
	safe := func() bool { return b.harmless(tool.Name) }
	err = b.call(ctx, fmt.Sprintf("tool %.80q", tool.Name), safe, first(opts), func(ctx context.Context, c *client.Client, o client.CallOptions) (err error) {
		result, err = c.CallTool(ctx, tool.Name, args, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// ReadResource reads a resource of a server. Reading is safe to repeat.
func (m *Manager) ReadResource(ctx context.Context, resource Name, opts ...CallOptions) (*mcp.ReadResourceResult, error) {
	b, err := m.member(resource.Server)
	if err != nil {
		return nil, err
	}
	var result *mcp.ReadResourceResult
	err = b.call(ctx, fmt.Sprintf("resource %.80q", resource.Name), always, first(opts), func(ctx context.Context, c *client.Client, o client.CallOptions) (err error) {
		result, err = c.ReadResource(ctx, resource.Name, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// GetPrompt fills in a prompt of a server. That is safe to repeat.
func (m *Manager) GetPrompt(ctx context.Context, prompt Name, args map[string]string, opts ...CallOptions) (*mcp.GetPromptResult, error) {
	b, err := m.member(prompt.Server)
	if err != nil {
		return nil, err
	}
	var result *mcp.GetPromptResult
	err = b.call(ctx, fmt.Sprintf("prompt %.80q", prompt.Name), always, first(opts), func(ctx context.Context, c *client.Client, o client.CallOptions) (err error) {
		result, err = c.GetPrompt(ctx, prompt.Name, args, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Do runs f with the connection of a server, behind its breaker, and again where retry allows it. f should make one call and
// return its error.
func (m *Manager) Do(ctx context.Context, server string, retry Retry, f func(ctx context.Context, c *client.Client) error) error {
	b, err := m.member(server)
	if err != nil {
		return err
	}
	return b.do(ctx, Attempt{What: "a call", Retry: retry}, f)
}

func first(opts []CallOptions) CallOptions {
	if len(opts) == 0 {
		return CallOptions{}
	}
	return opts[0]
}

func always() bool { return true }

// harmless tells whether a tool is known to do no harm when it is called twice.
func (b *member) harmless(tool string) bool {
	if b.m.opts.TrustHints == nil || !b.m.opts.TrustHints(b.server()) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	hints := b.trust[tool]
	return hints.ReadOnly() || hints.Idempotent()
}

func (b *member) call(ctx context.Context, what string, safe func() bool, o CallOptions, f func(context.Context, *client.Client, client.CallOptions) error) error {
	return b.do(ctx, Attempt{What: what, Safe: safe, Retry: o.Retry},
		func(ctx context.Context, c *client.Client) error { return f(ctx, c, o.CallOptions) })
}

// do makes a call, of the server that has taken the place of this one where a reload came between.
func (b *member) do(ctx context.Context, a Attempt, f func(context.Context, *client.Client) error) error {
	for {
		err := b.keeper.Do(ctx, a, f)
		if !errors.Is(err, errRetired) {
			return err
		}
		heir, missing := b.m.member(b.name)
		switch {
		case missing != nil:
			return missing
		case heir == b: // it has been taken out by somebody else
			return err
		}
		b = heir
	}
}
