package manager

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// ListFloor is how long a list is kept when the server does not say how long it may be.
const ListFloor = 30 * time.Second

// mostItems bounds one list of one server.
const mostItems = 20000

// Listed is a tool of a server, or why a server has none to offer.
type Listed struct {
	Server string // the name it has in the configuration, never one it gives itself; "" where there is only one
	Tool   mcp.Tool
	Err    error
}

// lists is all that one server lists. It is not changed after it was read.
type lists struct {
	read      Kinds // those that could be read; the others are empty for want of an answer
	tools     []mcp.Tool
	prompts   []mcp.Prompt
	resources []mcp.Resource
	templates []mcp.ResourceTemplate
}

// listing is what one kind of list is made of.
type listing[T any] struct {
	kind Kinds
	all  func(*client.Client, context.Context, ...client.CallOptions) iter.Seq2[T, error]
	slot func(*lists) *[]T
	key  func(*T) string
}

var (
	toolLists = listing[mcp.Tool]{
		Tools, (*client.Client).Tools, func(l *lists) *[]mcp.Tool { return &l.tools }, func(t *mcp.Tool) string { return t.Name },
	}
	promptLists = listing[mcp.Prompt]{
		Prompts, (*client.Client).Prompts, func(l *lists) *[]mcp.Prompt { return &l.prompts }, func(p *mcp.Prompt) string { return p.Name },
	}
	resourceLists = listing[mcp.Resource]{
		Resources, (*client.Client).Resources, func(l *lists) *[]mcp.Resource { return &l.resources }, func(r *mcp.Resource) string { return r.URI },
	}
	templateLists = listing[mcp.ResourceTemplate]{
		Templates, (*client.Client).ResourceTemplates, func(l *lists) *[]mcp.ResourceTemplate { return &l.templates },
		func(r *mcp.ResourceTemplate) string { return r.URITemplate },
	}
)

// read fetches all pages of one list, or finds them among what the client keeps.
func (l listing[T]) read(ctx context.Context, b *member) ([]T, error) {
	var items []T
	err := b.do(ctx, Attempt{What: "a list", Retry: RetryNever}, func(ctx context.Context, c *client.Client) error {
		items = nil
		for item, err := range l.all(c, ctx, client.CallOptions{CacheFloor: ListFloor}) {
			if err != nil {
				return err
			}
			if len(items) == mostItems {
				b.warn(fmt.Sprintf("a list does not end; it is cut after %d entries", mostItems))
				break
			}
			items = append(items, item)
		}
		return nil
	})
	return items, err
}

func (b *member) warn(text string) {
	b.m.opts.Logger.Warn(text, slog.String("server", b.name))
}

// Item is an entry of a list across servers.
type Item[T any] struct {
	Server string // where it comes from, by the name in the configuration
	Value  T
}

// Name is the qualified name of the entry, where key is its own name or address.
func (i Item[T]) Name(key string) Name { return Name{i.Server, key} }

// Failure is a server that could not be asked.
type Failure struct {
	Server string
	Err    error
}

// gather asks all servers side by side, each for Options.ListWait at most. A server that cannot be asked, and whose list is
// known from before, counts with that for a while; see Options.KeepLists.
func gather[T any](ctx context.Context, m *Manager, l listing[T]) ([]Item[T], []Failure, error) {
	members := m.members()
	found, failed := make([][]T, len(members)), make([]error, len(members))
	var asking sync.WaitGroup
	for i, b := range members {
		asking.Go(func() { found[i], failed[i] = l.of(ctx, b) })
	}
	asking.Wait()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	var items []Item[T]
	var failures []Failure
	for i, b := range members {
		if failed[i] != nil {
			failures = append(failures, Failure{b.name, failed[i]})
		}
		for _, item := range found[i] {
			items = append(items, Item[T]{b.name, item})
		}
	}
	return items, failures, nil
}

// of lists one server.
func (l listing[T]) of(ctx context.Context, b *member) ([]T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.m.opts.ListWait, fmt.Errorf("server %q has not listed within %s", b.name, b.m.opts.ListWait))
	defer cancel()
	items, err := l.read(ctx, b)
	if err != nil {
		b.mu.Lock()
		if b.known != nil && b.known.read&l.kind != 0 {
			items, err = *l.slot(b.known), nil
		}
		b.mu.Unlock()
	}
	if tools, ok := any(items).([]mcp.Tool); ok {
		items, _ = any(shown(b.entry.Load(), tools)).([]T)
	}
	return items, err
}

// shown leaves out the tools that an entry disables.
func shown(s *Server, tools []mcp.Tool) []mcp.Tool {
	if len(s.DisabledTools) == 0 {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t mcp.Tool) bool { return slices.Contains(s.DisabledTools, t.Name) })
}

// hides tells whether the configuration takes a tool away.
func (b *member) hides(tool string) bool { return slices.Contains(b.entry.Load().DisabledTools, tool) }

// ListTools lists the tools of all servers, in the order of the configuration and of each server's list. A server that cannot
// be asked is an entry with Err. Tools that an entry disables are left out. Together with CallTool and OnToolsChange it makes
// a manager an llm.Source.
//
// Lists come through the cache of each client: as long as the server says, 30 seconds where it does not say, and not beyond
// the news of a change.
func (m *Manager) ListTools(ctx context.Context) ([]Listed, error) {
	items, failures, err := gather(ctx, m, toolLists)
	if err != nil {
		return nil, err
	}
	var all []Listed
	for _, item := range items {
		all = append(all, Listed{Server: item.Server, Tool: item.Value})
	}
	for _, f := range failures {
		all = append(all, Listed{Server: f.Server, Err: f.Err})
	}
	return all, nil
}

// CallTool calls a tool of a server by the name that the server gave it, under the defaults of [CallOptions].
func (m *Manager) CallTool(ctx context.Context, server, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	var given any
	if args != nil {
		given = args
	}
	return m.Call(ctx, Name{server, tool}, given)
}
