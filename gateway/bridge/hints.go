package bridge

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Clients are told how long they may keep a list that is merged of those of many servers: the least time of all, and for
// themselves alone where that holds for one of them. Where one server does not say, nothing is said. A server of which the list
// shows nothing has no say: it is no part of the bundle, or is away, and when it comes clients are told that the list has changed.

// listed are the lists of servers, by the kind of the merged one.
var listed = [4]upstream.Kinds{
	server.Tools: upstream.Tools, server.Prompts: upstream.Prompts,
	server.Resources: upstream.Resources, server.ResourceTemplates: upstream.Templates,
}

// merged is the hint for a list that shows something of the servers in of.
func merged(hints []upstream.Hint, of map[string]bool) mcp.CacheHint {
	var ttl time.Duration
	scope, any := mcp.CachePublic, false
	for _, hint := range hints {
		switch {
		case !of[hint.Server]:
			continue
		case hint.TTLMs == nil:
			return mcp.CacheHint{}
		case hint.Scope != mcp.CachePublic:
			scope = mcp.CachePrivate
		}
		if left := hint.TTL(); !any || left < ttl {
			ttl = left
		}
		any = true
	}
	if !any {
		return mcp.CacheHint{}
	}
	return mcp.CacheFor(ttl.Truncate(time.Second), scope) // a list is encoded anew where the hint is another
}

// confined keeps to single callers what is shown to single callers.
func (v *view) confined(hint mcp.CacheHint) mcp.CacheHint {
	if v.own || v.rules.Sight != nil {
		hint.Scope = mcp.CachePrivate
	}
	return hint
}

// shownList is one list of a view, with the hint of now.
type shownList struct {
	kind  server.ListKind
	items []json.RawMessage
	last  atomic.Pointer[hintedList]
}

type hintedList struct {
	hint mcp.CacheHint
	list *server.List
}

func newShownList(kind int, items []json.RawMessage) *shownList {
	return &shownList{kind: server.ListKind(kind), items: items}
}

// with gives the list with a hint. Its encoded pages are kept as long as the hint stays the same.
func (l *shownList) with(hint mcp.CacheHint) *server.List {
	if last := l.last.Load(); last != nil && last.hint.Scope == hint.Scope && sameTTL(last.hint.TTLMs, hint.TTLMs) {
		return last.list
	}
	next := &hintedList{hint, server.NewList(l.kind, l.items, hint)}
	l.last.Store(next)
	return next.list
}

func sameTTL(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
