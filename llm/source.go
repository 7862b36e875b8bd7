package llm

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Source lists tools and runs them. [Client] makes one of a client; [Join] makes one of several. Its methods may be called
// concurrently.
type Source interface {
	// ListTools lists all tools, in an order that stays the same while the tools do. A server that cannot be asked is an entry
	// with Err; the error is for what concerns all of them.
	ListTools(ctx context.Context) ([]Listed, error)

	// CallTool runs a tool of a server by the name that the server gave it. A tool that fails is a result with IsError. An error
	// that wraps [ErrNotRun] says that the call has certainly not been begun.
	CallTool(ctx context.Context, server, tool string, args json.RawMessage) (*mcp.CallToolResult, error)
}

// Notifier is a Source that tells when its tools have changed: f is called after each change, until stop is called.
type Notifier interface {
	OnToolsChange(f func()) (stop func())
}

// ErrNotRun says that a call has not been begun, so that it may be repeated whatever the tool does.
var ErrNotRun = manager.ErrNotRun

// Listed is a tool of a server, or why a server has none to offer. A [manager.Manager] lists them too, and is a Source.
type Listed = manager.Listed

var _ interface {
	Source
	Notifier
} = (*manager.Manager)(nil)

// ListFloor is how long a list is kept when the server does not say how long it may be.
const ListFloor = 30 * time.Second

// Client makes a source of one client, without a server name.
//
// Lists come through the cache of the client: as long as the server says, 30 seconds where it does not say, and not beyond
// the news of a change, for which the source listens until the client is closed. Call options apply to every call.
func Client(c *client.Client, opts ...client.CallOptions) Source {
	s := &clientSource{c: c}
	if len(opts) > 0 {
		s.opts = opts[0]
	}
	c.OnToolsChange(func() {}) // the news itself is what drops the kept list
	return s
}

type clientSource struct {
	c    *client.Client
	opts client.CallOptions
}

var _ interface {
	Source
	Notifier
} = (*clientSource)(nil)

func (s *clientSource) ListTools(ctx context.Context) ([]Listed, error) {
	var all []Listed
	for tool, err := range s.c.Tools(ctx, client.CallOptions{CacheFloor: ListFloor, Meta: s.opts.Meta, Headers: s.opts.Headers}) {
		if err != nil {
			return nil, err
		}
		all = append(all, Listed{Tool: tool})
	}
	return all, nil
}

func (s *clientSource) CallTool(ctx context.Context, _, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	return s.c.CallTool(ctx, tool, args, s.opts)
}

func (s *clientSource) OnToolsChange(f func()) (stop func()) { return s.c.OnToolsChange(f) }

// List makes a source of tools that are offered on somebody's behalf and run elsewhere: calls fail with ErrNotRun.
func List(tools ...mcp.Tool) Source { return list(tools) }

type list []mcp.Tool

func (l list) ListTools(context.Context) ([]Listed, error) {
	var all []Listed
	for _, tool := range l {
		all = append(all, Listed{Tool: tool})
	}
	return all, nil
}

func (l list) CallTool(context.Context, string, string, json.RawMessage) (*mcp.CallToolResult, error) {
	return nil, ErrNotRun
}

// Named is a source under the name of a server.
type Named struct {
	Name string
	Source
}

// Join makes one source of several servers, in the order given. A server that cannot be asked does not hide the others.
func Join(servers ...Named) Source { return joined(servers) }

type joined []Named

var _ interface {
	Source
	Notifier
} = joined(nil)

func (j joined) ListTools(ctx context.Context) ([]Listed, error) {
	lists := make([][]Listed, len(j))
	all(len(j), 8, func(i int) {
		list, err := j[i].ListTools(ctx)
		if err != nil {
			list = []Listed{{Err: err}}
		}
		lists[i] = list
	})
	var out []Listed
	for i, list := range lists {
		for _, entry := range list {
			entry.Server = j.nameOf(i, entry.Server)
			out = append(out, entry)
		}
	}
	return out, ctx.Err()
}

// nameOf joins names where a source of several servers is itself one of several.
func (j joined) nameOf(i int, inner string) string {
	if inner == "" {
		return j[i].Name
	}
	return j[i].Name + "/" + inner
}

func (j joined) CallTool(ctx context.Context, server, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	for _, s := range j {
		if s.Name == server {
			return s.CallTool(ctx, "", tool, args)
		}
		if inner := len(s.Name) + 1; len(server) > inner && server[:inner] == s.Name+"/" {
			return s.CallTool(ctx, server[inner:], tool, args)
		}
	}
	return nil, errors.Join(ErrNotRun, mcp.InvalidParams("there is no server %q", server))
}

func (j joined) OnToolsChange(f func()) (stop func()) {
	var stops []func()
	for _, s := range j {
		if n, ok := s.Source.(Notifier); ok {
			stops = append(stops, n.OnToolsChange(f))
		}
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}
