package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Source lists tools and runs them. [Client] makes one of a client; [Join] makes one of several. Its methods may be called
// concurrently, and return soon after their context has ended. A panic of theirs is taken for an error.
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

// ask lists the tools of a source, whatever it does.
func ask(ctx context.Context, source Source) (list []Listed, err error) {
	defer func() {
		if v := recover(); v != nil {
			list, err = nil, fmt.Errorf("the source panicked: %v\n%s", v, debug.Stack())
		}
	}()
	return source.ListTools(ctx)
}

// Client makes a source of one client, without a server name.
//
// Lists come through the cache of the client: as long as the server says, 30 seconds where it does not say, and not beyond
// the news of a change, for which the source listens until the client is closed; so make one source of a client, not one for
// each conversation. Call options apply to every call.
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

// Join makes one source of several servers, in the order given. A server that cannot be asked does not hide the others, and
// neither does one whose name another has already: it is listed with an error.
func Join(servers ...Named) Source { return joined(servers) }

type joined []Named

var _ interface {
	Source
	Notifier
} = joined(nil)

func (j joined) ListTools(ctx context.Context) ([]Listed, error) {
	lists := make([][]Listed, len(j))
	all(len(j), 8, func(i int) {
		list, err := ask(ctx, j[i])
		if err != nil {
			list = []Listed{{Err: err}}
		}
		lists[i] = list
	})
	var out []Listed
	for i, list := range lists {
		for _, entry := range list {
			inner := entry.Server
			entry.Server = j.nameOf(i, inner)
			if at, there := j.route(entry.Server); entry.Err == nil && (at != i || there != inner) {
				entry = Listed{Server: entry.Server, Err: fmt.Errorf("there is another server with the name %q", entry.Server)}
			}
			if n := len(out); entry.Err != nil && n > 0 && out[n-1].Err != nil && out[n-1].Server == entry.Server {
				continue // said already
			}
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

// route finds the source of a server, and the server's name there: the first with the whole name, else the first whose name
// the whole begins with. What lists is held against it, so that no call goes to another server than the one listed.
func (j joined) route(server string) (i int, inner string) {
	for i, s := range j {
		if s.Name == server {
			return i, ""
		}
	}
	for i, s := range j {
		if inner, ok := strings.CutPrefix(server, s.Name+"/"); ok && inner != "" {
			return i, inner
		}
	}
	return -1, ""
}

func (j joined) CallTool(ctx context.Context, server, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	i, inner := j.route(server)
	if i < 0 {
		return nil, errors.Join(ErrNotRun, mcp.InvalidParams("there is no server %q", server))
	}
	return j[i].CallTool(ctx, inner, tool, args)
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
