package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

type noInput struct{}

type trip struct {
	City string `json:"city"`
	Days int    `json:"days"`
}

// asking registers tools that ask: the user (once, twice, on a page) and the model. gone hears of calls that are given up.
func asking(gone chan<- error) func(*server.Server) {
	return func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "book"}, func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
			req.Progress(ctx, 1, 2, "asking")
			t, err := server.ElicitAs[trip](ctx, req, "Where to?")
			if err != nil {
				if gone != nil {
					gone <- err
				}
				return "", err
			}
			sure, err := server.ElicitAs[struct {
				Yes bool `json:"yes"`
			}](ctx, req, "Sure?")
			if err != nil {
				return "", err
			}
			req.Progress(ctx, 2, 2, "booking")
			return fmt.Sprintf("%s for %d days: %v", t.City, t.Days, sure.Yes), nil
		})
		server.AddTool(s, mcp.Tool{Name: "think"}, func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
			answer, err := req.CreateMessage(ctx, mcp.CreateMessageParams{MaxTokens: 10, Messages: []mcp.SamplingMessage{
				{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("a word, please")}},
			}})
			if err != nil {
				return "", err
			}
			return "the model says " + answer.Text(), nil
		})
		server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
			_, err := req.ListRoots(ctx)
			return "", err
		})
		server.AddTool(s, mcp.Tool{Name: "plain"}, func(context.Context, *server.Request, noInput) (string, error) { return "plain", nil })
	}
}

// user is a client whose user answers trips to city, and whose model says a word.
func user(city string) client.Options {
	return client.Options{
		Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			if req.Message == "Sure?" {
				return client.Accept(map[string]any{"yes": true})
			}
			return client.Accept(trip{City: city, Days: 3})
		},
		CreateMessage: func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: []mcp.Content{mcp.Text("tide")}, Model: "m"}, nil
		},
	}
}

// onEveryWay runs a test for every pairing of eras, in memory and over HTTP.
func onEveryWay(t *testing.T, fill func(*server.Server), run func(t *testing.T, w *world, dial func(client.Options) *client.Client)) {
	for _, http := range []bool{false, true} {
		t.Run(map[bool]string{false: "pipe", true: "http"}[http], func(t *testing.T) {
			pairings(t, func(t *testing.T, modern, upModern bool) {
				w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, http: http, fill: fill})
				dial := w.dial
				if http {
					dial = w.dialHTTP
				}
				run(t, w, func(o client.Options) *client.Client { return dial(t, modern, o) })
			})
		})
	}
}

// TestQuestionsInEveryPairing holds that a server of either era can ask the user and the model of a client of either era, more
// than once in one call, and that progress goes on behind the questions.
func TestQuestionsInEveryPairing(t *testing.T) {
	onEveryWay(t, asking(nil), func(t *testing.T, _ *world, dial func(client.Options) *client.Client) {
		c := dial(user("Bergen"))
		var seen []string
		result, err := c.CallTool(t.Context(), "book", nil, client.CallOptions{OnProgress: func(p mcp.ProgressParams) { seen = append(seen, p.Message) }})
		if err != nil || result.Text() != "Bergen for 3 days: true" || fmt.Sprint(seen) != "[asking booking]" {
			t.Errorf("got %v, %v, progress %q", result, err, seen)
		}
		if result, err = c.CallTool(t.Context(), "think", nil); err != nil || result.Text() != "the model says tide" {
			t.Errorf("got %v, %v", result, err)
		}
	})
}

// TestQuestionsThatCannotBePassedOn holds that a server is told at once, and in words, when the client behind a call has not
// declared that it answers.
func TestQuestionsThatCannotBePassedOn(t *testing.T) {
	onEveryWay(t, asking(nil), func(t *testing.T, _ *world, dial func(client.Options) *client.Client) {
		mute, deaf := dial(client.Options{}), user("Bergen")
		deaf.CreateMessage = nil
		form := dial(deaf)
		for _, tc := range []struct {
			name string
			c    *client.Client
			tool string
		}{{"nothing declared", mute, "book"}, {"no model", form, "think"}, {"roots", form, "roots"}} {
			result, err := tc.c.CallTool(t.Context(), tc.tool, nil)
			switch {
			case err == nil && !result.IsError:
				t.Errorf("%s: got %v", tc.name, result)
			case err == nil:
				t.Logf("%s: %s", tc.name, result.Text())
			default:
				t.Logf("%s: %v", tc.name, err)
			}
		}
		if result, err := mute.CallTool(t.Context(), "plain", nil); err != nil || result.Text() != "plain" {
			t.Errorf("a call that asks nothing: %v, %v", result, err)
		}
	})
}

// TestQuestionsReachTheirOwnClient has many clients ask for the same at once. On a pipe the server does not say for whom it
// asks: calls then go one at a time, from the first question on.
func TestQuestionsReachTheirOwnClient(t *testing.T) {
	onEveryWay(t, asking(nil), func(t *testing.T, _ *world, dial func(client.Options) *client.Client) {
		if result, err := dial(user("Oslo")).CallTool(t.Context(), "book", nil); err != nil || result.IsError {
			t.Fatalf("got %v, %v", result, err)
		}
		var callers sync.WaitGroup
		for i := range 8 {
			city := fmt.Sprintf("City %d", i)
			c := dial(user(city))
			callers.Go(func() {
				if result, err := c.CallTool(t.Context(), "book", nil); err != nil || result.Text() != city+" for 3 days: true" {
					t.Errorf("%s: got %v, %v", city, result, err)
				}
			})
		}
		callers.Wait()
	})
}

// TestDeclined holds that an answer of the user that is a no reaches the server as such.
func TestDeclined(t *testing.T) {
	onEveryWay(t, asking(nil), func(t *testing.T, _ *world, dial func(client.Options) *client.Client) {
		o := user("")
		o.Elicit = func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) { return client.Decline() }
		result, err := dial(o).CallTool(t.Context(), "book", nil)
		if err != nil || !result.IsError || !strings.Contains(result.Text(), "declined") {
			t.Errorf("got %v, %v", result, err)
		}
	})
}

// TestVisits holds that the demand of a legacy server for a visit to a page, which is an error there, reaches every client that
// can visit pages in the form of its revision, and that the call is made anew afterwards.
func TestVisits(t *testing.T) {
	fill := func(s *server.Server) {
		var signedIn atomic.Bool
		server.AddTool(s, mcp.Tool{Name: "mail"}, func(context.Context, *server.Request, noInput) (string, error) {
			if signedIn.Swap(true) {
				return "no mail", nil
			}
			return "", mcp.URLElicitationRequired(mcp.ElicitURLParams{Message: "Sign in", URL: "https://mail.example/login", ElicitationID: "e-1"})
		})
	}
	for _, modern := range []bool{false, true} {
		w := newWorld(t, route.Naming{}, backend{name: "a", fill: fill})
		var visited []string
		o := client.Options{ElicitURL: func(_ context.Context, req *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			visited = append(visited, req.URL)
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		}}
		result, err := w.dial(t, modern, o).CallTool(t.Context(), "mail", nil)
		if err != nil || result.Text() != "no mail" || fmt.Sprint(visited) != "[https://mail.example/login]" {
			t.Errorf("modern %v: got %v, %v after visits to %q", modern, result, err, visited)
		}
		w = newWorld(t, route.Naming{}, backend{name: "a", fill: fill})
		if _, err := w.dial(t, modern, client.Options{}).CallTool(t.Context(), "mail", nil); err == nil {
			t.Errorf("modern %v: a client that visits no pages gets no error", modern)
		}
	}
}

// TestRoundsByHand goes through a call of a legacy server as a modern client sees it.
func TestRoundsByHand(t *testing.T) {
	gone := make(chan error, 1)
	w := newWorld(t, route.Naming{}, backend{name: "a", http: true, fill: asking(gone)})
	c := w.dialHTTP(t, true, client.Options{Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}})
	call := func(answers, state string) (*client.RawResult, error) {
		o := client.RawOptions{}
		if answers != "" {
			o.InputResponses = json.RawMessage(answers)
		}
		if state != "" {
			o.RequestState = json.RawMessage(state)
		}
		return c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"book","arguments":{}}`), o)
	}
	const trip = `{"action":"accept","content":{"city":"Bergen","days":2}}`
	refused := func(what string, err error) {
		t.Helper()
		var fault *mcp.Error
		if !errors.As(err, &fault) || fault.Code != mcp.CodeInvalidParams || !strings.Contains(fault.Message, "requestState") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	first, err := call("", "")
	if err != nil || first.Input == nil || !strings.Contains(string(first.Input.Requests), `"q1":{"method":"elicitation/create","params":{`) {
		t.Fatalf("got %+v, %v", first, err)
	}
	again, err := call(`{"q7":`+trip+`,"q1":"Bergen"}`, string(first.Input.State))
	if err != nil || again.Input == nil || string(again.Input.Requests) != string(first.Input.Requests) {
		t.Errorf("answers to other questions: got %+v, %v", again, err)
	}
	_, err = c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"think","arguments":{}}`), client.RawOptions{RequestState: again.Input.State})
	refused("the state of another tool's call", err)
	_, err = call(`{"q1":`+trip+`}`, `"rialto/parked/AAAA"`)
	refused("a state that is made up", err)
	second, err := call(`{"q1":`+trip+`}`, string(again.Input.State))
	if err != nil || second.Input == nil || !strings.Contains(string(second.Input.Requests), `"q2":`) {
		t.Fatalf("got %+v, %v", second, err)
	}
	third, err := call(`{"q2":{"action":"accept","content":{"yes":true}}}`, string(second.Input.State))
	if err != nil || !strings.Contains(string(third.Result), "Bergen for 2 days: true") {
		t.Errorf("got %+v, %v", third, err)
	}
	_, err = call(`{"q2":{"action":"accept","content":{"yes":true}}}`, string(second.Input.State))
	refused("a state that has been used", err)
	last, err := call("", "")
	for rounds := 1; err == nil && last.Input != nil && rounds < 20; rounds++ {
		last, err = call("", string(last.Input.State))
	}
	if text := fmt.Sprint(err, said(last)); !strings.Contains(text, "asked 10 times") { // by the gateway, or by the server that was told
		t.Errorf("a client that never answers: %s", text)
	}
	if err := <-gone; err == nil {
		t.Error("the server's call is not given up")
	}
}

func said(r *client.RawResult) string {
	if r == nil {
		return ""
	}
	return string(r.Result)
}

// TestParkedCallEnds holds that a client that never comes back costs nothing after ten minutes.
func TestParkedCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan error, 1)
		w := newWorld(t, route.Naming{}, backend{name: "a", fill: asking(gone)})
		c := w.dial(t, true, client.Options{Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}})
		r, err := c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"book"}`), client.RawOptions{})
		if err != nil || r.Input == nil {
			t.Fatalf("got %+v, %v", r, err)
		}
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		select {
		case err := <-gone:
			t.Fatalf("given up too early: %v", err)
		default:
		}
		time.Sleep(2 * time.Minute)
		<-gone
		_, err = c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"book"}`), client.RawOptions{RequestState: r.Input.State})
		if !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("got %v", err)
		}
	})
}
