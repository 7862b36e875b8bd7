package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// nosy asks for all that there is.
func nosy(s *server.Server) {
	asking(nil)(s)
	server.AddTool(s, mcp.Tool{Name: "page"}, func(ctx context.Context, req *server.Request, in struct {
		URL string `json:"url"`
	}) (string, error) {
		answer, err := req.ElicitURL(ctx, mcp.ElicitURLParams{Message: "Look here", URL: in.URL, ElicitationID: "e1"})
		if err != nil {
			return "", err
		}
		return string(answer.Action), nil
	})
	server.AddTool(s, mcp.Tool{Name: "long"}, func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
		answer, err := req.CreateMessage(ctx, mcp.CreateMessageParams{MaxTokens: 9000, Messages: []mcp.SamplingMessage{
			{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("all of it, please")}},
		}})
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
	})
}

// watched is a client that answers everything and writes down what it was asked.
func watched() (o client.Options, asked func() []string) {
	var mu sync.Mutex
	var all []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, fmt.Sprintf(format, args...))
	}
	answers := user("Oslo")
	o = client.Options{
		Elicit: func(ctx context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			note("form %s", req.Message)
			req.Message = strings.TrimPrefix(req.Message, "[a] ")
			return answers.Elicit(ctx, req)
		},
		ElicitURL: func(_ context.Context, req *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			note("page %s %s", req.Message, req.URL)
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		},
		CreateMessage: func(ctx context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
			note("model %d %s", req.MaxTokens, req.IncludeContext)
			return answers.CreateMessage(ctx, req)
		},
	}
	return o, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestPolicyAsk holds what servers of either era may ask of clients of either era, and that a client sees nothing of what is
// refused.
func TestPolicyAsk(t *testing.T) {
	for _, tc := range []struct {
		name       string
		may        policy.Asking
		tool, args string
		asked      string // of the client
		says       string // in the answer
	}{
		{"everything", policy.Asking{}, "book", `{}`, "[form Where to? form Sure?]", "Oslo for 3 days: true"},
		{"who asks", policy.Asking{Named: true}, "book", `{}`, "[form [a] Where to? form [a] Sure?]", ""},
		{"no forms", policy.Asking{NoForms: true}, "book", `{}`, "[]", "book"},
		{"forms, and no pages", policy.Asking{NoPages: true}, "book", `{}`, "[form Where to? form Sure?]", "Oslo for 3 days: true"},
		{"no pages", policy.Asking{NoPages: true}, "page", `{"url":"https://pay.example/x"}`, "[]", "page"},
		{"a page of a host", policy.Asking{Hosts: []string{"*.example"}, Named: true}, "page", `{"url":"https://pay.example/x"}`, "[page [a] Look here https://pay.example/x]", "accept"},
		{"a page of another", policy.Asking{Hosts: []string{"*.example"}}, "page", `{"url":"https://pay.example.evil/x"}`, "[]", ""},
		{"no model", policy.Asking{NoSampling: true}, "think", `{}`, "[]", "think"},
		{"less of the model", policy.Asking{MaxTokens: 100}, "long", `{}`, "[model 100 ]", "tide"},
		{"enough of it", policy.Asking{MaxTokens: 100}, "think", `{}`, "[model 10 ]", "the model says tide"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pairings(t, func(t *testing.T, modern, upModern bool) {
				w, _, _ := policed(t, policy.Settings{Ask: policy.Ask{All: tc.may}}, backend{name: "a", modern: upModern, http: true, fill: nosy})
				o, asked := watched()
				r, err := w.dialHTTP(t, modern, o).CallTool(t.Context(), tc.tool, json.RawMessage(tc.args))
				answer := fmt.Sprint(err)
				if err == nil {
					answer = r.Text()
				}
				if got := fmt.Sprint(asked()); got != tc.asked {
					t.Errorf("the client was asked %s, want %s; the answer is %s", got, tc.asked, answer)
				}
				if tc.says != "" && tc.asked != "[]" && !strings.Contains(answer, tc.says) {
					t.Errorf("the answer is %s", answer)
				}
				if tc.asked == "[]" && err == nil && !r.IsError && answer != "decline" {
					t.Errorf("what was refused ends well: %s", answer)
				}
			})
		})
	}
}

// TestPolicyAskOfServersThatAskAnyway holds what becomes of questions in results that are asked though nobody has declared to
// answer them.
func TestPolicyAskOfServersThatAskAnyway(t *testing.T) {
	const (
		form  = `"f":{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{}}}}`
		page  = `"p":{"method":"elicitation/create","params":{"mode":"url","message":"Go","url":"https://evil.example/","elicitationId":"e"}}`
		model = `"m":{"method":"sampling/createMessage","params":{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}`
	)
	for _, tc := range []struct{ name, questions, asked, want string }{
		{"a page alone is declined", `{` + page + `}`, "[]", `{"p":{"action":"decline"}} "mine\u0021"`},
		{"a page beside a form", `{` + page + `,` + form + `}`, "[form Who?]", `"p":{"action":"decline"}} "mine\u0021"`},
		{"a model ends the call", `{` + form + `,` + model + `}`, "[]", `does not let server "a" ask the model`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, modern := range []bool{false, true} {
				w, _, decisions := policed(t, policy.Settings{Ask: policy.Ask{Servers: map[string]policy.Asking{"a": {NoPages: true, NoSampling: true}}}},
					rawBackend("a", true, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
						responses, state := req.Retry()
						if responses == nil {
							return &server.RawResult{InputRequests: json.RawMessage(tc.questions), RequestState: json.RawMessage(`"mine\u0021"`)}, nil
						}
						result, err := json.Marshal(mcp.TextResult(string(responses) + " " + string(state)))
						return &server.RawResult{Result: result}, err
					}))
				o, asked := watched()
				r, err := w.dial(t, modern, o).CallTool(t.Context(), "odd", nil)
				answer := fmt.Sprint(err)
				if err == nil {
					answer = r.Text()
				}
				if got := fmt.Sprint(asked()); got != tc.asked || !strings.Contains(answer, tc.want) {
					t.Errorf("modern %v: asked %s, and the answer is %s", modern, got, answer)
				}
				if d := decisions(); len(d) != 1 || d[0].By != policy.ByAsk || d[0].Effect != policy.Refused || d[0].Server != "a" {
					t.Errorf("decided %+v", d)
				}
			}
		})
	}
}
