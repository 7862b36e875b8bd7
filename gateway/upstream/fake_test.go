package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// fake is a connection to a server with tools, that counts what is asked of it.
type fake struct {
	mu      sync.Mutex
	pages   func(cursor string) string // the result of tools/list
	call    func(Call) (*Answer, error)
	listed  int
	list    Call // the newest for the list
	changed func(Kinds)
	watched []string
	updated func(string)
	done    chan struct{}
	err     error
	closed  bool
	onClose func()
	echo    bool                              // announces a change each time it is listed
	hints   func(cursor string) mcp.CacheHint // nil says nothing
	silent  bool                              // does not declare that it announces changes
}

func newFake(pages func(string) string) *fake {
	return &fake{pages: pages, done: make(chan struct{})}
}

// tools is a list of one page.
func tools(names ...string) func(string) string {
	var items []string
	for _, n := range names {
		items = append(items, fmt.Sprintf(`{"name":%q}`, n))
	}
	return func(string) string { return `{"tools":[` + strings.Join(items, ",") + `]}` }
}

func (f *fake) Version() string { return "fake" }
func (f *fake) Capabilities() mcp.ServerCapabilities {
	return mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{ListChanged: !f.silent}}
}
func (f *fake) Done() <-chan struct{} { return f.done }
func (f *fake) Err() error            { return f.err }

func (f *fake) OnChange(fn func(Kinds)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed = fn
}

func (f *fake) Watch(_ context.Context, uris []string, fn func(string)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watched, f.updated = uris, fn
	return nil
}

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.onClose != nil && !f.closed {
		f.onClose()
	}
	f.closed = true
	return nil
}

func (f *fake) Call(_ context.Context, call Call) (*Answer, error) {
	if call.Method != mcp.MethodListTools {
		return f.call(call)
	}
	f.mu.Lock()
	f.listed++
	f.list = call
	pages, echo, changed := f.pages, f.echo, f.changed
	f.mu.Unlock()
	if echo {
		changed(Tools)
	}
	var params mcp.ListParams
	if call.Params != nil {
		if err := json.Unmarshal(call.Params, &params); err != nil {
			return nil, err
		}
	}
	cursor := "start"
	if params.Cursor != nil {
		cursor = *params.Cursor
	}
	answer := &Answer{Result: json.RawMessage(pages(cursor))}
	if f.hints != nil {
		answer.Cache = f.hints(cursor)
	}
	return answer, nil
}

// change gives the server other tools and announces it.
func (f *fake) change(pages func(string) string) {
	f.mu.Lock()
	f.pages = pages
	changed := f.changed
	f.mu.Unlock()
	changed(Tools)
}

// die ends the connection.
func (f *fake) die(why string) {
	f.err = errors.New(why)
	close(f.done)
}

// script dials what it is given, one after another; the last one again and again. Nil fails.
type script struct {
	mu    sync.Mutex
	conns []*fake
	dials int
}

func (s *script) dial(context.Context, manager.Server) (Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	conn := s.conns[min(s.dials, len(s.conns)-1)]
	s.dials++
	if conn == nil {
		return nil, errors.New("nobody at home")
	}
	return conn, nil
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials
}
