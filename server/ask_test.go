package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// asking is a server whose handlers of each kind ask one question in the first run and show the answers in the next.
func asking(t *testing.T, ask *mcp.InputRequired, opts server.Options) *server.Server {
	t.Helper()
	s := newServer(opts)
	show := func(r *server.Request) (string, error) {
		if r.Run() == 1 {
			return "", fmt.Errorf("need to know: %w", ask)
		}
		return fmt.Sprint(r.InputResponses().Keys()), nil
	}
	server.AddTool(s, mcp.Tool{Name: "x"}, func(_ context.Context, r *server.Request, _ struct{}) (string, error) { return show(r) })
	s.AddPrompt(mcp.Prompt{Name: "x"}, func(_ context.Context, r *server.Request, _ map[string]string) (*mcp.GetPromptResult, error) {
		text, err := show(r)
		return &mcp.GetPromptResult{Description: text}, err
	})
	s.AddResource(mcp.Resource{URI: "x:1", Name: "x"}, func(_ context.Context, r *server.Request) (*mcp.ReadResourceResult, error) {
		text, err := show(r)
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: text}}}, err
	})
	s.CompletePrompt("x", "a", func(_ context.Context, r *server.Request, _ string, _ map[string]string) ([]string, error) {
		text, err := show(r)
		return []string{text}, err
	})
	s.Handle("example/x", func(_ context.Context, r *server.Request) (*server.RawResult, error) {
		_, err := show(r)
		return nil, err
	})
	return s
}

// withoutState is plain, for a round: without its state, which is another one each time.
func withoutState(m *jsonrpc.Message) string {
	return string(jsonrpc.Without(json.RawMessage(plain(m)), "requestState"))
}

var doors = [][3]string{
	{"tools/call", `"name":"x"`, `{"content":[{"type":"text","text":"[a b]"}]}`},
	{"prompts/get", `"name":"x"`, `{"description":"[a b]","messages":[]}`},
	{"resources/read", `"uri":"x:1"`, `{"contents":[{"uri":"x:1","text":"[a b]"}]}`},
}

// On the modern era a question is a round: the answer says what is asked, the retry brings the answers.
func TestInputRounds(t *testing.T) {
	ask := mcp.NeedInput().ListRoots("b").ElicitURL("a", mcp.ElicitURLParams{Message: "visit <us>", URL: "https://example.com"})
	w := dialWith(t, asking(t, ask, server.Options{}), modern, `{"roots":{},"elicitation":{"url":{}}}`)
	for _, door := range doors {
		m := w.call(door[0], door[1])
		const want = `{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","message":"visit <us>","url":"https://example.com"}},"b":{"method":"roots/list","params":{}}}}`
		if withoutState(m) != want || member(t, m.Result, "resultType") != `"input_required"` {
			t.Errorf("%s: want %s, got %s", door[0], want, m.Result)
		}
		if member(t, m.Result, "ttlMs") != "" {
			t.Errorf("%s: a question carries a cache hint: %s", door[0], m.Result)
		}
		const answers = `,"inputResponses":{"b":{"roots":[]},"a":{"action":"accept"},"c":{}}`
		w.want(door[0], door[1]+answers+`,"requestState":`+member(t, m.Result, "requestState"), door[2])
		w.want(door[0], door[1]+`,"inputResponses":{"b":{"roots":[]},"a":{"action":"accept"},"c":null}`, door[2]) // with nothing to check it against
		w.want(door[0], door[1]+`,"inputResponses":[]`, "error -32602")
		w.want(door[0], door[1]+`,"inputResponses":{},"requestState":"made up"`, `error -32602 {"reason":"invalid_request_state"}`)
		w.want(door[0], door[1]+`,"requestState":{}`, `error -32602 {"reason":"invalid_request_state"}`)
	}
	w.want("completion/complete", `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}`, "error -32603")
	w.want("example/x", ``, "error -32603")
}

// Nothing is asked that the request does not say it can answer.
func TestCapabilitiesOfQuestions(t *testing.T) {
	form := mcp.ElicitFormParams{Message: "m", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
	for _, c := range []struct {
		name    string
		ask     *mcp.InputRequired
		enough  string // capabilities that do
		missing string // what {} lacks
	}{
		{"roots", mcp.NeedInput().ListRoots("a"), `{"roots":{}}`, `{"roots":{}}`},
		{"form", mcp.NeedInput().Elicit("a", form), `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`},
		{"url", mcp.NeedInput().ElicitURL("a", mcp.ElicitURLParams{}), `{"elicitation":{"url":{}}}`, `{"elicitation":{"url":{}}}`},
		{"sampling", mcp.NeedInput().CreateMessage("a", mcp.CreateMessageParams{}), `{"sampling":{}}`, `{"sampling":{}}`},
		{"tools", mcp.NeedInput().CreateMessage("a", mcp.CreateMessageParams{Tools: []mcp.Tool{{Name: "t"}}}), `{"sampling":{"tools":{}}}`, `{"sampling":{"tools":{}}}`},
		{"tool choice", mcp.NeedInput().Ask("a", mcp.MethodCreateMessage, map[string]any{"toolChoice": 1}), `{"sampling":{"tools":{}}}`, `{"sampling":{"tools":{}}}`},
		{"two", mcp.NeedInput().ListRoots("a").Elicit("b", form), `{"roots":{},"elicitation":{"form":{}}}`, `{"elicitation":{"form":{}},"roots":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := dial(t, asking(t, c.ask, server.Options{}), modern)
			w.want("tools/call", `"name":"x"`, `error -32021 {"requiredCapabilities":`+c.missing+`}`)
			w.caps = c.enough
			if m := w.call("tools/call", `"name":"x"`); member(t, m.Result, "resultType") != `"input_required"` {
				t.Errorf("want the question, got %s", m.Frame())
			}
		})
	}
	// Declaring one mode of elicitation takes the other back.
	w := dialWith(t, asking(t, mcp.NeedInput().Elicit("a", form), server.Options{}), modern, `{"elicitation":{"url":{}}}`)
	w.want("tools/call", `"name":"x"`, `error -32021 {"requiredCapabilities":{"elicitation":{"form":{}}}}`)
}

// On the legacy era the questions come as requests while the call waits. What looks like a modern retry is none.
func TestQuestionsOnTheLegacyEra(t *testing.T) {
	w := dialWith(t, asking(t, mcp.NeedInput().ListRoots("a").ListRoots("b"), server.Options{}), legacy, `{"roots":{}}`)
	for _, door := range doors {
		for _, forged := range []string{"", `,"inputResponses":{"a":{"roots":[]},"b":{"roots":[]}},"requestState":"x"`} {
			id := w.start(door[0], door[1]+forged)
			for range 2 {
				w.Reply(w.Expect(`{"id":"*","method":"roots/list"}`), `{"roots":[]}`)
			}
			if m := w.Next(); string(m.ID.Raw()) != fmt.Sprint(id) || plain(m) != door[2] {
				t.Errorf("%s: got %s", door[0], m.Frame())
			}
		}
	}
}

// refusedToAsk checks that a call was refused in the form of its method, for a reason.
func refusedToAsk(t *testing.T, method string, m *jsonrpc.Message, reason string) {
	t.Helper()
	said := ""
	if method == "tools/call" {
		said = string(m.Result)
	} else if m.Error != nil && m.Error.Code == -32603 {
		said = m.Error.Message
	}
	if !strings.Contains(said, "has to ask its client") || !strings.Contains(said, reason) || m.Error == nil && !strings.Contains(said, `"isError":true`) {
		t.Errorf("%s: want a refusal that says %q, got %s", method, reason, m.Frame())
	}
}

// A legacy client that cannot be asked is told why at once, before anything goes out.
func TestWhoCannotBeAsked(t *testing.T) {
	form := mcp.ElicitFormParams{Message: "m", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
	tools := mcp.CreateMessageParams{Tools: []mcp.Tool{{Name: "t"}}}
	const able = `{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`
	for _, c := range []struct {
		name, revision, caps string
		ask                  *mcp.InputRequired
		reason               string
	}{
		{"undeclared", legacy, `{"elicitation":{}}`, mcp.NeedInput().Elicit("a", form).ListRoots("b"), "roots"},
		{"undeclared page", legacy, `{"elicitation":{}}`, mcp.NeedInput().ElicitURL("a", mcp.ElicitURLParams{}), "url"},
		{"no forms", mcp.Version20250326, able, mcp.NeedInput().Elicit("a", form), "revision 2025-03-26 has no questions to the user"},
		{"no pages", mcp.Version20250618, able, mcp.NeedInput().ElicitURL("a", mcp.ElicitURLParams{}), "revision 2025-06-18 cannot send the user to a page"},
		{"no tools", mcp.Version20250618, able, mcp.NeedInput().CreateMessage("a", tools), "revision 2025-06-18 has no tools"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := dialWith(t, asking(t, c.ask, server.Options{}), c.revision, c.caps)
			for _, door := range doors {
				refusedToAsk(t, door[0], w.call(door[0], door[1]), c.reason)
			}
		})
	}
	// Before notifications/initialized the server sends no requests.
	w := &wire{Peer: connect(t, asking(t, mcp.NeedInput().ListRoots("a"), server.Options{})), t: t, revision: legacy}
	w.call("initialize", `"protocolVersion":"`+legacy+`","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}`)
	for _, door := range doors {
		refusedToAsk(t, door[0], w.call(door[0], door[1]), "it is in "+modern)
	}
}

// A question that was built wrongly is the server's fault and stands in the log.
func TestBrokenQuestions(t *testing.T) {
	for want, ask := range map[string]*mcp.InputRequired{
		"twice":         mcp.NeedInput().ListRoots("a").ListRoots("a"),
		"without":       mcp.NeedInput(),
		"example/ask":   mcp.NeedInput().Ask("a", "example/ask", nil),
		"form":          mcp.NeedInput().Elicit("a", mcp.ElicitFormParams{Message: "m", RequestedSchema: json.RawMessage(`{"type":"array"}`)}),
		"properties":    mcp.NeedInput().Elicit("a", mcp.ElicitFormParams{RequestedSchema: json.RawMessage(`{"type":"object"}`)}),
		"input request": mcp.NeedInput().Ask("a", mcp.MethodElicit, func() {}),
	} {
		var log bytes.Buffer
		s := asking(t, ask, server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		dialWith(t, s, modern, `{"roots":{},"elicitation":{}}`).want("tools/call", `"name":"x"`, "error -32603")
		if !strings.Contains(log.String(), want) {
			t.Errorf("want %q in the log, got %q", want, log.String())
		}
	}
}

// A handler can find out beforehand whether its questions would reach anybody.
func TestCanBeAsked(t *testing.T) {
	for _, revision := range mcp.Versions() {
		s := newServer(server.Options{})
		rawTool(t, s, "x", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
			if !r.CanBeAsked() {
				t.Errorf("%s: it cannot", revision)
			}
			if r.CanDeclare() != mcp.IsModern(revision) {
				t.Errorf("%s: its client declares with each request: %v", revision, r.CanDeclare())
			}
			return mcp.TextResult("seen"), nil
		})
		if m := dial(t, s, revision).call("tools/call", `"name":"x"`); m.Result == nil {
			t.Errorf("%s: %s", revision, m.Frame())
		}
	}
}

// Without a session, and without an event stream, there is no way to ask: the call fails at once.
func TestAskingOverHTTPWithoutAWay(t *testing.T) {
	s := asking(t, mcp.NeedInput().ListRoots("a"), server.Options{HTTP: server.HTTPOptions{Sessionless: true}})
	for _, door := range doors {
		_, body := postRaw(t, serve(t, s.Handler()), `{"jsonrpc":"2.0","id":1,"method":"`+door[0]+`","params":{`+door[1]+`}}`,
			http.Header{"Mcp-Protocol-Version": {legacy}})
		m, err := jsonrpc.Decode([]byte(body), nil)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		refusedToAsk(t, door[0], m, "needs a session")
	}

	s = asking(t, mcp.NeedInput().ListRoots("a"), server.Options{HTTP: server.HTTPOptions{JSONOnly: true}})
	url := serve(t, s.Handler())
	res, _ := postRaw(t, url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+legacy+
		`","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`, nil)
	session := http.Header{"Mcp-Protocol-Version": {legacy}, "Mcp-Session-Id": {res.Header.Get("Mcp-Session-Id")}}
	postRaw(t, url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	for _, door := range doors {
		_, body := postRaw(t, url, `{"jsonrpc":"2.0","id":2,"method":"`+door[0]+`","params":{`+door[1]+`}}`, session)
		m, err := jsonrpc.Decode([]byte(body), nil)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		refusedToAsk(t, door[0], m, "no way to ask")
	}
}
