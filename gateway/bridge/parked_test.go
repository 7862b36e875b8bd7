package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// formOnly is a client that answers forms by hand.
var formOnly = client.Options{Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}}

const accepted = `{"action":"accept","content":{"city":"Bergen","days":2}}`

// byHand calls a tool, with the answers and the state of the round before.
func byHand(ctx context.Context, c *client.Client, tool, answers string, state json.RawMessage) (*client.RawResult, error) {
	o := client.RawOptions{RequestState: state}
	if answers != "" {
		o.InputResponses = json.RawMessage(answers)
	}
	return c.Raw(ctx, mcp.MethodCallTool, fmt.Appendf(nil, `{"name":%q,"arguments":{}}`, tool), o)
}

// asked begins a call that must come back with questions.
func asked(t *testing.T, c *client.Client, tool string) *client.RawResult {
	t.Helper()
	r, err := byHand(t.Context(), c, tool, "", nil)
	if err != nil || r.Input == nil {
		t.Fatalf("got %+v, %v", r, err)
	}
	return r
}

// over holds that a state is of no use any more.
func over(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, mcp.CodeInvalidParams) || !strings.Contains(err.Error(), "requestState") {
		t.Errorf("%s: got %v", what, err)
	}
}

// impatient asks, and goes on without an answer after a while; it counts how often it has run.
func impatient(ran *int) func(*server.Server) {
	return func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "order"}, func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
			*ran++
			wait, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if _, err := server.ElicitAs[trip](wait, req, "Where to?"); err != nil {
				return "ordered without asking", nil
			}
			return "ordered", nil
		})
	}
}

// TestCallEndsBeforeTheAnswer holds that the result of a call which ended while its client was thinking is there when the
// client comes back, once, and that the work is not done again for it.
func TestCallEndsBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		w := newWorld(t, route.Naming{}, backend{name: "a", fill: impatient(&ran)})
		c := w.dial(t, true, formOnly)
		first := asked(t, c, "order")
		time.Sleep(5 * time.Minute)
		r, err := byHand(t.Context(), c, "order", `{"q1":`+accepted+`}`, first.Input.State)
		if err != nil || !strings.Contains(string(r.Result), "ordered without asking") || ran != 1 {
			t.Errorf("got %+v, %v after %d runs", r, err, ran)
		}
		_, err = byHand(t.Context(), c, "order", `{"q1":`+accepted+`}`, first.Input.State)
		over(t, "a state that has been used", err)
		second := asked(t, c, "order")
		time.Sleep(11 * time.Minute)
		_, err = byHand(t.Context(), c, "order", `{"q1":`+accepted+`}`, second.Input.State)
		over(t, "a client that comes too late", err)
	})
}

// TestServerGoesWhileItsClientThinks holds that a client whose server died while it was being asked hears that when it comes
// back, and what that means for the call.
func TestServerGoesWhileItsClientThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, route.Naming{}, backend{name: "a", fill: asking(nil)})
		c := w.dial(t, true, formOnly)
		first := asked(t, c, "book")
		w.mu.Lock()
		wire := w.wires["a"]
		w.mu.Unlock()
		if err := wire.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // it has been started again meanwhile
		_, err := byHand(t.Context(), c, "book", `{"q1":`+accepted+`}`, first.Input.State)
		if err == nil || !strings.Contains(err.Error(), "not known") {
			t.Errorf("got %v", err)
		}
		if again := asked(t, c, "book"); !strings.Contains(string(again.Input.Requests), "Where to?") {
			t.Errorf("asked %s", again.Input.Requests)
		}
	})
}

// TestTwoAnswersAtOnce holds that of requests which bring answers to one call at the same time, one goes on with it.
func TestTwoAnswersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, route.Naming{}, backend{name: "a", fill: asking(nil)})
		c := w.dial(t, true, formOnly)
		first := asked(t, c, "book")
		var mu sync.Mutex
		var went, refused int
		var callers sync.WaitGroup
		for range 5 {
			callers.Go(func() {
				r, err := byHand(t.Context(), c, "book", `{"q1":`+accepted+`}`, first.Input.State)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && r.Input != nil && strings.Contains(string(r.Input.Requests), `"q2"`):
					went++
				case errors.Is(err, mcp.CodeInvalidParams):
					refused++
				default:
					t.Errorf("got %+v, %v", r, err)
				}
			})
		}
		callers.Wait()
		if went < 1 || went+refused != 5 { // one that comes late asks again what is open
			t.Errorf("%d went on, %d were refused", went, refused)
		}
	})
}

// TestStateOfAnotherPrincipal holds that a state is of use to the principal alone that was asked.
func TestStateOfAnotherPrincipal(t *testing.T) {
	w := newWorldWith(t, bridge.Options{Server: server.Options{HTTP: byName}}, backend{name: "a", fill: asking(nil)})
	alice, bob := w.dialAs(t, true, "alice", formOnly), w.dialAs(t, true, "bob", formOnly)
	first := asked(t, alice, "book")
	_, err := byHand(t.Context(), bob, "book", `{"q1":`+accepted+`}`, first.Input.State)
	over(t, "the state of another principal", err)
	r, err := byHand(t.Context(), alice, "book", `{"q1":`+accepted+`}`, first.Input.State)
	if err != nil || r.Input == nil || !strings.Contains(string(r.Input.Requests), `"q2"`) {
		t.Errorf("her own: got %+v, %v", r, err)
	}
}

// TestShareOfOnePrincipal holds that a principal whose calls all wait for answers is told so, and that another one is served.
func TestShareOfOnePrincipal(t *testing.T) {
	w := newWorldWith(t, bridge.Options{Server: server.Options{HTTP: byName}}, backend{name: "a", http: true, fill: asking(nil)})
	alice, bob := w.dialAs(t, true, "alice", formOnly), w.dialAs(t, true, "bob", formOnly)
	for range 100 {
		asked(t, alice, "book")
	}
	if r, err := byHand(t.Context(), alice, "book", "", nil); err == nil && r.Input != nil || !strings.Contains(fmt.Sprint(err, said(r)), "100 calls of yours") {
		t.Errorf("one more: got %s, %v", said(r), err)
	}
	asked(t, bob, "book")
}

// TestShutdownWhileClientsThink holds that a shutdown ends the calls which wait for their clients, and that nothing of them is
// left.
func TestShutdownWhileClientsThink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan error, 1)
		w := newWorld(t, route.Naming{}, backend{name: "a", fill: asking(gone)})
		c := w.dial(t, true, formOnly)
		state := asked(t, c, "book").Input.State
		w.bridge.Close()
		if err := <-gone; err == nil {
			t.Error("the call of the server goes on")
		}
		_, err := byHand(t.Context(), c, "book", `{"q1":`+accepted+`}`, state)
		over(t, "a client that comes back", err)
		if _, err = byHand(t.Context(), c, "book", "", nil); err == nil || !strings.Contains(err.Error(), "shutting down") {
			t.Errorf("a new call: %v", err)
		}
	})
}

// TestCallsThatAskNothing holds that what bounds the calls which wait for their clients does not bound those which are only
// under way, though their clients could be asked.
func TestCallsThatAskNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: true, opts: server.Options{MaxInFlight: -1}, fill: func(s *server.Server) {
			server.AddTool(s, mcp.Tool{Name: "wait"}, func(context.Context, *server.Request, noInput) (string, error) { <-release; return "done", nil })
		}})
		var callers sync.WaitGroup
		for range 6 {
			c := w.dial(t, true, formOnly)
			for range 200 {
				callers.Go(func() {
					if result, err := c.CallTool(t.Context(), "wait", nil); err != nil || result.Text() != "done" {
						t.Errorf("got %v, %v", result, err)
					}
				})
			}
		}
		synctest.Wait()
		close(release)
		callers.Wait()
	})
}

// TestThousandQuestionsAtOnce has a server ask a thousand questions for one call, and one after its answer. The client gets
// those that one call may ask, and the server is told of the others at once.
func TestThousandQuestionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		refused := 0
		near, far := transport.Pair(0)
		write := func(format string, args ...any) {
			_ = far.Write(context.Background(), fmt.Appendf(nil, format, args...)) // the client may have gone
		}
		go func() { // ends with the connection
			for {
				frame, err := far.Read(context.Background())
				if err != nil {
					return
				}
				var m struct {
					ID     json.RawMessage
					Method string
					Error  json.RawMessage
				}
				if json.Unmarshal(frame, &m) != nil {
					continue
				}
				switch {
				case m.Method == mcp.MethodInitialize:
					write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asker","version":"1"}}}`, m.ID)
				case m.Method == mcp.MethodListTools:
					write(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"flood","inputSchema":{"type":"object"}}]}}`, m.ID)
				case m.Method == mcp.MethodCallTool:
					for i := range 1000 {
						write(`{"jsonrpc":"2.0","id":"ask-%d","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`, i)
					}
					time.AfterFunc(time.Minute, func() {
						write(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"enough"}]}}`, m.ID)
						write(`{"jsonrpc":"2.0","id":"late","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`)
					})
				case m.Error != nil:
					mu.Lock()
					refused++
					mu.Unlock()
				}
			}
		}()
		w := &world{}
		w.set = upstream.New([]manager.Server{{Name: "a"}}, upstream.Options{
			Dial: func(ctx context.Context, _ manager.Server) (upstream.Conn, error) {
				return upstream.Open(client.Options{Mode: client.Legacy}, func(o client.Options) (*client.Client, error) { return client.Connect(ctx, near, o) })
			},
			OnChange: func() { w.bridge.Changed() },
		})
		w.raise(t, bridge.Options{})
		c := w.dial(t, true, formOnly)
		first := asked(t, c, "flood")
		synctest.Wait()
		if refused < 900 {
			t.Errorf("%d questions were refused", refused)
		}
		r, err := byHand(t.Context(), c, "flood", "{}", first.Input.State)
		for rounds := 0; err == nil && r.Input != nil && rounds < 20; rounds++ {
			if n := strings.Count(string(r.Input.Requests), "elicitation/create"); n > 100 {
				t.Fatalf("%d questions in one round", n)
			}
			time.Sleep(30 * time.Second)
			r, err = byHand(t.Context(), c, "flood", "{}", r.Input.State)
		}
		if err != nil || !strings.Contains(string(r.Result), "enough") {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}
