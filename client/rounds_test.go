package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

const anyForm = `{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`

// rounds is a reaction that demands input as the demands say, one after the other, and then answers.
func rounds(answer string, demands ...string) func(*peer, *jsonrpc.Message) {
	var n int
	return func(p *peer, m *jsonrpc.Message) {
		if n == len(demands) {
			p.write(m, `{"jsonrpc":"2.0","id":{id},"result":`+answer+`}`)
			return
		}
		n++
		p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{"resultType":"input_required",`+demands[n-1]+`}}`)
	}
}

// sent lists the requests of a method that have come.
func (p *peer) sent(method string) []*jsonrpc.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*jsonrpc.Message
	for _, m := range p.seen {
		if m.Method == method {
			out = append(out, m)
		}
	}
	return out
}

// inModern runs a test against a modern server in a bubble.
func inModern(t *testing.T, rest script, opts client.Options, test func(t *testing.T, c *client.Client, p *peer)) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(rest))
		defer p.conn.Close()
		test(t, connect(t, conn, opts), p)
	})
}

// Each kind of call that may be asked about is repeated with the answers of its last round, the state byte for byte, an id
// of its own and everything else as it was.
func TestC012RoundsRepeatTheCall(t *testing.T) {
	state := strings.Repeat(`a+/=\u00e9é\"`, 150)
	demands := []string{
		`"inputRequests":{"b":{"method":"roots/list"},"a":{"method":"elicitation/create","params":` + anyForm + `}},"requestState":"` + state + `"`,
		`"inputRequests":{"c":{"method":"roots/list"}}`,
	}
	opts := client.Options{
		Roots: []mcp.Root{},
		Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			return client.Accept(json.RawMessage(`{"n":1e0}`))
		},
	}
	meta, err := mcp.NewMeta("traceparent", "00-1")
	if err != nil {
		t.Fatal(err)
	}
	for method, tc := range map[string]struct {
		answer string
		call   func(ctx context.Context, c *client.Client) error
	}{
		"tools/call": {`{"content":[]}`, func(ctx context.Context, c *client.Client) error {
			_, err := c.CallTool(ctx, "x", json.RawMessage(`{"q":1.50}`), client.CallOptions{Meta: meta})
			return err
		}},
		"prompts/get": {`{"messages":[]}`, func(ctx context.Context, c *client.Client) error {
			_, err := c.GetPrompt(ctx, "x", map[string]string{"q": "1.50"}, client.CallOptions{Meta: meta})
			return err
		}},
		"resources/read": {`{"contents":[],"ttlMs":60000,"cacheScope":"public"}`, func(ctx context.Context, c *client.Client) error {
			r, err := c.ReadResource(ctx, "x:1.50", client.CallOptions{Meta: meta})
			if err == nil && r.Cache.TTLMs != nil && *r.Cache.TTLMs > 0 {
				return errors.New("what was asked for may be cached")
			}
			return err
		}},
		"tools/call raw": {`{"content":[]}`, func(ctx context.Context, c *client.Client) error {
			_, err := c.Raw(ctx, "tools/call", json.RawMessage(`{"name":"x","q":1.50,"_meta":{"traceparent":"00-1"}}`), client.RawOptions{AnswerInput: true})
			return err
		}},
		"tools/call stream": {`{"content":[]}`, func(ctx context.Context, c *client.Client) error {
			s, err := c.Start(ctx, "tools/call", json.RawMessage(`{"name":"x","q":1.50,"_meta":{"traceparent":"00-1"}}`), client.RawOptions{AnswerInput: true})
			if err == nil {
				_, err = s.Result()
			}
			return err
		}},
	} {
		t.Run(method, func(t *testing.T) {
			method, _, _ := strings.Cut(method, " ")
			inModern(t, script{method: rounds(tc.answer, demands...)}, opts, func(t *testing.T, c *client.Client, p *peer) {
				if err := tc.call(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				sent := p.sent(method)
				if len(sent) != 3 || sent[0].ID == sent[1].ID || sent[1].ID == sent[2].ID {
					t.Fatalf("sent %d", len(sent))
				}
				for i, want := range []struct{ answers, state string }{
					{"", ""},
					{`{"b":{"roots":[]},"a":{"action":"accept","content":{"n":1e0}}}`, `"` + state + `"`},
					{`{"c":{"roots":[]}}`, ""},
				} {
					params := sent[i].Params
					answers, _ := jsonrpc.Member(params, "inputResponses")
					got, _ := jsonrpc.Member(params, "requestState")
					if string(answers) != want.answers || string(got) != want.state {
						t.Errorf("round %d: answers %s, state %s", i, answers, got)
					}
					if !strings.Contains(string(params), "1.50") || !strings.Contains(string(params), `"traceparent":"00-1"`) {
						t.Errorf("round %d: %s", i, params)
					}
				}
			})
		})
	}
}

// The questions of a round are asked at once, and each knows where it comes from. The first failure ends the others.
func TestRoundsAreConcurrent(t *testing.T) {
	const demand = `"inputRequests":{"a":{"method":"elicitation/create","params":` + anyForm + `},"b":{"method":"elicitation/create","params":` + anyForm + `}}`
	var running, most atomic.Int32
	opts := client.Options{Elicit: func(_ context.Context, r *client.ElicitRequest) (*mcp.ElicitResult, error) {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		time.Sleep(time.Minute)
		if o := r.Origin; o.Method != "tools/call" || o.Round != 1 || o.Key != "a" && o.Key != "b" {
			return nil, fmt.Errorf("origin %+v", o)
		}
		return client.Decline()
	}}
	inModern(t, script{"tools/call": rounds(`{"content":[]}`, demand)}, opts, func(t *testing.T, c *client.Client, _ *peer) {
		began := time.Now()
		if _, err := c.CallTool(t.Context(), "x", nil); err != nil || most.Load() != 2 || time.Since(began) != time.Minute {
			t.Errorf("%d at once, %s, %v", most.Load(), time.Since(began), err)
		}
	})
	opts.Elicit = func(ctx context.Context, r *client.ElicitRequest) (*mcp.ElicitResult, error) {
		if r.Origin.Key == "a" {
			return nil, errors.New("no hands")
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	inModern(t, script{"tools/call": rounds(`{"content":[]}`, demand)}, opts, func(t *testing.T, c *client.Client, p *peer) {
		if _, err := c.CallTool(t.Context(), "x", nil); err == nil || !strings.Contains(err.Error(), `"a" (elicitation/create): no hands`) || len(p.sent("tools/call")) != 1 {
			t.Errorf("got %v", err)
		}
	})
}

// A server that only wants patience gets it, in pauses that grow, for as long as the call may take.
func TestRoundsOfPatience(t *testing.T) {
	patience := make([]string, 40)
	for i := range patience {
		patience[i] = `"requestState":"s"`
	}
	inModern(t, script{"tools/call": rounds(`{"content":[]}`, patience...)}, client.Options{}, func(t *testing.T, c *client.Client, p *peer) {
		began := time.Now()
		_, err := c.CallTool(t.Context(), "x", nil)
		if took := time.Since(began); err != nil || took < 4*time.Minute || took > 8*time.Minute || len(p.sent("tools/call")) != 41 {
			t.Errorf("after %s and %d requests: %v", took, len(p.sent("tools/call")), err)
		}
		if _, has := jsonrpc.Member(p.last(t, "tools/call").Params, "inputResponses"); has {
			t.Error("answers to no question were sent")
		}
	})
	forever := func(p *peer, m *jsonrpc.Message) {
		p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{"resultType":"input_required","requestState":"s"}}`)
	}
	inModern(t, script{"tools/call": forever}, client.Options{}, func(t *testing.T, c *client.Client, _ *peer) {
		began := time.Now()
		if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, mcp.CodeRequestTimeout) || time.Since(began) != 10*time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if _, err := c.CallTool(t.Context(), "x", nil, client.CallOptions{Total: -1}); !errors.Is(err, mcp.CodeInputRoundsExceeded) {
			t.Errorf("without a limit: %v", err)
		}
	})
}

func TestRoundsHaveLimits(t *testing.T) {
	forever := func(demand string) script {
		return script{"tools/call": func(p *peer, m *jsonrpc.Message) {
			p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{"resultType":"input_required",`+demand+`}}`)
		}}
	}
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf(`"q%d":{"method":"roots/list"}`, i))
	}
	for name, tc := range map[string]struct {
		opts   client.Options
		demand string
		code   mcp.Code
		sent   int
	}{
		"ten rounds":    {client.Options{}, `"inputRequests":{"a":{"method":"roots/list"}}`, mcp.CodeInputRoundsExceeded, 11},
		"own limit":     {client.Options{MaxInputRounds: 2}, `"inputRequests":{"a":{"method":"roots/list"}}`, mcp.CodeInputRoundsExceeded, 3},
		"at once":       {client.Options{}, `"inputRequests":{` + strings.Join(many, ",") + `}`, mcp.CodeInvalidResult, 1},
		"unknown kind":  {client.Options{}, `"inputRequests":{"a":{"method":"oracle/ask"}}`, mcp.CodeInvalidResult, 1},
		"no method":     {client.Options{}, `"inputRequests":{"a":{}}`, mcp.CodeInvalidResult, 1},
		"no object":     {client.Options{}, `"inputRequests":{"a":7}`, mcp.CodeInvalidResult, 1},
		"no such hands": {client.Options{}, `"inputRequests":{"a":{"method":"roots/list"},"b":{"method":"sampling/createMessage"}}`, mcp.CodeInputHandlerMissing, 1},
	} {
		t.Run(name, func(t *testing.T) {
			tc.opts.Roots = []mcp.Root{}
			inModern(t, forever(tc.demand), tc.opts, func(t *testing.T, c *client.Client, p *peer) {
				_, err := c.CallTool(t.Context(), "x", nil)
				if !errors.Is(err, tc.code) || len(p.sent("tools/call")) != tc.sent {
					t.Errorf("sent %d, %v", len(p.sent("tools/call")), err)
				}
			})
		})
	}
}

// Whoever waits for a person stops when nobody waits for the answer: the caller, the time of the call, the client.
func TestRoundsEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(c *client.Client, cancel func())
		code error
	}{
		"caller": {func(_ *client.Client, cancel func()) { cancel() }, context.Canceled},
		"time":   {func(*client.Client, func()) {}, mcp.CodeRequestTimeout},
		"client": {func(c *client.Client, _ func()) { c.Close() }, mcp.CodeConnectionClosed},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			opts := client.Options{Elicit: func(ctx context.Context, _ *client.ElicitRequest) (*mcp.ElicitResult, error) {
				<-ctx.Done()
				close(ended)
				return nil, ctx.Err()
			}}
			demand := `"inputRequests":{"a":{"method":"elicitation/create","params":` + anyForm + `}}`
			inModern(t, script{"tools/call": rounds(`{"content":[]}`, demand)}, opts, func(t *testing.T, c *client.Client, _ *peer) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(time.Second, func() { tc.end(c, cancel) })
				if _, err := c.CallTool(ctx, "x", nil); !errors.Is(err, tc.code) {
					t.Errorf("got %v", err)
				}
				<-ended
			})
		})
	}
}

// Each round passes the middleware as a request of its own.
func TestRoundsPassTheMiddleware(t *testing.T) {
	var passed atomic.Int32
	opts := client.Options{Roots: []mcp.Root{}, Middleware: []client.Middleware{func(next client.Call) client.Call {
		return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
			passed.Add(1)
			return next(ctx, req)
		}
	}}}
	inModern(t, script{"tools/call": rounds(`{"content":[]}`, `"inputRequests":{"a":{"method":"roots/list"}}`)}, opts, func(t *testing.T, c *client.Client, p *peer) {
		_, err := c.CallTool(t.Context(), "x", nil)
		if answers, _ := jsonrpc.Member(p.last(t, "tools/call").Params, "inputResponses"); err != nil || passed.Load() != 2 || string(answers) != `{"a":{"roots":[]}}` {
			t.Errorf("%d passed, %s, %v", passed.Load(), answers, err)
		}
	})
}
