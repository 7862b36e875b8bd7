package server_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

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
		const want = `{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","message":"visit <us>","url":"https://example.com"}},"b":{"method":"roots/list"}}}`
		if plain(m) != want || member(t, m.Result, "resultType") != `"input_required"` {
			t.Errorf("%s: want %s, got %s", door[0], want, m.Result)
		}
		if member(t, m.Result, "ttlMs") != "" {
			t.Errorf("%s: a question carries a cache hint: %s", door[0], m.Result)
		}
		w.want(door[0], door[1]+`,"inputResponses":{"b":{"roots":[]},"a":{"action":"accept"}}`, door[2])
		w.want(door[0], door[1]+`,"inputResponses":[]`, "error -32602")
		w.want(door[0], door[1]+`,"inputResponses":{},"requestState":"made up"`, `error -32602 {"reason":"invalid_request_state"}`)
		w.want(door[0], door[1]+`,"requestState":{}`, "error -32602")
	}
	w.want("completion/complete", `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}`, "error -32603")
	w.want("example/x", ``, "error -32603")
}

// Nothing is asked that the request does not say it can answer.
func TestCapabilitiesOfQuestions(t *testing.T) {
	form := mcp.ElicitFormParams{Message: "m"}
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

// A client whose revision has no rounds is told so in plain words.
func TestQuestionsOnTheLegacyEra(t *testing.T) {
	w := dialWith(t, asking(t, mcp.NeedInput().ListRoots("a"), server.Options{}), legacy, `{"roots":{}}`)
	for _, door := range doors {
		m := w.call(door[0], door[1])
		if plain(m) != "error -32603" || !strings.Contains(m.Error.Message, "has to ask its client") || !strings.Contains(m.Error.Message, modern) {
			t.Errorf("%s: want an honest refusal, got %s", door[0], m.Frame())
		}
		m = w.call(door[0], door[1]+`,"inputResponses":{"a":{}},"requestState":"x"`) // members of the other era are nobody's answer
		if plain(m) != "error -32603" {
			t.Errorf("%s: forged answers were taken: %s", door[0], m.Frame())
		}
	}
}

// A question that was built wrongly is the server's fault and stands in the log.
func TestBrokenQuestions(t *testing.T) {
	for want, ask := range map[string]*mcp.InputRequired{
		"twice":         mcp.NeedInput().ListRoots("a").ListRoots("a"),
		"without":       mcp.NeedInput(),
		"example/ask":   mcp.NeedInput().Ask("a", "example/ask", nil),
		"state":         mcp.NeedInput().WithState("s"),
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
			if r.CanBeAsked() != mcp.IsModern(revision) {
				t.Errorf("%s: %v", revision, r.CanBeAsked())
			}
			return mcp.TextResult("seen"), nil
		})
		if m := dial(t, s, revision).call("tools/call", `"name":"x"`); m.Result == nil {
			t.Errorf("%s: %s", revision, m.Frame())
		}
	}
}
