package client

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// OnToolsChange calls f after the server's tools have changed, until stop is called or the client is closed. Several
// functions may be registered. [Client.Subscribe] gives the news one by one, and those of single resources.
//
// f runs on a goroutine of its own, never twice at once; changes that come close together, or while f runs, make one call,
// which begins after the last of them. On the modern era the stream that brings the news opens in the background, and is
// opened anew when it breaks. Once it has begun, f is called where this client has asked the server for the list before, since
// changes may have been missed until then; after a break it is called in any case. A server that does not declare listChanged
// brings none.
func (c *Client) OnToolsChange(f func()) (stop func()) { return c.watch(mcp.NotifyToolsChanged, f) }

// OnPromptsChange is OnToolsChange for prompts.
func (c *Client) OnPromptsChange(f func()) (stop func()) { return c.watch(mcp.NotifyPromptsChanged, f) }

// OnResourcesChange is OnToolsChange for resources and resource templates.
func (c *Client) OnResourcesChange(f func()) (stop func()) {
	return c.watch(mcp.NotifyResourcesChanged, f)
}

func (c *Client) watch(method string, f func()) (stop func()) {
	w := &watch{method: method, f: f, failed: c.faults.report}
	s := &subscriber{
		background: true, joined: make(chan struct{}),
		take: func(Event) { w.signal() }, lost: func(error) {}, // its end was reported
	}
	switch method {
	case mcp.NotifyToolsChanged:
		s.filter.ToolsListChanged = true
	case mcp.NotifyPromptsChanged:
		s.filter.PromptsListChanged = true
	case mcp.NotifyResourcesChanged:
		s.filter.ResourcesListChanged = true
	}
	if c.feed.add(s) {
		c.feed.tune()
	}
	return func() {
		w.stop()
		if c.feed.drop(s) {
			c.feed.tune()
		}
	}
}

// settling is how long changes gather before a function is called.
const settling = 100 * time.Millisecond

// watch is one registered function.
type watch struct {
	method string
	f      func()
	failed func(error)

	mu      sync.Mutex
	timer   *time.Timer // runs while changes gather
	running bool
	again   bool // a change came while f ran
	over    bool
}

func (w *watch) signal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
	case w.running:
		w.again = true
	case w.timer == nil:
		w.timer = time.AfterFunc(settling, w.fire)
	}
}

// fire runs on the goroutine of the timer. Nobody waits for it: the function may be the one that closes the client.
func (w *watch) fire() {
	w.mu.Lock()
	w.timer = nil
	if w.over {
		w.mu.Unlock()
		return
	}
	w.running = true
	w.mu.Unlock()
	w.run()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	if w.again && !w.over {
		w.again = false
		w.timer = time.AfterFunc(settling, w.fire)
	}
}

func (w *watch) run() {
	defer func() {
		if v := recover(); v != nil {
			w.failed(fmt.Errorf("the callback of %s panicked: %v\n%s", w.method, v, debug.Stack()))
		}
	}()
	w.f()
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
