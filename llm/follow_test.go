package llm_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// slow is a source whose lists take two seconds, and that tells of changes.
type slow struct {
	mu     sync.Mutex
	tools  []llm.Listed
	told   []func()
	lists  atomic.Int32
	inside atomic.Int32
	most   atomic.Int32 // lists at once
}

func (s *slow) ListTools(context.Context) ([]llm.Listed, error) {
	s.lists.Add(1)
	if n := s.inside.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.inside.Add(-1)
	s.mu.Lock()
	tools := s.tools
	s.mu.Unlock()
	time.Sleep(2 * time.Second) // within synctest
	return tools, nil
}

func (s *slow) CallTool(context.Context, string, string, json.RawMessage) (*mcp.CallToolResult, error) {
	return nil, llm.ErrNotRun
}

func (s *slow) OnToolsChange(f func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, f)
	return func() {}
}

func (s *slow) change(names ...string) {
	s.mu.Lock()
	s.tools = listed(names...)
	told := s.told
	s.mu.Unlock()
	for _, f := range told {
		go f() // ends with the reading of the list
	}
}

func TestC078AStormOverASlowListEndsWithTheLastChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{tools: listed("first")}
		live, err := llm.Follow(t.Context(), s, llm.Options{}, nil, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		for range 200 {
			s.change("between")
		}
		time.Sleep(time.Second)
		s.change("last")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if names(live.Set()) != "last" || s.most.Load() != 1 || s.lists.Load() > 4 {
			t.Errorf("%s after %d lists, %d at once", names(live.Set()), s.lists.Load(), s.most.Load())
		}
	})
}

// A server whose answer to tools/list changes the list, or says so, is not asked again and again.
func TestC077AListThatTellsOfAChangeMakesNoLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *server.Server
		var lists atomic.Int32
		s = server.New(mcp.Implementation{Name: "restless", Version: "1"}, server.Options{})
		add(s, "first")
		c := mcptest.Pair(t, s, client.Options{Mode: client.Legacy, Middleware: []client.Middleware{func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				if req.Method == mcp.MethodListTools {
					lists.Add(1)
					add(s, "flapping")
					s.RemoveTool("flapping")
				}
				return next(ctx, req)
			}
		}}})
		told := 0
		live, err := llm.Follow(t.Context(), llm.Client(c), llm.Options{}, func(*llm.Set) { told++ }, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		time.Sleep(3 * time.Minute)
		if told != 0 || lists.Load() > 20 {
			t.Errorf("%d changes told after %d lists", told, lists.Load())
		}
	})
}
