package server

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

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

// listMembers are the names of the arrays, and keys the member by which an entry is known.
var listMembers = [...]string{Tools: "tools", Prompts: "prompts", Resources: "resources", ResourceTemplates: "resourceTemplates"}
var listKeys = [...]string{Tools: "name", Prompts: "name", Resources: "uri", ResourceTemplates: "uriTemplate"}

// List is an immutable list of entries as raw JSON objects, in the order they are shown. Its pages are encoded once for
// each revision. A List may be shared by any number of requests.
type List struct {
	kind  ListKind
	items []json.RawMessage
	cache mcp.CacheHint

	mu    sync.Mutex
	pages map[pageKey]*page
}

type pageKey struct {
	codec era.Codec
	size  int
	from  int
}

type page struct{ result json.RawMessage }

// NewList makes a list of raw entries, which must be JSON objects. The slice is not copied and must not be changed.
func NewList(kind ListKind, items []json.RawMessage, cache mcp.CacheHint) *List {
	return &List{kind: kind, items: items, cache: cache, pages: make(map[pageKey]*page)}
}

// Len returns the number of entries.
func (l *List) Len() int { return len(l.items) }

// page returns the outcome of a list request.
func (l *List) page(call *era.Call, size int, hint mcp.CacheHint) *era.Outcome {
	from, err := l.start(call.Params())
	if err != nil {
		return (&era.Refusal{Row: 12, Err: err}).Outcome()
	}
	key := pageKey{call.Codec, size, from}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pages[key]
	if p == nil {
		o := &era.Outcome{Result: l.encode(from, size), Cache: l.cache.Or(hint)}
		wire, err := call.Codec.AppendResult(nil, call.Row, o)
		if err != nil {
			return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Internal error").Because(err)}
		}
		const most = 1024 // pages of one list; cursors are ours, so only a very long list has more
		if len(l.pages) >= most {
			clear(l.pages)
		}
		p = &page{wire}
		l.pages[key] = p
	}
	return &era.Outcome{Result: p.result, Encoded: true}
}

func (l *List) encode(from, size int) json.RawMessage {
	to := len(l.items)
	if size > 0 && from+size < to {
		to = from + size
	}
	out := append([]byte(`{"`), listMembers[l.kind]...)
	out = append(out, `":[`...)
	for i, item := range l.items[from:to] {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonrpc.AppendRaw(out, item)
	}
	out = append(out, ']')
	if to < len(l.items) {
		out = append(out, `,"nextCursor":`...)
		out = jsonrpc.AppendString(out, l.cursor(to))
	}
	return append(out, '}')
}

// cursor names a place by its number and by the entry before it, so that it stays good when entries come and go.
func (l *List) cursor(at int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(at) + ":" + l.key(at-1)))
}

func (l *List) key(i int) string {
	raw, _ := jsonrpc.Member(l.items[i], listKeys[l.kind])
	key, _ := jsonrpc.Text(raw)
	return key
}

// start reads the cursor of a list request.
func (l *List) start(params json.RawMessage) (int, *mcp.Error) {
	raw, ok := jsonrpc.Member(params, "cursor")
	if !ok || string(raw) == "null" {
		return 0, nil
	}
	bad := mcp.InvalidParams("the cursor is not one this server has given out; list again from the start")
	text, ok := jsonrpc.Text(raw)
	if !ok {
		return 0, mcp.InvalidParams("a cursor is a string")
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, bad
	}
	number, key, ok := strings.Cut(string(plain), ":")
	at, err := strconv.Atoi(number)
	if !ok || err != nil || at < 1 {
		return 0, bad
	}
	if at <= len(l.items) && l.key(at-1) == key {
		return at, nil
	}
	for i := range l.items {
		if l.key(i) == key {
			return i + 1, nil
		}
	}
	return min(at, len(l.items)), nil
}
