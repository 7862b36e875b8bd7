package server_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Everything may be added, replaced and removed while clients list and call: each list holds an entry at most once, and
// a call finds a tool or does not.
func TestChangesWhileServing(t *testing.T) {
	s := newServer(server.Options{PageSize: 3})
	var wg sync.WaitGroup
	for writer := range 4 {
		wg.Go(func() {
			for i := range 100 {
				name := fmt.Sprint("t", writer, "-", i%7)
				if err := s.AddRawTool(mcp.Tool{Name: name, Title: fmt.Sprint(i)}, nothing); err != nil {
					t.Error(err)
				}
				s.Handle("example/"+name, answering(rawResult(`{}`), nil))
				s.ResourceUpdated(name)
				if i%3 == 0 {
					s.RemoveTool(name)
				}
				s.HasTool(name)
			}
		})
	}
	clients := map[string]*wire{legacy: dial(t, s, legacy), modern: dial(t, s, modern)}
	for range 50 {
		for revision, w := range clients {
			names, _ := w.names("")
			seen := map[string]bool{}
			for _, name := range names {
				if seen[name] {
					t.Errorf("%s: %s is listed twice", revision, name)
				}
				seen[name] = true
			}
			if got := plain(w.call("tools/call", `"name":"t1-1"`)); got != `{"content":[]}` && got != "error -32602" {
				t.Errorf("%s: got %s", revision, got)
			}
		}
	}
	wg.Wait()
	names := s.ToolNames()
	if s.RemoveTool(names...) != len(names) || len(s.ToolNames()) != 0 {
		t.Errorf("the tools %q could not all be removed", names)
	}
}

// A server serves many connections at once, and each ends by itself.
func TestManyConnections(t *testing.T) {
	s := newServer(server.Options{})
	block := make(chan struct{})
	rawTool(t, s, "wait", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
		select {
		case <-block:
		case <-ctx.Done():
		}
		return mcp.TextResult("done"), nil
	})
	one, other := dial(t, s, modern), dial(t, s, legacy)
	id := one.start("tools/call", `"name":"wait"`)
	other.want("tools/list", "", `{"tools":[{"name":"wait","inputSchema":{"type":"object","properties":{}}}]}`)
	one.want("prompts/list", "", `{"prompts":[]}`) // a waiting call holds up nobody, its own connection included
	close(block)
	one.Expect(fmt.Sprintf(`{"id":%d,"result":{"content":[{"text":"done"}]}}`, id))
}

// More requests than may run at once wait for their turn and are answered all the same.
func TestMaxInFlight(t *testing.T) {
	s := newServer(server.Options{MaxInFlight: 1})
	block, running := make(chan struct{}), make(chan struct{})
	rawTool(t, s, "wait", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		close(running)
		<-block
		return nil, nil
	})
	var asked atomic.Bool
	s.AddPrompt(mcp.Prompt{Name: "x"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		asked.Store(true)
		return nil, nil
	})
	w := dial(t, s, modern)
	w.start("tools/call", `"name":"wait"`)
	<-running
	w.start("prompts/get", `"name":"x"`)
	if asked.Load() {
		t.Error("a second request ran beside the first")
	}
	close(block)
	answered := map[string]bool{w.Next().ID.String(): true}
	answered[w.Next().ID.String()] = true
	if len(answered) != 2 || !asked.Load() {
		t.Errorf("want both answered, got %v", answered)
	}
}
