package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Kinds is a set of lists.
type Kinds = manager.Kinds

// The lists of a server.
const (
	Tools     = manager.Tools
	Prompts   = manager.Prompts
	Resources = manager.Resources
	Templates = manager.Templates
	AllKinds  = manager.AllKinds
)

// Item is one entry of a list, as the server wrote it.
type Item struct {
	Key string          // name, uri or uriTemplate
	Raw json.RawMessage // a JSON object

	// Tasks says of a tool how it runs as a task, as in mcp.ToolExecution.TaskSupport; "" like mcp.TaskForbidden.
	Tasks string
}

// Lists is all that one server lists. It is not changed after it was read.
type Lists struct {
	Tools, Prompts, Resources, Templates []Item

	// ServesResources says that the server declared resources, though it may list none.
	ServesResources bool

	// StandIn says that the server has listed none of this: the gateway has something to show in the place of what it does not
	// know.
	StandIn bool

	// Extensions are those that the server has declared, with their settings.
	Extensions map[string]json.RawMessage

	hints hints
}

// Bounds of one list. A server that has more than this, or hands out cursors for ever, is cut off.
const (
	mostPages = 1000
	mostItems = 20000
)

// listing describes one of the four lists.
type listing struct {
	kind   Kinds
	method string
	member string
	key    string
	slot   func(*Lists) *[]Item
}

var listings = [...]listing{
	{Tools, mcp.MethodListTools, "tools", "name", func(l *Lists) *[]Item { return &l.Tools }},
	{Prompts, mcp.MethodListPrompts, "prompts", "name", func(l *Lists) *[]Item { return &l.Prompts }},
	{Resources, mcp.MethodListResources, "resources", "uri", func(l *Lists) *[]Item { return &l.Resources }},
	{Templates, mcp.MethodListResourceTemplates, "resourceTemplates", "uriTemplate", func(l *Lists) *[]Item { return &l.Templates }},
}

// declared tells which lists a server has.
func declared(c mcp.ServerCapabilities) Kinds {
	var k Kinds
	if c.Tools != nil {
		k |= Tools
	}
	if c.Prompts != nil {
		k |= Prompts
	}
	if c.Resources != nil {
		k |= Resources | Templates
	}
	return k
}

// Read reads lists of a server completely; those that are not in kinds stay empty. warn hears of what was left out.
func Read(ctx context.Context, c Conn, kinds Kinds, warn func(string)) (*Lists, error) {
	return fetch(ctx, c, kinds, &Lists{}, warn)
}

// fetch reads the lists in kinds and takes the others from old. warn hears of what was left out. A list that the server
// declares and does not know counts as empty.
func fetch(ctx context.Context, c Conn, kinds Kinds, old *Lists, warn func(string)) (*Lists, error) {
	next := *old
	next.StandIn = false
	has := declared(c.Capabilities())
	next.ServesResources = has&Resources != 0
	next.Extensions = c.Capabilities().Extensions
	news := announced(c.Capabilities())
	for i, l := range listings {
		if kinds&l.kind == 0 {
			continue
		}
		var items []Item
		next.hints[i] = listHint{listed: has&l.kind != 0, news: news&l.kind != 0, read: time.Now()}
		if has&l.kind != 0 {
			var err error
			items, err = l.read(ctx, c, &next.hints[i], warn)
			if err != nil && !(errors.Is(err, mcp.CodeMethodNotFound) && len(items) == 0) {
				return nil, fmt.Errorf("%s: %w", l.method, err)
			}
		}
		if check, ok := c.(toolChecker); ok && l.kind == Tools {
			items = callable(check, items, warn)
		}
		if t, ok := c.(tasker); ok && l.kind == Tools {
			for i := range items {
				items[i].Tasks = t.ToolTasks(items[i].Raw)
			}
		}
		*l.slot(&next) = items
	}
	return &next, nil
}

// toolChecker is a Conn that knows of tools which cannot be called by it.
type toolChecker interface {
	// CheckTool says why a tool, given as it was listed, cannot be called; nil when it can.
	CheckTool(tool json.RawMessage) error
}

// callable leaves out the tools that cannot be called.
func callable(check toolChecker, tools []Item, warn func(string)) []Item {
	return slices.DeleteFunc(tools, func(tool Item) bool {
		err := check.CheckTool(tool.Raw)
		if err != nil {
			warn(fmt.Sprintf("tool %q is left out, since it cannot be called over HTTP: %v", tool.Key, err))
		}
		return err != nil
	})
}

// read follows the pages of one list to the end. The empty string is a cursor like any other.
func (l listing) read(ctx context.Context, c Conn, hint *listHint, warn func(string)) ([]Item, error) {
	var items []Item
	var params json.RawMessage
	seen := make(map[string]bool)
	for page := 1; ; page++ {
		call := Call{Method: l.method, Params: params}
		if _, bounded := ctx.Deadline(); bounded { // all pages together: one may take what is left
			call.Timeout, call.Total = -1, -1
		}
		answer, err := c.Call(ctx, call)
		if err != nil {
			return nil, err
		}
		more, err := l.items(answer.Result, warn)
		if err != nil {
			return nil, err
		}
		items = append(items, more...)
		hint.page(answer.Cache)
		raw, ok := jsonrpc.Member(answer.Result, "nextCursor")
		if !ok || string(raw) == "null" {
			return items, nil
		}
		cursor, ok := jsonrpc.Text(raw)
		switch {
		case !ok:
			return nil, fmt.Errorf("nextCursor is no string but %.40s", raw)
		case seen[cursor]:
			warn(fmt.Sprintf("%s hands out the same cursor twice; the list ends after %d entries", l.method, len(items)))
			return items, nil
		case page >= mostPages || len(items) >= mostItems:
			warn(fmt.Sprintf("%s does not end; the list is cut after %d entries", l.method, len(items)))
			return items, nil
		}
		seen[cursor] = true
		params = append(jsonrpc.AppendString([]byte(`{"cursor":`), cursor), '}')
	}
}

// items takes one page apart. Entries without a usable key are left out.
func (l listing) items(result json.RawMessage, warn func(string)) ([]Item, error) {
	array, ok := jsonrpc.Member(result, l.member)
	if !ok || !jsonrpc.IsArray(array) {
		return nil, fmt.Errorf("the answer has no list %q", l.member)
	}
	var items []Item
	for raw := range jsonrpc.Elements(array) {
		value, _ := jsonrpc.Member(raw, l.key)
		key, ok := jsonrpc.Text(value)
		if !ok || key == "" {
			warn(fmt.Sprintf("%s: an entry without %s is left out", l.method, l.key))
			continue
		}
		items = append(items, Item{Key: key, Raw: raw})
	}
	return items, nil
}

// changes tells which lists differ, token for token.
func changes(a, b *Lists) Kinds {
	var k Kinds
	for _, l := range listings {
		if !sameItems(*l.slot(a), *l.slot(b)) {
			k |= l.kind
		}
	}
	if a.ServesResources != b.ServesResources {
		k |= Resources
	}
	if !maps.EqualFunc(a.Extensions, b.Extensions, func(x, y json.RawMessage) bool { return string(x) == string(y) }) {
		k |= Resources // which is what those that are known add to
	}
	return k
}

func sameItems(a, b []Item) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if string(a[i].Raw) != string(b[i].Raw) || a[i].Tasks != b[i].Tasks {
			return false
		}
	}
	return true
}
