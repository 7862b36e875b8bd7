package server

import (
	"context"
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Caller is all that [Options.Visible] may go by. On the modern era that is the principal alone: the specification forbids
// lists that differ by connection.
type Caller struct {
	Principal *mcp.Principal // who asks; nil when nobody is known
	SessionID string         // of the legacy era over HTTP; "" where there is none
}

// shows tells whether the sender of a request may see an entry.
func (s *Server) shows(ctx context.Context, r *Request, kind ListKind, name string) bool {
	if s.opts.Visible == nil {
		return true
	}
	return s.opts.Visible(ctx, Caller{Principal: r.Principal(), SessionID: r.SessionID()}, kind, name)
}

// MaySee tells whether Options.Visible lets the sender of the request see an entry: the name of a tool or prompt, the URI of
// a resource, or a template. Handlers of methods of their own ask it before they name what the lists would not.
func (r *Request) MaySee(ctx context.Context, kind ListKind, name string) bool {
	return r.server.shows(ctx, r, kind, name)
}

// confined keeps what one caller may see out of caches that several share.
func (s *Server) confined(hint mcp.CacheHint) mcp.CacheHint {
	if s.opts.Visible != nil {
		hint.Scope = mcp.CachePrivate
	}
	return hint
}

// filtered makes a page of what the caller may see. It is made anew each time, from entries that are encoded already.
func (s *Server) filtered(ctx context.Context, r *Request, l *List, from int) *era.Outcome {
	size, shown, last := int(s.pageSize.Load()), []json.RawMessage(nil), 0
	next := ""
	for i := from; i < len(l.items); i++ {
		if !s.shows(ctx, r, l.kind, l.key(i)) {
			continue
		}
		if size > 0 && len(shown) == size {
			next = l.cursor(before(r.in.Message.Params)+size, l.key(last))
			break
		}
		shown, last = append(shown, l.items[i]), i
	}
	return &era.Outcome{Result: appendPage(l.kind, shown, next), Cache: s.confined(l.cache.Or(s.hint(r.Method())))}
}

// before is the number of entries on the earlier pages, as the cursor has it. The place in the whole list is no business
// of a caller that sees a part of it.
func before(params json.RawMessage) int {
	raw, _ := jsonrpc.Member(params, "cursor")
	at, _, ok := readCursor(text(raw))
	if !ok {
		return 0
	}
	return min(at, mostEntries)
}

// mostEntries bounds a number that a client can make up.
const mostEntries = 1 << 40

// reach finds how a resource is read. hidden says that the caller may not know whether there is one.
func (s *Server) reach(ctx context.Context, r *Request, uri string) (read ResourceHandler, hidden bool) {
	if e, ok := s.reg.resources.get(uri); ok {
		if s.shows(ctx, r, Resources, uri) {
			return e.read, false
		}
		return nil, true
	}
	for _, t := range s.reg.templates.snap.Load().order {
		if read := t.reader(uri); read != nil {
			if s.shows(ctx, r, ResourceTemplates, t.key()) {
				return read, false
			}
			hidden = true
		}
	}
	return nil, hidden || !s.shows(ctx, r, Resources, uri)
}

// follows tells whether a caller may subscribe to a resource. Without a filter it may to any, whether there is one or not;
// with one, what is hidden and what does not exist are refused alike.
func (s *Server) follows(ctx context.Context, r *Request, uri string) bool {
	if s.opts.MayFollow != nil && !s.opts.MayFollow(ctx, r, uri) {
		return false
	}
	if s.opts.Visible == nil {
		return true
	}
	read, hidden := s.reach(ctx, r, uri)
	return !hidden && (read != nil || s.opts.Fallback != nil || s.opts.Catalogue != nil)
}
