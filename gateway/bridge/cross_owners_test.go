package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Callers with connections of their own, over tasks, what is kept, and what is masked; and steps that fail.

// sameIDs is a server of tasks that counts anew for each caller, so that each has a task "1", which asks one question.
type sameIDs struct {
	counted
	mu    sync.Mutex
	names map[string]string // that were answered, by the caller
}

func (o *sameIDs) Attach(s *server.Server) {
	s.Handle(mcp.MethodGetTask, o.get)
	s.Handle(mcp.MethodUpdateTask, o.update)
	s.Handle(mcp.MethodCancelTask, o.get)
}

func (o *sameIDs) get(_ context.Context, req *server.Request) (*server.RawResult, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name, ok := o.names[req.Principal().Subject]
	if !ok {
		ask := `{"q":{"method":"elicitation/create","params":{"mode":"form","message":"Who are you?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}`
		return &server.RawResult{Result: jsonrpc.With(nil, o.state("1", mcp.TaskInputRequired), "inputRequests", []byte(ask))}, nil
	}
	result := fmt.Appendf(nil, `{"content":[{"type":"text","text":"hello %s"}]}`, name)
	return &server.RawResult{Result: jsonrpc.With(nil, o.state("1", mcp.TaskCompleted), "result", result)}, nil
}

func (o *sameIDs) update(_ context.Context, req *server.Request) (*server.RawResult, error) {
	var in struct {
		InputResponses struct {
			Q struct {
				Content struct {
					Name string `json:"name"`
				} `json:"content"`
			} `json:"q"`
		} `json:"inputResponses"`
	}
	if err := json.Unmarshal(req.Params(), &in); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names[req.Principal().Subject] = in.InputResponses.Q.Content.Name
	return &server.RawResult{Result: json.RawMessage("{}")}, nil
}

// TestOneIDOfTwoCallers holds that the questions of two tasks which have one id, since their server counts anew on each connection,
// go to the callers of their own, at the same time.
func TestOneIDOfTwoCallers(t *testing.T) {
	for _, modern := range []bool{false, true} {
		o := &sameIDs{names: make(map[string]string)}
		s := server.New(mcp.Implementation{Name: "hotel", Version: "1"}, server.Options{Versions: versions(true), HTTP: byName, Tasks: o})
		server.AddTool(s, mcp.Tool{Name: "odd", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}}, func(context.Context, *server.Request, noInput) (string, error) {
			return "", &server.ExtensionResult{Type: mcp.ResultTask, Result: o.state("1", mcp.TaskWorking)}
		})
		w := hotelOf(t, s, upstream.Sharing{Share: upstream.SharePrincipal})
		var both sync.WaitGroup // of those that are asked
		both.Add(2)
		var calling sync.WaitGroup
		for _, who := range []string{"ann", "bob"} {
			c := w.dialAs(t, modern, who, client.Options{Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
				both.Done()
				both.Wait()
				return client.Accept(map[string]string{"name": who})
			}})
			calling.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if r, err := c.CallTool(ctx, "odd", nil); err != nil || r.Text() != "hello "+who {
					t.Errorf("modern %t, %s: got %+v, %v", modern, who, r, err)
				}
			})
		}
		calling.Wait()
	}
}

// TestWhatIsKeptAndMasked holds that what was read for one caller is kept for nobody else, and kept as the server gave it: what is
// masked of it goes by the rules of the moment at which it is handed out.
func TestWhatIsKeptAndMasked(t *testing.T) {
	keys := policy.Settings{Redact: []policy.Redaction{{Name: "keys", Pattern: "key-[a-z]+"}}}
	for _, modern := range []bool{false, true} {
		s := server.New(mcp.Implementation{Name: "hotel", Version: "1"}, server.Options{Versions: versions(true), HTTP: byName, Cache: mcp.CacheFor(time.Minute, mcp.CachePrivate)})
		reads := 0
		s.AddResource(mcp.Resource{URI: "memo://x", Name: "x"}, func(_ context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
			reads++
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("memo://x", "", "key-"+req.Principal().Subject)}}, nil
		})
		w := hotelOf(t, s, upstream.Sharing{Share: upstream.SharePrincipal})
		p := policy.New(policy.Options{})
		ann, bob := w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "bob", client.Options{})
		for i, tc := range []struct {
			c     *client.Client
			s     policy.Settings
			want  string
			reads int
		}{
			{ann, keys, "[redacted keys]", 1},
			{ann, policy.Settings{}, "key-ann", 1},
			{ann, keys, "[redacted keys]", 1},
			{bob, policy.Settings{}, "key-bob", 2},
			{ann, policy.Settings{}, "key-ann", 2},
		} {
			rules, err := p.Over(tc.s, bridge.Rules{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.bridge.Reload(rules, []string{"hotel"}, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			r, err := tc.c.Raw(t.Context(), mcp.MethodReadResource, json.RawMessage(`{"uri":"memo://x"}`), client.RawOptions{})
			if err != nil || !strings.Contains(string(r.Result), `"`+tc.want+`"`) || reads != tc.reads {
				t.Errorf("modern %t, %d: got %+v, %v after %d reads", modern, i, r, err, reads)
			}
		}
	}
}

// TestPanicsBesideRequests holds that a part of the gateway that fails where no request waits for it ends that call and no other.
func TestPanicsBesideRequests(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldOver(t, bridge.Options{}, func(ups bridge.Upstreams) bridge.Upstreams { return panicking{ups} },
			backend{name: "a", modern: upModern, fill: func(s *server.Server) { asking(nil)(s); everything(nil)(s) }})
		c := w.dial(t, modern, user("Oslo"))
		_, err := c.CallTool(t.Context(), "think", nil)
		var f *mcp.Error
		if !errors.As(err, &f) || f.Code != mcp.CodeInternal || strings.Contains(err.Error(), "oh no") {
			t.Errorf("got %v", err)
		}
		if r, err := c.CallTool(t.Context(), "plain", nil); err != nil || r.Text() != "plain" {
			t.Errorf("then got %+v, %v", r, err)
		}
	})
}

// panicking panics in calls of one tool.
type panicking struct{ bridge.Upstreams }

func (f panicking) Call(ctx context.Context, name string, call upstream.Call) (*upstream.Answer, error) {
	if strings.Contains(string(call.Params), `"think"`) {
		panic("oh no")
	}
	return f.Upstreams.Call(ctx, name, call)
}
