package server_test

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
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

var nameForm = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","minLength":1}},"required":["name"]}`)

func askName(key string) *mcp.InputRequired {
	return mcp.NeedInput().Elicit(key, mcp.ElicitFormParams{Message: "Who?", RequestedSchema: nameForm})
}

func askModel(ask *mcp.InputRequired, key string) *mcp.InputRequired {
	return ask.CreateMessage(key, mcp.CreateMessageParams{
		MaxTokens: 9, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("hi")}}},
	})
}

// rounds says what a handler does in its runs: it asks, or it answers what it has seen.
var rounds = []struct {
	name string
	run  func(r *server.Request) (string, *mcp.InputRequired)
	asks string // methods that the client is asked, in order
	want string
}{
	{"form", func(r *server.Request) (string, *mcp.InputRequired) {
		if a, _ := r.InputResponses().Elicit("who"); a != nil {
			return fmt.Sprintf("%s %s", a.Action, a.Content), nil
		}
		return "", askName("who")
	}, "elicitation/create", `run 2: accept {"name":"Ada"}`},
	{"page", func(r *server.Request) (string, *mcp.InputRequired) {
		if a, _ := r.InputResponses().Elicit("pay"); a != nil {
			return string(a.Action), nil
		}
		return "", mcp.NeedInput().ElicitURL("pay", mcp.ElicitURLParams{Message: "Pay", URL: "https://example.com/pay"})
	}, "elicitation/create", "run 2: accept"},
	{"sampling", func(r *server.Request) (string, *mcp.InputRequired) {
		if a, _ := r.InputResponses().Message("m"); a != nil {
			return a.Text(), nil
		}
		return "", askModel(mcp.NeedInput(), "m")
	}, "sampling/createMessage", "run 2: Paris"},
	{"roots", func(r *server.Request) (string, *mcp.InputRequired) {
		if a, _ := r.InputResponses().Roots("r"); a != nil {
			return a.Roots[0].URI, nil
		}
		return "", mcp.NeedInput().ListRoots("r")
	}, "roots/list", "run 2: file:///home"},
	{"several at once", func(r *server.Request) (string, *mcp.InputRequired) {
		if r.Run() == 2 {
			return fmt.Sprint(r.InputResponses().Keys(), r.State()), nil
		}
		return "", askModel(askName("a"), "b").ListRoots("c").WithState("s")
	}, "elicitation/create roots/list sampling/createMessage", "run 2: [a b c]s"},
	{"two rounds", func(r *server.Request) (string, *mcp.InputRequired) {
		switch r.Run() {
		case 1:
			return "", askName("a").WithState("one")
		case 2:
			return "", mcp.NeedInput().ListRoots("b").WithState(r.State() + " " + strings.Join(r.InputResponses().Keys(), " "))
		}
		return fmt.Sprint(r.State(), r.InputResponses().Keys()), nil
	}, "elicitation/create roots/list", "run 3: one a[b]"},
	{"state only", func(r *server.Request) (string, *mcp.InputRequired) {
		if r.Run() < 3 {
			return "", mcp.NeedInput().WithState(r.State() + ".")
		}
		return r.State(), nil
	}, "", "run 3: .."},
	{"decline", func(r *server.Request) (string, *mcp.InputRequired) {
		if a, _ := r.InputResponses().Elicit("no"); a != nil {
			return string(a.Action), nil
		}
		return "", mcp.NeedInput().Elicit("no", mcp.ElicitFormParams{Message: "decline", RequestedSchema: nameForm})
	}, "elicitation/create", "run 2: decline"},
	{"an answer that does not fit", func(r *server.Request) (string, *mcp.InputRequired) {
		if a, _ := r.InputResponses().Elicit("wrong"); a != nil {
			return string(a.Content), nil
		}
		if r.Run() == 2 {
			return "asked in vain", nil
		}
		return "", mcp.NeedInput().Elicit("wrong", mcp.ElicitFormParams{Message: "misfit", RequestedSchema: nameForm})
	}, "elicitation/create", "run 2: asked in vain"},
}

// answerTo is what the client of these tests answers.
func answerTo(method string, params json.RawMessage) json.RawMessage {
	message, _ := mcp.Meta(params).Text("message")
	switch {
	case message == "decline":
		return json.RawMessage(`{"action":"decline"}`)
	case message == "misfit":
		return json.RawMessage(`{"action":"accept","content":{"name":""}}`)
	case method == mcp.MethodElicit && mcp.ElicitMode(params) == mcp.ElicitModeURL:
		return json.RawMessage(`{"action":"accept"}`)
	case method == mcp.MethodElicit:
		return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`)
	case method == mcp.MethodCreateMessage:
		return json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m"}`)
	}
	return json.RawMessage(`{"roots":[{"uri":"file:///home"}]}`)
}

// interviewee is a client that answers everything and notes what it is asked.
type interviewee struct {
	mu    sync.Mutex
	asked []string
}

func (i *interviewee) answer(method string, params json.RawMessage) json.RawMessage {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = append(i.asked, method)
	return answerTo(method, params)
}

func (i *interviewee) options() client.Options {
	return client.Options{
		Capabilities: mcp.ClientCapabilities{
			Sampling: &mcp.SamplingCapability{}, Roots: &mcp.RootsCapability{},
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Capability{}, URL: &mcp.Capability{}},
		},
		OnRequest: func(_ context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
			return i.answer(req.Method, req.Params), nil
		},
	}
}

// callAnswering calls a tool and answers by retries what comes back as a question.
func (i *interviewee) callAnswering(t *testing.T, c *client.Client, name string) *mcp.CallToolResult {
	t.Helper()
	o := client.CallOptions{ManualInput: true}
	for {
		result, err := c.CallTool(t.Context(), name, map[string]any{"n": 1}, o)
		var question *mcp.InputRequired
		if !errors.As(err, &question) {
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		o.RequestState, o.InputResponses = question.State, nil
		for _, key := range question.Requests.Keys() {
			if o.InputResponses == nil {
				o.InputResponses = mcp.InputResponses{}
			}
			q := question.Requests[key]
			o.InputResponses[key] = i.answer(q.Method, q.Params)
		}
	}
}

// One handler serves both eras on every wire: where questions ride in results, and where they are requests.
func TestEveryWireAsks(t *testing.T) {
	for _, w := range mcptest.Wires() {
		for _, c := range rounds {
			t.Run(w.Name+"/"+c.name, func(t *testing.T) {
				s := newServer(server.Options{})
				rawTool(t, s, "ask", func(ctx context.Context, r *server.Request) (*mcp.CallToolResult, error) {
					r.Progress(ctx, float64(r.Run()), 0, "")
					text, ask := c.run(r)
					if ask != nil {
						return nil, ask
					}
					return mcp.TextResult(fmt.Sprintf("run %d: %s", r.Run(), text)), nil
				})
				who := &interviewee{}
				start := time.Now()
				result := who.callAnswering(t, w.Dial(t, s, who.options()), "ask")
				if got := result.Text(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
				if got := sortedWords(who.asked); got != c.asks {
					t.Errorf("asked %q, want %q", got, c.asks)
				}
				if c.asks == "" && !w.Modern && time.Since(start) < 500*time.Millisecond {
					t.Error("a retry that nobody was asked for came without its pause")
				}
			})
		}
	}
}

// Clients of the oldest wire are asked like all others.
func TestSSEClientsAreAsked(t *testing.T) {
	s := newServer(server.Options{})
	rawTool(t, s, "ask", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		if roots, _ := r.InputResponses().Roots("r"); roots != nil {
			return mcp.TextResult(roots.Roots[0].URI), nil
		}
		return nil, mcp.NeedInput().ListRoots("r")
	})
	who, handler := &interviewee{}, s.SSEHandler()
	url := serve(t, handler)
	c, err := client.DialSSE(t.Context(), url+"/sse", who.options())
	if err != nil {
		t.Fatal(err)
	}
	if got := who.callAnswering(t, c, "ask").Text(); got != "file:///home" {
		t.Errorf("got %q", got)
	}
	if err := errors.Join(c.Close(), handler.Close()); err != nil {
		t.Error(err)
	}
}

func sortedWords(words []string) string {
	sorted := mcp.InputResponses{}
	for _, word := range words {
		sorted[word] = nil
	}
	return strings.Join(sorted.Keys(), " ")
}

// A handler that is never content is stopped.
func TestMaxRounds(t *testing.T) {
	for _, tc := range []struct{ option, asked int }{{0, 10}, {3, 3}, {-1, 50}} {
		for _, w := range mcptest.Wires() {
			if w.HTTP {
				continue // the count has nothing to do with the wire
			}
			t.Run(fmt.Sprintf("%s/%d", w.Name, tc.option), func(t *testing.T) {
				s := newServer(server.Options{MaxRounds: tc.option})
				rawTool(t, s, "ask", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
					if r.Run() > 50 {
						return mcp.TextResult("content"), nil
					}
					return nil, mcp.NeedInput().ListRoots("r")
				})
				who := &interviewee{}
				result := who.callAnswering(t, w.Dial(t, s, who.options()), "ask")
				if stopped := result.IsError && strings.Contains(result.Text(), fmt.Sprintf("asked %d times", tc.asked)); stopped == (tc.option < 0) {
					t.Errorf("got %q", result.Text())
				}
				if len(who.asked) != tc.asked {
					t.Errorf("asked %d times, want %d", len(who.asked), tc.asked)
				}
			})
		}
	}
}

// A client that gives up its call while it is asked is told that its answer is not wanted any more, on every wire.
func TestCancelledWhileAsked(t *testing.T) {
	for _, w := range mcptest.Wires() {
		if w.Modern {
			continue // nothing runs while the client thinks
		}
		t.Run(w.Name, func(t *testing.T) {
			s := newServer(server.Options{})
			rawTool(t, s, "ask", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
				return nil, mcp.NeedInput().ListRoots("r")
			})
			ctx, cancel := context.WithCancel(t.Context())
			withdrawn, returned := make(chan error, 1), make(chan struct{})
			o := (&interviewee{}).options()
			o.OnRequest = func(ctx context.Context, _ *client.IncomingRequest) (json.RawMessage, error) {
				cancel()
				<-ctx.Done()
				withdrawn <- context.Cause(ctx)
				<-returned // an answer now, though unwanted, could bring the end of the call before it is given up
				return nil, ctx.Err()
			}
			c := w.Dial(t, s, o)
			_, err := c.CallTool(ctx, "ask", nil)
			close(returned)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
			select {
			case <-withdrawn:
			case <-time.After(5 * time.Second):
				t.Error("the question was not withdrawn")
			}
		})
	}
}
