package manager

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
)

// PageOptions says which part of a list across servers is wanted. The zero value is all of it.
type PageOptions struct {
	Cursor string // Page.Next of the page before; empty for the first
	Size   int    // entries at most; zero or less means all
}

// Page is a part of a list across servers, in the order of the configuration and of each server's list.
type Page[T any] struct {
	Items  []Item[T]
	Failed []Failure // servers that could not be asked, on every page
	Next   string    // the cursor of the next page; empty at the end
}

// Tools lists the tools of all servers. See [Manager.ListTools] for how old they may be.
func (m *Manager) Tools(ctx context.Context, o PageOptions) (*Page[mcp.Tool], error) {
	return page(ctx, m, toolLists, o)
}

// Prompts lists the prompts of all servers.
func (m *Manager) Prompts(ctx context.Context, o PageOptions) (*Page[mcp.Prompt], error) {
	return page(ctx, m, promptLists, o)
}

// Resources lists the resources of all servers. Two servers may have the same address.
func (m *Manager) Resources(ctx context.Context, o PageOptions) (*Page[mcp.Resource], error) {
	return page(ctx, m, resourceLists, o)
}

// ResourceTemplates lists the resource templates of all servers.
func (m *Manager) ResourceTemplates(ctx context.Context, o PageOptions) (*Page[mcp.ResourceTemplate], error) {
	return page(ctx, m, templateLists, o)
}

// page cuts a part out of a whole list. A cursor names the last entry before it and its place in the list of its server, so
// that it stays good while entries come and go.
func page[T any](ctx context.Context, m *Manager, l listing[T], o PageOptions) (*Page[T], error) {
	items, failures, err := gather(ctx, m, l)
	if err != nil {
		return nil, err
	}
	whole := items
	if o.Cursor != "" {
		after, place, err := readCursor(o.Cursor)
		if err != nil {
			return nil, err
		}
		if items, err = behind(m, l, items, after, place); err != nil {
			return nil, err
		}
	}
	p := &Page[T]{Items: items, Failed: failures}
	if o.Size > 0 && len(items) > o.Size {
		p.Items = items[:o.Size]
		last, place := &p.Items[o.Size-1], 0
		for i := range whole[:len(whole)-len(items)+o.Size] {
			if whole[i].Server == last.Server {
				place++
			}
		}
		p.Next = writeCursor(last.Name(l.key(&last.Value)), place)
	}
	return p, nil
}

// behind gives what comes after an entry. Where that is gone, the list goes on at its place.
func behind[T any](m *Manager, l listing[T], items []Item[T], after Name, place int) ([]Item[T], error) {
	position := make(map[string]int)
	for i, b := range m.members() {
		position[b.name] = i
	}
	at, known := position[after.Server]
	if !known {
		return nil, mcp.InvalidParams("the cursor belongs to a server that is gone; begin with the first page")
	}
	next, of := len(items), 0
	for i := range items {
		item := &items[i]
		switch {
		case item.Server == after.Server && l.key(&item.Value) == after.Name:
			return items[i+1:], nil
		case item.Server == after.Server:
			if of++; of > place {
				next = min(next, i)
			}
		case position[item.Server] > at:
			next = min(next, i)
		}
	}
	return items[next:], nil
}

// A cursor is "place server/name", encoded so that nobody reads it.
func writeCursor(n Name, place int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(place) + " " + n.String()))
}

func readCursor(cursor string) (Name, int, error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	place, name, ok := strings.Cut(string(raw), " ")
	if err == nil && ok {
		n, wrong := ParseName(name)
		if at, err := strconv.Atoi(place); wrong == nil && err == nil && at >= 0 {
			return n, at, nil
		}
	}
	return Name{}, 0, mcp.InvalidParams("the cursor is none of this list; begin with the first page")
}
