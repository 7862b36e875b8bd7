package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// TestRedactionOfTasks holds that what is masked is masked in the news of a task, in its questions and in the answers to them, whichever
// way they come.
func TestRedactionOfTasks(t *testing.T) {
	s := policy.Settings{Redact: []policy.Redaction{{Name: "own", Pattern: "SECRET"}}}
	overBoth(t, func(t *testing.T, http, modern, upModern bool) {
		next, heard := make(chan string), make(chan string, 10)
		b := steps("far", upModern, http, next)
		news := b.fill
		b.fill = func(s *server.Server) {
			news(s)
			server.AddTool(s, mcp.Tool{Name: "ask", Execution: tasks.May()}, tasks.Whole(func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
				who, err := server.ElicitAs[struct {
					Name string `json:"name"`
				}](ctx, req, "Is it SECRET?")
				heard <- who.Name
				return "thanks", err
			}))
		}
		w, _, _ := policed(t, s, b)
		said, told := make(chan string, 100), make(chan string, 100)
		o := able(t)
		o.Elicit = func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			said <- req.Message
			return client.Accept(map[string]any{"name": "my SECRET"})
		}
		o.OnNotification = func(_ context.Context, method string, params json.RawMessage) {
			if method == mcp.NotifyTaskStatus {
				told <- member(t, params, "statusMessage")
			}
		}
		c := w.dialBy(t, http, modern, o)
		task := begin(t, c, "ask")
		if r, err := c.AwaitTask(t.Context(), task.ID); err != nil || r.Text() != "thanks" {
			t.Errorf("the task ends with %+v, %v", r, err)
		}
		if asked, answered := <-said, <-heard; asked != "Is it [redacted own]?" || answered != "my [redacted own]" {
			t.Errorf("the client was asked %q, and the server answered %q", asked, answered)
		}
		task = begin(t, c, "steps")
		if modern {
			listened := make(chan struct{})
			news, err := c.FollowTasks(t.Context(), task.ID)
			if err != nil {
				t.Fatal(err)
			}
			defer news.Close()
			go func() { // ends with the task
				defer close(listened)
				for {
					task, err := news.Next(t.Context())
					if errors.Is(err, io.EOF) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					told <- task.StatusMessage
				}
			}()
			defer func() { <-listened }()
		}
		defer close(next)
		next <- "a SECRET way"
		for {
			got := <-told
			if strings.Contains(got, "SECRET") {
				t.Fatalf("it is told of %q", got)
			}
			if got == "a [redacted own] way" {
				return
			}
		}
	})
}

// TestRefusedInTheMidst holds what becomes of a call whose questions, or answers to them, hold what is refused: the user is not asked,
// or the server not answered, and nobody sees the word.
func TestRefusedInTheMidst(t *testing.T) {
	for _, tc := range []struct {
		name           string
		in             policy.RedactIn
		tool           string
		asked          bool
		legacy, modern string // what a server of that era makes of it
	}{
		{"a question to a user", policy.InResults, "ask", false, "does not let pass: own", "declined"},
		{"a question to a model", policy.InResults, "think", false, "does not let pass: own", "does not let pass: own"},
		{"an answer of a user", policy.InArguments, "ask", true, "does not let pass: own", "does not let pass: own"},
		{"an answer of a model", policy.InArguments, "think", true, "does not let pass: own", "does not let pass: own"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, http, modern, upModern bool) {
				var mu sync.Mutex
				var heard []string
				hears := func(words string, err error) (string, error) {
					mu.Lock()
					defer mu.Unlock()
					if words != "" {
						heard = append(heard, words)
					}
					return "well", err
				}
				w, _, decisions := policed(t, policy.Settings{Redact: []policy.Redaction{{Name: "own", Pattern: "SECRET", In: tc.in, Do: policy.Withhold}}}, backend{
					name: "a", modern: upModern, http: http, fill: func(s *server.Server) {
						server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
							who, err := server.ElicitAs[struct {
								Name string `json:"name"`
							}](ctx, req, "Is it SECRET?")
							return hears(who.Name, err)
						})
						server.AddTool(s, mcp.Tool{Name: "think"}, func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
							answer, err := req.CreateMessage(ctx, mcp.CreateMessageParams{MaxTokens: 10, SystemPrompt: "SECRET", Messages: []mcp.SamplingMessage{
								{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("a word, please")}},
							}})
							if err != nil {
								return "", err
							}
							return hears(answer.Text(), nil)
						})
					},
				})
				asked := make(chan string, 10)
				c := w.dialBy(t, http, modern, client.Options{
					Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
						asked <- req.Message
						return client.Accept(map[string]any{"name": "my SECRET"})
					},
					CreateMessage: func(_ context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
						asked <- req.SystemPrompt
						return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: []mcp.Content{mcp.Text("my SECRET")}, Model: "m"}, nil
					},
				})
				r, err := c.CallTool(t.Context(), tc.tool, nil)
				answer := fmt.Sprint(err)
				if err == nil {
					answer = r.Text()
				}
				want := tc.legacy
				if upModern {
					want = tc.modern
				}
				if !strings.Contains(answer, want) || strings.Contains(answer, "SECRET") {
					t.Errorf("the call ends with %q, want %q in it", answer, want)
				}
				if got := len(asked) > 0; got != tc.asked {
					t.Errorf("the client was asked: %t", got)
				}
				mu.Lock()
				defer mu.Unlock()
				if heard != nil {
					t.Errorf("the server heard %q", heard)
				}
				if d := decisions(); len(d) != 1 || d[0].By != policy.ByRedact || d[0].Effect != policy.Refused || d[0].Name != "own" || d[0].Server != "a" {
					t.Errorf("decided %+v", d)
				}
			})
		})
	}
}
