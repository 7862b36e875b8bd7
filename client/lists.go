package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ListTools fetches one page of the tools: the first for a nil cursor, else the one that the cursor of an earlier result
// leads to; the empty string is a cursor like any other. A server that declares no tools is not asked and has none, unless
// Options.StrictCapabilities is set.
//
// A page that the server lets keep is kept: see [CacheOptions].
//
// An entry that cannot be read is left out and reported to Options.OnError. A tool whose input schema is no object is kept
// without one, and reported. Over HTTP on the modern era a tool whose x-mcp-header declarations are invalid is left out and
// reported.
func (c *Client) ListTools(ctx context.Context, cursor *mcp.Cursor, opts ...CallOptions) (*mcp.ListToolsResult, error) {
	return tools.page(ctx, c, cursor, first(opts))
}

// ListPrompts fetches one page of the prompts; see ListTools.
func (c *Client) ListPrompts(ctx context.Context, cursor *mcp.Cursor, opts ...CallOptions) (*mcp.ListPromptsResult, error) {
	return prompts.page(ctx, c, cursor, first(opts))
}

// ListResources fetches one page of the resources; see ListTools.
func (c *Client) ListResources(ctx context.Context, cursor *mcp.Cursor, opts ...CallOptions) (*mcp.ListResourcesResult, error) {
	return resources.page(ctx, c, cursor, first(opts))
}

// ListResourceTemplates fetches one page of the resource templates; see ListTools.
func (c *Client) ListResourceTemplates(ctx context.Context, cursor *mcp.Cursor, opts ...CallOptions) (*mcp.ListResourceTemplatesResult, error) {
	return templates.page(ctx, c, cursor, first(opts))
}

// Tools iterates over the tools of all pages. An error ends it, and is the last thing it yields. When the server refuses a
// cursor that came with a kept page, the list is fetched from its beginning.
//
// A server whose cursor repeats, or that has more than Options.MaxPages pages, ends the iteration without an error, and is
// reported to Options.OnError; what came until then is good. A tool that comes twice is yielded once.
func (c *Client) Tools(ctx context.Context, opts ...CallOptions) iter.Seq2[mcp.Tool, error] {
	return tools.all(ctx, c, first(opts))
}

// Prompts iterates over the prompts of all pages; see Tools.
func (c *Client) Prompts(ctx context.Context, opts ...CallOptions) iter.Seq2[mcp.Prompt, error] {
	return prompts.all(ctx, c, first(opts))
}

// Resources iterates over the resources of all pages; see Tools.
func (c *Client) Resources(ctx context.Context, opts ...CallOptions) iter.Seq2[mcp.Resource, error] {
	return resources.all(ctx, c, first(opts))
}

// ResourceTemplates iterates over the resource templates of all pages; see Tools.
func (c *Client) ResourceTemplates(ctx context.Context, opts ...CallOptions) iter.Seq2[mcp.ResourceTemplate, error] {
	return templates.all(ctx, c, first(opts))
}

// listing is what one list method is made of: T its elements, R its result.
type listing[T, R any] struct {
	method, member string
	open           func(r *R) (items []T, next *mcp.Cursor, cache *mcp.CacheHint)
	key            func(*T) string
}

var tools = listing[mcp.Tool, mcp.ListToolsResult]{
	mcp.MethodListTools, "tools",
	func(r *mcp.ListToolsResult) ([]mcp.Tool, *mcp.Cursor, *mcp.CacheHint) {
		return r.Tools, r.NextCursor, &r.Cache
	},
	func(t *mcp.Tool) string { return t.Name },
}

var prompts = listing[mcp.Prompt, mcp.ListPromptsResult]{
	mcp.MethodListPrompts, "prompts",
	func(r *mcp.ListPromptsResult) ([]mcp.Prompt, *mcp.Cursor, *mcp.CacheHint) {
		return r.Prompts, r.NextCursor, &r.Cache
	},
	func(p *mcp.Prompt) string { return p.Name },
}

var resources = listing[mcp.Resource, mcp.ListResourcesResult]{
	mcp.MethodListResources, "resources",
	func(r *mcp.ListResourcesResult) ([]mcp.Resource, *mcp.Cursor, *mcp.CacheHint) {
		return r.Resources, r.NextCursor, &r.Cache
	},
	func(r *mcp.Resource) string { return r.URI },
}

var templates = listing[mcp.ResourceTemplate, mcp.ListResourceTemplatesResult]{
	mcp.MethodListResourceTemplates, "resourceTemplates",
	func(r *mcp.ListResourceTemplatesResult) ([]mcp.ResourceTemplate, *mcp.Cursor, *mcp.CacheHint) {
		return r.ResourceTemplates, r.NextCursor, &r.Cache
	},
	func(t *mcp.ResourceTemplate) string { return t.URITemplate },
}

// page fetches one page.
func (l *listing[T, R]) page(ctx context.Context, c *Client, cursor *mcp.Cursor, o CallOptions) (*R, error) {
	result, _, err := l.get(ctx, c, cursor, o)
	return result, err
}

// get fetches one page, or finds it among what is kept.
func (l *listing[T, R]) get(ctx context.Context, c *Client, cursor *mcp.Cursor, o CallOptions) (result *R, kept bool, err error) {
	result = new(R)
	if !c.opts.StrictCapabilities && lacks(&c.now().greeting.Capabilities, l.method) != "" {
		return result, false, c.usable()
	}
	var params json.RawMessage
	if cursor != nil {
		params = single("cursor", *cursor)
	}
	outcome, kept, err := c.ask(ctx, l.method, "", params, o, c.listLimits())
	if err == nil {
		err = l.read(c, outcome, result)
		if err != nil && kept { // what the store holds is not what was put there
			o.Cache = CacheRefresh
			return l.get(ctx, c, cursor, o)
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("list %s: %w", l.member, err)
	}
	_, _, cache := l.open(result)
	*cache = outcome.Cache
	if page, ok := any(result).(*mcp.ListToolsResult); ok {
		c.learn(page, outcome, kept)
	}
	return result, kept, nil
}

// read decodes a page; elements that cannot be read are left out at the second try.
func (l *listing[T, R]) read(c *Client, outcome *era.Outcome, result *R) error {
	if err := decode(l.method, outcome, result); err != nil {
		kept, broken := mcp.DropBroken[T](outcome.Result, l.member)
		if broken == nil {
			return err
		}
		for _, fault := range broken {
			c.opts.OnError(c.named("left out an entry of the list: %w", fault))
		}
		if err := decode(l.method, &era.Outcome{Result: kept}, result); err != nil {
			return err
		}
	}
	items, _, _ := l.open(result)
	l.warnOfNulls(c, outcome.Result)
	for i := range items {
		if tool, ok := any(&items[i]).(*mcp.Tool); ok && !jsonrpc.IsObject(tool.InputSchema) {
			c.opts.OnError(c.named("tool %q has no input schema that is an object, got %.60s; it is taken to have no parameters", tool.Name, tool.InputSchema))
			tool.InputSchema = nil
		}
	}
	if page, ok := any(result).(*mcp.ListToolsResult); ok && c.now().mirrors != nil {
		page.Tools = c.withoutWrong(page.Tools)
	}
	return nil
}

// warnOfNulls reports a list that is not there and elements that are null: both are read as nothing.
func (l *listing[T, R]) warnOfNulls(c *Client, result json.RawMessage) {
	raw, _ := jsonrpc.Member(result, l.member)
	if isNull(raw) {
		c.opts.OnError(c.named("the answer to %s has no array %q; it is taken to be empty", l.method, l.member))
		return
	}
	at := 0
	for element := range jsonrpc.Elements(raw) {
		if isNull(element) {
			c.opts.OnError(c.named("left out an entry of the list: %s[%d] is null", l.member, at))
		}
		at++
	}
}

// isRemote tells whether the server has answered with a code.
func isRemote(err error, code mcp.Code) bool {
	var fault *mcp.Error
	return errors.As(err, &fault) && fault.Remote && fault.Code == code
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// named makes an error about a fault of the server, with the server's name.
func (c *Client) named(format string, args ...any) error {
	name := c.now().greeting.Info.Name
	if name == "" {
		name = c.now().wire.name
	}
	return fmt.Errorf("server %s: %w", name, fmt.Errorf(format, args...))
}

// all fetches page after page.
func (l *listing[T, R]) all(ctx context.Context, c *Client, o CallOptions) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var cursor *mcp.Cursor
		keys, cursors := map[string]bool{}, map[string]bool{}
		fromKept := false
		for range c.opts.MaxPages {
			result, kept, err := l.get(ctx, c, cursor, o)
			if isRemote(err, mcp.CodeInvalidParams) && cursor != nil && fromKept { // it came with a page that was kept too long
				o.Cache, cursor, fromKept = CacheRefresh, nil, false
				clear(cursors)
				continue
			}
			fromKept = fromKept || kept
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			items, next, _ := l.open(result)
			for i := range items {
				key := l.key(&items[i])
				if keys[key] {
					continue
				}
				keys[key] = true
				if !yield(items[i], nil) {
					return
				}
			}
			if next == nil {
				return
			}
			if cursors[*next] {
				c.opts.OnError(c.named("%s repeats the cursor %.60q; the list is cut there", l.method, *next))
				return
			}
			cursors[*next] = true
			cursor = next
		}
		c.opts.OnError(c.named("%s has more than %d pages; the rest is left out", l.method, c.opts.MaxPages))
	}
}
