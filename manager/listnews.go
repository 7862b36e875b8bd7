package manager

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// attend keeps what is known of the lists fresh while a connection stands.
func (b *member) attend(ctx context.Context, c *client.Client) {
	changed := NewNotices()
	c.OnToolsChange(func() { changed.Add(Tools) })
	c.OnPromptsChange(func() { changed.Add(Prompts) })
	c.OnResourcesChange(func() { changed.Add(Resources | Templates) })
	changed.Add(AllKinds)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed.Due():
		}
		kinds := changed.Take()
		news, err := b.refresh(ctx, kinds)
		if news != 0 { // also when the connection was lost meanwhile: the next one will find nothing new in it
			b.tell(Event{Server: b.name, Lists: news})
		}
		if ctx.Err() != nil {
			return
		}
		wrong := ""
		if err != nil {
			wrong = "its lists cannot be read: " + Reason(b.server(), err)
			changed.Add(kinds) // once more, after a pause
		}
		b.keeper.Mark(c, wrong)
		changed.Took(news != 0)
	}
}

// refresh reads lists and says which of them have become different.
func (b *member) refresh(ctx context.Context, kinds Kinds) (news Kinds, err error) {
	b.mu.Lock()
	old := b.known
	b.mu.Unlock()
	if old == nil {
		old = &lists{}
	}
	next := *old
	for _, one := range []func() (Kinds, error){
		func() (Kinds, error) { return renew(ctx, b, toolLists, kinds, old, &next) },
		func() (Kinds, error) { return renew(ctx, b, promptLists, kinds, old, &next) },
		func() (Kinds, error) { return renew(ctx, b, resourceLists, kinds, old, &next) },
		func() (Kinds, error) { return renew(ctx, b, templateLists, kinds, old, &next) },
	} {
		kind, failed := one()
		news |= kind
		if failed != nil && err == nil {
			err = failed
		}
	}
	trust := make(map[string]*mcp.ToolAnnotations, len(next.tools))
	for i := range next.tools {
		trust[next.tools[i].Name] = next.tools[i].Annotations
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known, b.trust = &next, trust
	return news, err
}

func renew[T any](ctx context.Context, b *member, l listing[T], kinds Kinds, old, next *lists) (Kinds, error) {
	if kinds&l.kind == 0 {
		return 0, nil
	}
	items, err := l.read(ctx, b)
	if err != nil {
		return 0, err
	}
	*l.slot(next) = items
	next.read |= l.kind
	was := *l.slot(old)
	if l.kind == Tools {
		return newsOf(l.kind, different(shown(b.entry.Load(), old.tools), shown(b.entry.Load(), next.tools), toolLists.key)), nil
	}
	return newsOf(l.kind, different(was, items, l.key)), nil
}

func newsOf(kind Kinds, news bool) Kinds {
	if news {
		return kind
	}
	return 0
}

// different tells whether two lists differ in more than their order: some servers have another one each time.
func different[T any](a, b []T, key func(*T) string) bool {
	if len(a) != len(b) {
		return true
	}
	if len(a) == 0 || reflect.DeepEqual(a, b) {
		return false
	}
	sorted := func(list []T) []T {
		return slices.SortedStableFunc(slices.Values(list), func(x, y T) int { return strings.Compare(key(&x), key(&y)) })
	}
	return !reflect.DeepEqual(sorted(a), sorted(b))
}

// forget drops what a server listed that has been away for too long.
func (b *member) forget() {
	kinds := b.offers()
	b.mu.Lock()
	b.known, b.trust = nil, nil
	b.mu.Unlock()
	if kinds != 0 {
		b.tell(Event{Server: b.name, Lists: kinds})
	}
}

// offers tells which lists are not empty.
func (b *member) offers() (kinds Kinds) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil {
		return 0
	}
	tools := shown(b.entry.Load(), b.known.tools)
	return newsOf(Tools, len(tools) > 0) | newsOf(Prompts, len(b.known.prompts) > 0) |
		newsOf(Resources, len(b.known.resources) > 0) | newsOf(Templates, len(b.known.templates) > 0)
}
