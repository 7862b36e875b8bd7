package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

const twoPages = `{"elicitations":[{"mode":"url","message":"one","url":"https://a.example/1","elicitationId":"e1"},{"mode":"url","message":"two","url":"https://a.example/2","elicitationId":"e2"}]}`

// refusing refuses a tool until it has been called a number of times.
func refusing(times int, data string) func(*peer, *jsonrpc.Message) {
	return func(p *peer, m *jsonrpc.Message) {
		if len(p.sent("tools/call")) > times {
			p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}`)
			return
		}
		fails(-32042, "This request requires more information.", data)(p, m)
	}
}

// A call that is refused until pages have been visited is repeated once when they have been, and only then.
func TestRefusedUntilPagesAreVisited(t *testing.T) {
	agree := func(context.Context, *client.ElicitURLRequest) (*mcp.ElicitResult, error) { return client.Accept(nil) }
	decline := func(context.Context, *client.ElicitURLRequest) (*mcp.ElicitResult, error) { return client.Decline() }
	for name, tc := range map[string]struct {
		visit   func(context.Context, *client.ElicitURLRequest) (*mcp.ElicitResult, error)
		refused int
		data    string
		calls   int
		offered string
		why     string // "" for success
	}{
		"visited":       {agree, 1, twoPages, 2, "one two ", ""},
		"not enough":    {agree, 9, twoPages, 2, "one two ", "more information"},
		"declined":      {decline, 1, twoPages, 1, "one ", "more information"},
		"no pages":      {agree, 9, `{"elicitations":[]}`, 1, "", "more information"},
		"odd data":      {agree, 9, `{"elicitations":7}`, 1, "", "more information"},
		"no web page":   {agree, 9, strings.Replace(twoPages, "https:", "ftp:", 1), 1, "", "more information"},
		"without hands": {nil, 9, twoPages, 1, "", "more information"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(legacy(script{"tools/call": refusing(tc.refused, tc.data)}))
				defer p.conn.Close()
				offered, opts := "", client.Options{}
				if tc.visit != nil {
					opts.ElicitURL = func(ctx context.Context, r *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
						offered += r.Message + " "
						if r.Origin.Method != "tools/call" || r.Completed() == nil || r.ElicitationID == "" {
							t.Errorf("%+v", r)
						}
						return tc.visit(ctx, r)
					}
				}
				_, err := connect(t, conn, opts).CallTool(t.Context(), "x", nil)
				if (err == nil) != (tc.why == "") || err != nil && !strings.Contains(err.Error(), tc.why) {
					t.Errorf("got %v", err)
				}
				var fault *mcp.Error
				if err != nil && (!errors.As(err, &fault) || !fault.Remote) {
					t.Errorf("the server's own error is lost: %v", err)
				}
				if calls := len(p.sent("tools/call")); calls != tc.calls || offered != tc.offered {
					t.Errorf("%d calls, offered %q", calls, offered)
				}
			})
		})
	}
}

// A handler that shows a page until its work is done is told so, in either way of asking.
func TestPageIsCompleted(t *testing.T) {
	complete := func(p *peer, id string) {
		p.write(&jsonrpc.Message{}, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":%q}}`, id))
	}
	for name, visit := range map[string]func(context.Context, *client.ElicitURLRequest) (*mcp.ElicitResult, error){
		"waits": func(ctx context.Context, r *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			select {
			case <-r.Completed():
				return client.Accept(nil)
			case <-ctx.Done():
				return client.Cancel() // it counts as accepted all the same
			}
		},
		"shows": func(ctx context.Context, _ *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				data := strings.Replace(twoPages, `"e2"`, `"e1"`, 1) // a page told of twice
				conn, p := play(legacy(script{"tools/call": refusing(1, data)}))
				defer p.conn.Close()
				c := connect(t, conn, client.Options{ElicitURL: visit})
				done := make(chan error)
				go func() {
					_, err := c.CallTool(t.Context(), "x", nil)
					done <- err
				}()
				time.Sleep(time.Second)
				complete(p, "another")
				time.Sleep(time.Second)
				if n := len(p.sent("tools/call")); n != 1 {
					t.Errorf("%d calls before the page was done", n)
				}
				complete(p, "e1")
				complete(p, "e1")
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(legacy(nil))
				defer p.conn.Close()
				connect(t, conn, client.Options{ElicitURL: visit})
				p.write(&jsonrpc.Message{}, `{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"mode":"url","message":"?","url":"https://a.example","elicitationId":"e9"}}`)
				time.Sleep(time.Second)
				complete(p, "e9")
				time.Sleep(time.Second)
				p.mu.Lock()
				defer p.mu.Unlock()
				if got := string(p.seen[len(p.seen)-1].Result); got != `{"action":"accept"}` {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

// Tool results follow their tool uses, each once and alone.
func TestSamplingConversations(t *testing.T) {
	const use, use2 = `{"type":"tool_use","id":"a","name":"x","input":{}}`, `{"type":"tool_use","id":"b","name":"x","input":{}}`
	const done, done2 = `{"type":"tool_result","toolUseId":"a","content":[]}`, `{"type":"tool_result","toolUseId":"b","content":[]}`
	const text = `{"type":"text","text":"t"}`
	say := func(role string, blocks ...string) string {
		return `{"role":"` + role + `","content":[` + strings.Join(blocks, ",") + `]}`
	}
	for name, tc := range map[string]struct {
		messages []string
		ok       bool
	}{
		"plain":        {[]string{say("user", text), say("assistant", text)}, true},
		"answered":     {[]string{say("user", text), say("assistant", text, use, use2), say("user", done2, done), say("assistant", text)}, true},
		"one missing":  {[]string{say("assistant", use, use2), say("user", done)}, false},
		"none":         {[]string{say("assistant", use), say("user", text)}, false},
		"at the end":   {[]string{say("user", text), say("assistant", use)}, false},
		"never asked":  {[]string{say("user", done)}, false},
		"twice":        {[]string{say("assistant", use), say("user", done, done)}, false},
		"mixed":        {[]string{say("assistant", use), say("user", done, text)}, false},
		"another's id": {[]string{say("assistant", use), say("user", done2)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bothEras(t, func(t *testing.T, era string) {
				params := `{"maxTokens":9,"tools":[{"name":"x","inputSchema":{"type":"object"}}],"messages":[` + strings.Join(tc.messages, ",") + `]}`
				_, err := asked(t, era, client.Options{CreateMessage: model("yes"), SamplingTools: true}, "sampling/createMessage", params)
				if (err == nil) != tc.ok || err != nil && !errors.Is(err, mcp.CodeInvalidParams) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// What the model says is brought into the shape that the revision takes, or stays here.
func TestSamplingAnswersFit(t *testing.T) {
	const plain, tools = `{"maxTokens":9,"includeContext":"allServers","messages":[{"role":"user","content":{"type":"text","text":"t"}}]}`,
		`{"maxTokens":9,"tools":[{"name":"x","inputSchema":{"type":"object"}}],"messages":[{"role":"user","content":{"type":"text","text":"t"}}]}`
	texts := []mcp.Content{mcp.Text("a"), mcp.Text("b")}
	uses := []mcp.Content{mcp.Text("a"), &mcp.ToolUseContent{ID: "1", Name: "x", Input: []byte(`{}`)}}
	for name, tc := range map[string]struct {
		params         string
		content        []mcp.Content
		model          string
		modern, legacy string // the content; "" for an error
	}{
		"texts":          {plain, texts, "m", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `{"type":"text","text":"a\nb"}`},
		"texts and uses": {tools, uses, "m", `[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"x","input":{}}]`, `[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"x","input":{}}]`},
		"no such tool":   {plain, uses, "m", "", ""},
		"no model":       {plain, texts[:1], "", "", ""},
		"no content":     {plain, nil, "m", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bothEras(t, func(t *testing.T, era string) {
				answer, err := asked(t, era, client.Options{
					CreateMessage: func(_ context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
						if req.IncludeContext != "" {
							t.Errorf("a context that was not declared: %s", req.IncludeContext)
						}
						return &mcp.CreateMessageResult{Model: tc.model, Content: tc.content}, nil
					}, SamplingTools: true,
				}, "sampling/createMessage", tc.params)
				want := map[string]string{"modern": tc.modern, "legacy": tc.legacy}[era]
				content, _ := jsonrpc.Member([]byte(answer), "content")
				if string(content) != want || (err == nil) != (want != "") {
					t.Errorf("got %s, %v", answer, err)
				}
			})
		})
	}
}
