package manager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// puppet is a legacy server whose every answer a test can choose.
type puppet struct {
	mu     sync.Mutex
	end    transport.Conn
	listed int
	tools  func(n int) string // the array of the nth tools/list
	odd    func(method string) (answer string, odd bool)
}

const puppetHello = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true}},"serverInfo":{"name":"odd","version":"1"}}`

func (p *puppet) dial(t *testing.T) func(context.Context, manager.Server, client.Options) (*client.Client, error) {
	return func(ctx context.Context, _ manager.Server, o client.Options) (*client.Client, error) {
		near, far := transport.Pair(0)
		p.mu.Lock()
		p.end = far
		p.mu.Unlock()
		go p.serve(far) // ends with the connection; the bubble waits for it
		o.Mode = client.Legacy
		return client.Connect(ctx, near, o)
	}
}

func (p *puppet) serve(far transport.Conn) {
	ctx := context.Background()
	for {
		frame, err := far.Read(ctx)
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(frame, &request) != nil || request.ID == nil {
			continue
		}
		if answer := p.answer(request.Method); answer != "" {
			_ = far.Write(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%s}`, request.ID, answer)) // a client that has gone needs none
		}
	}
}

// answer is the result or the error for one request; "" for silence.
func (p *puppet) answer(method string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.odd != nil {
		if answer, odd := p.odd(method); odd {
			return answer
		}
	}
	switch method {
	case mcp.MethodInitialize:
		return puppetHello
	case mcp.MethodListTools:
		p.listed++
		return `"result":{"tools":` + p.tools(p.listed) + `}`
	case mcp.MethodListPrompts:
		return `"result":{"prompts":[]}`
	case mcp.MethodPing:
		return `"result":{}`
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}

// reads is how often the tools have been listed.
func (p *puppet) reads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listed
}

// announce says that the tools have changed.
func (p *puppet) announce(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	end := p.end
	p.mu.Unlock()
	if err := end.Write(context.Background(), []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)); err != nil {
		t.Error(err)
	}
}

// cut ends the connection.
func (p *puppet) cut(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	end := p.end
	p.mu.Unlock()
	if err := end.Close(); err != nil {
		t.Error(err)
	}
}

func (p *puppet) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func toolArray(names ...string) string {
	var all []byte
	for _, name := range names {
		quoted, err := json.Marshal(name)
		if err != nil {
			panic(err) // a string has one
		}
		all = fmt.Appendf(all, `,{"name":%s,"inputSchema":{"type":"object"}}`, quoted)
	}
	if len(all) == 0 {
		return "[]"
	}
	all[0] = '['
	return string(all) + "]"
}

// watched opens a manager over one puppet and records its events.
func watched(t *testing.T, p *puppet, o manager.Options) (*manager.Manager, *record) {
	t.Helper()
	o.Dial = p.dial(t)
	m, err := manager.Open(servers("odd"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	m.Settled(t.Context())
	synctest.Wait()
	heard := &record{}
	m.OnEvent(heard.hear)
	return m, heard
}

// TestChangeBeforeALoss holds that a change which was read just before the connection broke is told: the next connection finds
// nothing new in it.
func TestChangeBeforeALoss(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &puppet{tools: func(int) string { return toolArray("one") }}
		_, heard := watched(t, p, manager.Options{})
		time.Sleep(time.Minute)
		p.set(func() {
			p.tools = func(int) string { return toolArray("one", "two") }
			p.odd = func(method string) (string, bool) { return "", method == mcp.MethodListPrompts } // hangs
		})
		p.cut(t)
		time.Sleep(5 * time.Second) // it is back, and its tools have been read
		p.set(func() { p.odd = nil })
		p.cut(t)
		time.Sleep(time.Minute)
		if got := heard.take(); !slices.Contains(got, "odd lists 1") {
			t.Errorf("heard %q", got)
		}
	})
}

// TestListThatCannotBeRead holds that a list nobody could ever read is a failure and no empty list, and that the lists of the
// same server which can be read are there.
func TestListThatCannotBeRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &puppet{tools: func(int) string { return toolArray("one") }}
		p.odd = func(method string) (string, bool) {
			return `"error":{"code":-32603,"message":"the shelf is broken"}`, method == mcp.MethodListPrompts
		}
		m, _ := watched(t, p, manager.Options{})
		if s := m.Status()[0]; s.State != manager.Degraded || s.Tools != 1 {
			t.Errorf("%+v", s)
		}
		tools, err := m.Tools(t.Context(), manager.PageOptions{})
		if err != nil || len(tools.Items) != 1 || len(tools.Failed) != 0 {
			t.Errorf("%+v, %v", tools, err)
		}
		prompts, err := m.Prompts(t.Context(), manager.PageOptions{})
		if err != nil || len(prompts.Items) != 0 || len(prompts.Failed) != 1 || prompts.Failed[0].Server != "odd" {
			t.Errorf("%+v, %v", prompts, err)
		}
	})
}

// TestOrderIsNoNews holds that a server which lists the same in another order each time has no news.
func TestOrderIsNoNews(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &puppet{tools: func(n int) string {
			names := []string{"a", "b", "c"}
			return toolArray(append(names[n%3:], names[:n%3]...)...)
		}}
		m, heard := watched(t, p, manager.Options{})
		for range 10 {
			time.Sleep(2 * time.Minute)
			p.announce(t)
		}
		time.Sleep(time.Minute)
		if got := heard.take(); len(got) > 0 || p.reads() < 10 {
			t.Errorf("heard %q after %d lists", got, p.reads())
		}
		if got := toolNames(t, m); len(got) != 3 {
			t.Errorf("listed %q", got)
		}
	})
}

// TestC077ListThatFlaps has a server that announces a change whenever it is asked for its list, which is another one each
// time. That costs little, and what is listed in the end is what the server has.
func TestC077ListThatFlaps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &puppet{}
		quiet := false
		p.tools = func(n int) string {
			if end := p.end; !quiet {
				go func() { // ends at once
					_ = end.Write(context.Background(), []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
				}()
			}
			return toolArray(fmt.Sprintf("n%d", n))
		}
		m, heard := watched(t, p, manager.Options{})
		time.Sleep(3 * time.Minute)
		if p.reads() > 60 || len(heard.take()) > 60 {
			t.Errorf("%d lists in three minutes", p.reads())
		}
		p.set(func() { quiet = true })
		time.Sleep(10 * time.Second)
		last := p.reads()
		time.Sleep(time.Minute)
		if got := fmt.Sprint(toolNames(t, m)); p.reads() > last+1 || got != fmt.Sprintf("[odd/n%d]", p.reads()) {
			t.Errorf("listed %s after %d lists", got, p.reads())
		}
	})
}

// TestReloadIsNewsOfLists holds that what a reload does to the lists is told: of tools that are disabled, and of a server that
// is another one now. What stays the same is no news, and neither is what becomes of a server that was replaced.
func TestReloadIsNewsOfLists(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		m := w.open(manager.Options{Drain: time.Hour}, servers("a", "b")...)
		var heard record
		m.OnEvent(heard.hear)
		reload := func(change func([]manager.Server)) []string {
			t.Helper()
			next := servers("a", "b")
			change(next)
			if _, err := m.Reload(next); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			return heard.take()
		}
		disable := func(tools ...string) func([]manager.Server) {
			return func(s []manager.Server) { s[0].DisabledTools = tools }
		}
		if got := fmt.Sprint(reload(disable("fail"))); got != "[a lists 1]" || m.Status()[0].Tools != 3 {
			t.Errorf("a tool is disabled: heard %s, %d tools", got, m.Status()[0].Tools)
		}
		if got := reload(disable("nosuch", "fail")); len(got) > 0 {
			t.Errorf("one that is not there as well: heard %q", got)
		}
		server.AddTool(w.host("a").s, mcp.Tool{Name: "hidden"}, func(context.Context, *server.Request, noInput) (string, error) { return "", nil })
		time.Sleep(time.Minute)
		heard.take()
		if got := reload(disable("hidden", "fail")); fmt.Sprint(got) != "[a lists 1]" {
			t.Errorf("another one: heard %q", got)
		}
		w.host("a").s.RemoveTool("hidden")
		time.Sleep(time.Minute)
		if got := heard.take(); len(got) > 0 {
			t.Errorf("a disabled tool is gone: heard %q", got)
		}
		w.host("b").hang.Store(true)
		stuck := make(chan error, 1)
		go func() {
			_, err := m.Call(t.Context(), name("b", "echo"), nil)
			stuck <- err
		}()
		synctest.Wait()
		old := w.host("b").ends
		w.host("b").ends = nil
		other := func(s []manager.Server) {
			s[0].DisabledTools, s[1].Args = []string{"hidden", "fail"}, []string{"--other"}
		}
		if got := fmt.Sprint(reload(other)); got != "[b ready]" {
			t.Errorf("another b with the same tools: heard %s", got)
		}
		for _, end := range old {
			if err := end.Close(); err != nil {
				t.Error(err)
			}
		}
		<-stuck
		time.Sleep(time.Minute)
		if got := heard.take(); len(got) > 0 {
			t.Errorf("the b that was replaced is lost: heard %q", got)
		}
		w.setAway("b", true)
		if got := reload(disable("hidden", "fail")); !slices.Contains(got, "b lists 1") {
			t.Errorf("a third b that cannot be reached: heard %q", got)
		}
	})
}
