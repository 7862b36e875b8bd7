package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ListKind is one of the four lists of a server.
type ListKind uint8

// The lists.
const (
	Tools ListKind = iota
	Prompts
	Resources
	ResourceTemplates
)

// String returns the name of the array that the list stands in.
func (k ListKind) String() string {
	if int(k) < len(listMembers) {
		return listMembers[k]
	}
	return fmt.Sprintf("ListKind(%d)", uint8(k))
}

// listMembers are the names of the arrays, and listKeys the member by which an entry is known.
var (
	listMembers = [...]string{Tools: "tools", Prompts: "prompts", Resources: "resources", ResourceTemplates: "resourceTemplates"}
	listKeys    = [...]string{Tools: "name", Prompts: "name", Resources: "uri", ResourceTemplates: "uriTemplate"}
)

// List is an immutable list of entries as raw JSON objects, in the order they are shown. Its pages are encoded once for
// each revision. A List may be shared by any number of requests.
type List struct {
	kind  ListKind
	items []json.RawMessage
	cache mcp.CacheHint

	mu    sync.Mutex // writers of pages
	pages atomic.Pointer[map[pageKey]json.RawMessage]
}

// pageKey names a page. Codecs belong to one server, so lists of two servers that share a List do not mix.
type pageKey struct {
	codec era.Codec
	size  int
	from  int
}

// NewList makes a list of raw entries, which must be JSON objects. Neither the slice nor the entries may be changed
// afterwards. What cache does not say the server's options do.
func NewList(kind ListKind, items []json.RawMessage, cache mcp.CacheHint) *List {
	l := &List{kind: kind, items: items, cache: cache}
	l.pages.Store(&map[pageKey]json.RawMessage{})
	return l
}

// Len returns the number of entries.
func (l *List) Len() int { return len(l.items) }

// SetPageSize changes [Options.PageSize] while the server runs: for the pages that are asked for from now on. A client that is
// in the middle of a list misses nothing. It may be called concurrently.
func (s *Server) SetPageSize(entries int) { s.pageSize.Store(int64(entries)) }

// list answers a list request from the catalogue or the registry.
func (s *Server) list(ctx context.Context, r *Request, kind ListKind) *era.Outcome {
	list := s.registered(kind)
	if c := s.opts.Catalogue; c != nil {
		own, err := c.List(ctx, r, kind)
		if err != nil {
			return s.failure(r, err)
		}
		if own != nil {
			list = own
		}
	}
	from, refusal := list.start(r.in.Message.Params)
	if refusal != nil {
		return invalid(refusal)
	}
	if s.opts.Visible != nil {
		return s.filtered(ctx, r, list, from)
	}
	page, err := list.page(r.in.Call, int(s.pageSize.Load()), from, s.hint(r.Method()))
	if err != nil {
		return s.failure(r, fmt.Errorf("encode the list of %s: %w", kind, err))
	}
	return &era.Outcome{Result: page, Encoded: true}
}

func (s *Server) registered(kind ListKind) *List {
	switch kind {
	case Tools:
		return s.reg.tools.snap.Load().list()
	case Prompts:
		return s.reg.prompts.snap.Load().list()
	case Resources:
		return s.reg.resources.snap.Load().list()
	default:
		return s.reg.templates.snap.Load().list()
	}
}

// page returns an encoded page. Those that begin where a walk through the whole list stops are kept, so that all that is
// kept is one encoded list a revision, whatever cursors a client makes up.
func (l *List) page(call *era.Call, size, from int, hint mcp.CacheHint) (json.RawMessage, error) {
	key := pageKey{call.Codec, size, from}
	if page, ok := (*l.pages.Load())[key]; ok {
		return page, nil
	}
	o := &era.Outcome{Result: l.encode(from, size), Cache: l.cache.Or(hint)}
	page, err := call.Codec.AppendResult(nil, call.Row, o)
	if err != nil || from != 0 && (size <= 0 || from%size != 0) {
		return page, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	pages := maps.Clone(*l.pages.Load())
	maps.DeleteFunc(pages, func(k pageKey, _ json.RawMessage) bool { return k.codec == key.codec && k.size != size }) // as it was before
	pages[key] = page
	l.pages.Store(&pages)
	return page, nil
}

func (l *List) encode(from, size int) json.RawMessage {
	to := len(l.items)
	if size > 0 && from+size < to {
		to = from + size
	}
	next := ""
	if to < len(l.items) {
		next = l.cursor(to, l.key(to-1))
	}
	return appendPage(l.kind, l.items[from:to], next)
}

// appendPage encodes a page; next is empty on the last.
func appendPage(kind ListKind, items []json.RawMessage, next string) json.RawMessage {
	out := append([]byte(`{"`), listMembers[kind]...)
	out = append(out, `":[`...)
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonrpc.AppendRaw(out, item)
	}
	out = append(out, ']')
	if next != "" {
		out = append(out, `,"nextCursor":`...)
		out = jsonrpc.AppendString(out, next)
	}
	return append(out, '}')
}

// cursor names a place by its number and by the entry before it, so that it stays good when entries come and go, and on
// another replica too.
func (l *List) cursor(at int, key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(at) + ":" + key))
}

func (l *List) key(i int) string {
	raw, _ := jsonrpc.Member(l.items[i], listKeys[l.kind])
	return text(raw)
}

// start reads the cursor of a list request. Absent, null and "" are the start: a server never gives out an empty cursor,
// and some clients send one for none.
func (l *List) start(params json.RawMessage) (int, *mcp.Error) {
	raw, ok := jsonrpc.Member(params, "cursor")
	if !ok || string(raw) == "null" {
		return 0, nil
	}
	cursor, ok := jsonrpc.Text(raw)
	if !ok {
		return 0, mcp.InvalidParams("a cursor is a string; send the nextCursor of the page before as it came")
	}
	if cursor == "" {
		return 0, nil
	}
	at, key, ok := readCursor(cursor)
	if !ok {
		return 0, mcp.InvalidParams("the cursor is not one this server has given out; list again from the start")
	}
	return l.after(at, key), nil
}

func readCursor(cursor string) (at int, key string, ok bool) {
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, "", false
	}
	number, key, ok := strings.Cut(string(plain), ":")
	at, err = strconv.Atoi(number)
	return at, key, ok && err == nil && at >= 1
}

// after finds the place behind an entry that stood at number at-1 once. When it is gone, its successor stands there now.
func (l *List) after(at int, key string) int {
	if at <= len(l.items) && l.key(at-1) == key {
		return at
	}
	for i := range l.items {
		if l.key(i) == key {
			return i + 1
		}
	}
	return min(at-1, len(l.items))
}
