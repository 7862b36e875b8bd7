package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

type createMessage func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error)

// samplers answers through the fake of each API.
func samplers(t *testing.T, script llmtest.Script) map[string]createMessage {
	t.Helper()
	one, other, third := httptest.NewServer(llmtest.OpenAI(script)), httptest.NewServer(llmtest.Anthropic(script)), httptest.NewServer(llmtest.Gemini(script))
	t.Cleanup(one.Close)
	t.Cleanup(other.Close)
	t.Cleanup(third.Close)
	return map[string]createMessage{
		"openai":                   (&openai.Sampler{Endpoint: llm.Endpoint{BaseURL: one.URL + "/v1", Key: "k"}, Model: "m"}).CreateMessage,
		"compatible":               (&openai.Sampler{Endpoint: llm.Endpoint{BaseURL: one.URL + "/v1/"}, Model: "m", MaxTokensName: "max_tokens"}).CreateMessage,
		"anthropic":                (&anthropic.Sampler{Endpoint: llm.Endpoint{BaseURL: other.URL, Key: "k"}, Model: "m"}).CreateMessage,
		"anthropic, newer version": (&anthropic.Sampler{Endpoint: llm.Endpoint{BaseURL: other.URL, Key: "k"}, Model: "m", Version: anthropic.Version2026}).CreateMessage,
		"gemini":                   (&gemini.Sampler{Endpoint: llm.Endpoint{BaseURL: third.URL + "/v1beta", Key: "k"}, Model: "gemini-3-pro"}).CreateMessage,
		"gemini, older model":      (&gemini.Sampler{Endpoint: llm.Endpoint{BaseURL: third.URL + "/v1beta"}, Model: "models/gemini-2.5-flash", Older: true}).CreateMessage,
	}
}

// TestSamplingWithTools has a server of each era ask the client's model, which calls a tool of the server first.
func TestSamplingWithTools(t *testing.T) {
	script := func(r llmtest.Request) llmtest.Turn {
		if r.Turn == 0 {
			return llmtest.Turn{Text: "Looking.", Calls: []llm.Call{{Name: r.Tools[0], Args: json.RawMessage(`{"h":"Bergen"}`)}}}
		}
		return llmtest.Turn{Text: "It says " + fmt.Sprint(strings.Contains(r.Results[0], "sensor down"))}
	}
	half := 0.5
	s := server.New(mcp.Implementation{Name: "tides", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		p := mcp.CreateMessageParams{MaxTokens: 200, SystemPrompt: "Short.", Temperature: &half, StopSequences: []string{"END", " "},
			Tools: []mcp.Tool{{Name: "tide.now", InputSchema: json.RawMessage(`{"type":"object","properties":{"h":{"type":"string"}}}`)}}}
		p.Messages = []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("Tide in Bergen?")}}}
		first, err := req.CreateMessage(ctx, p)
		if err != nil {
			return "", err
		}
		uses := first.ToolUses()
		if first.StopReason != mcp.StopToolUse || len(uses) != 1 || uses[0].Name != "tide.now" || string(uses[0].Input) != `{"h":"Bergen"}` {
			return "", fmt.Errorf("the model said %+v", first)
		}
		p.Messages = append(p.Messages, mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: first.Content},
			mcp.SamplingMessage{Role: mcp.RoleUser, Content: []mcp.Content{&mcp.ToolResultContent{ToolUseID: uses[0].ID, IsError: true, Content: []mcp.Content{mcp.Text("sensor down"), mcp.Image("image/png", png)}}}})
		p.ToolChoice = &mcp.ToolChoice{Mode: mcp.ToolChoiceNone}
		second, err := req.CreateMessage(ctx, p)
		if err != nil {
			return "", err
		}
		return second.Text() + " " + second.StopReason + " " + second.Model, nil
	})
	for name, answer := range samplers(t, script) {
		for _, mode := range []client.Mode{client.Modern, client.Legacy} {
			t.Run(fmt.Sprintf("%s/%d", name, mode), func(t *testing.T) {
				c := mcptest.Pair(t, s, client.Options{Mode: mode, CreateMessage: answer, SamplingTools: true})
				r, err := c.CallTool(t.Context(), "ask", nil)
				if err != nil || r.Text() != "It says true endTurn fake-1" {
					t.Errorf("%v, %+v", err, r)
				}
			})
		}
	}
}

// TestSamplingContent shows what goes to the model of other content, and what is refused.
func TestSamplingContent(t *testing.T) {
	ask := func(blocks ...mcp.Content) *client.SamplingRequest {
		return &client.SamplingRequest{CreateMessageParams: mcp.CreateMessageParams{MaxTokens: 10, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: blocks}}}}
	}
	for name, answer := range samplers(t, func(r llmtest.Request) llmtest.Turn {
		return llmtest.Turn{Stop: map[bool]string{true: "length"}[strings.Contains(string(r.Raw), "cut")]}
	}) {
		r, err := answer(t.Context(), ask(mcp.Text("see"), mcp.Image("image/png", png)))
		if err != nil || r.Text() != "" || len(r.Content) != 1 {
			t.Errorf("%s: a model that says nothing: %v, %+v", name, err, r)
		}
		_, err = answer(t.Context(), ask(mcp.Audio("audio/wav", []byte("RIFF"))))
		if refused := err != nil; refused != strings.HasPrefix(name, "anthropic") || refused && mcp.CodeOf(err) != mcp.CodeInvalidParams {
			t.Errorf("%s: a sound: %v", name, err)
		}
		if _, err = answer(t.Context(), ask(mcp.Image("image/tiff", []byte("II")))); mcp.CodeOf(err) != mcp.CodeInvalidParams {
			t.Errorf("%s: a picture no model takes: %v", name, err)
		}
		bad := ask(mcp.Text("x"))
		bad.Tools = []mcp.Tool{{Name: "t", InputSchema: json.RawMessage(`{"type":"array"}`)}}
		if _, err = answer(t.Context(), bad); mcp.CodeOf(err) != mcp.CodeInvalidParams || !strings.Contains(err.Error(), `"t"`) {
			t.Errorf("%s: a tool that cannot be offered: %v", name, err)
		}
	}
	cut := samplers(t, func(llmtest.Request) llmtest.Turn {
		return llmtest.Turn{Text: "half", Calls: []llm.Call{{Name: "t", Args: json.RawMessage(`{}`)}}, Stop: "length"}
	})["openai"]
	if r, err := cut(t.Context(), ask(mcp.Text("x"))); err != nil || r.StopReason != mcp.StopMaxTokens || len(r.ToolUses()) != 0 {
		t.Errorf("an answer that was cut off: %v, %+v", err, r)
	}
	wild := samplers(t, func(llmtest.Request) llmtest.Turn {
		return llmtest.Turn{Calls: []llm.Call{{Name: "other", Args: json.RawMessage(`{}`)}}}
	})
	for name, answer := range wild {
		if _, err := answer(t.Context(), ask(mcp.Text("x"))); err == nil || !strings.Contains(err.Error(), "not offered") {
			t.Errorf("%s: a call of what was not offered: %v", name, err)
		}
	}
}

// TestSamplingNeedsConsent holds that a hook may refuse before anything is sent, and before anything goes back.
func TestSamplingNeedsConsent(t *testing.T) {
	sent := 0
	web := httptest.NewServer(llmtest.OpenAI(func(llmtest.Request) llmtest.Turn { sent++; return llmtest.Turn{Text: "secret"} }))
	defer web.Close()
	req := &client.SamplingRequest{CreateMessageParams: mcp.CreateMessageParams{MaxTokens: 9000, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("x")}}}}}
	s := &openai.Sampler{Endpoint: llm.Endpoint{BaseURL: web.URL + "/v1"}, Model: "m"}
	s.Approve = func(context.Context, *client.SamplingRequest) error { return client.ErrUserRejected }
	if _, err := s.CreateMessage(t.Context(), req); !errors.Is(err, client.ErrUserRejected) || sent != 0 {
		t.Errorf("%v, sent %d times", err, sent)
	}
	s.Approve = nil
	s.Review = func(_ context.Context, _ *client.SamplingRequest, answer *mcp.CreateMessageResult) error {
		if answer.Text() == "secret" {
			return client.ErrUserRejected
		}
		return nil
	}
	if _, err := s.CreateMessage(t.Context(), req); !errors.Is(err, client.ErrUserRejected) || sent != 1 {
		t.Errorf("%v, sent %d times", err, sent)
	}
}

// TestEndpointsKeepTheKey holds that no error and no printed form holds the key, and that an endpoint is bounded.
func TestEndpointsKeepTheKey(t *testing.T) {
	const key = "sk-very-secret"
	behave := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil { // only then the end of the connection is seen
			t.Error(err)
		}
		switch r.URL.Path {
		case "/echo":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, `{"error":{"message":"wrong key %s"}}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		case "/away":
			http.Redirect(w, r, "/stolen", http.StatusTemporaryRedirect)
		case "/stolen":
			t.Error("a redirect was followed with the key")
		case "/large":
			fmt.Fprint(w, `"`+strings.Repeat("x", 2000)+`"`)
		case "/page":
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "<html>{")
		case "/slow":
			<-r.Context().Done()
		default:
			fmt.Fprint(w, "no JSON")
		}
	})
	web := httptest.NewServer(behave)
	defer web.Close()
	e := llm.Endpoint{BaseURL: web.URL, Key: key, MaxBytes: 1000, Timeout: 200 * time.Millisecond}
	auth := http.Header{"Authorization": {"Bearer " + key}}
	for path, want := range map[string]string{
		"/echo": "status 429: wrong key (key)", "/away": "status 307", "/large": "more than 1000 bytes", "/page": "status 502", "/slow": "no answer came", "/text": "no JSON",
	} {
		_, err := e.Post(t.Context(), path, auth, []byte("{}"))
		var told *llm.EndpointError
		if !errors.As(err, &told) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if path == "/echo" && (told == nil || told.Wait != 7*time.Second) {
			t.Errorf("the wait is not read: %+v", told)
		}
		if path == "/slow" && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not tell of the deadline", err)
		}
	}
	unreachable := llm.Endpoint{BaseURL: "http://user:" + key + "@127.0.0.1:1/?key=" + key, Key: key}
	if _, err := unreachable.Post(t.Context(), "/", nil, nil); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("%v", err)
	}
	s := openai.Sampler{Endpoint: unreachable}
	raw, err := json.Marshal(unreachable.Key)
	if err != nil || len(raw) == 0 {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%v %+v %#v %s %+v", unreachable, unreachable, unreachable, unreachable, s) + slog.AnyValue(unreachable).Resolve().String()
	if strings.Contains(printed, key) {
		t.Errorf("printed: %s", printed)
	}
}

// TestContext shows resources and prompts as messages of each API.
func TestContext(t *testing.T) {
	parts := llm.ResourceParts(&mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("n:1", "text/plain", "low tide"), mcp.BlobResource("n:2", "image/png", png)}}, llm.Options{})
	messages := append(llm.PromptMessages(&mcp.GetPromptResult{Messages: []mcp.PromptMessage{
		mcp.UserMessage(mcp.Text("What now?")), mcp.UserMessage(&mcp.EmbeddedResource{Resource: mcp.TextResource("n:3", "", "x")}), mcp.AssistantMessage(mcp.Text("Wait.")),
	}}, llm.Options{}), llm.Message{Role: mcp.RoleUser, Parts: parts})
	if len(messages) != 3 || len(messages[0].Parts) != 2 {
		t.Fatalf("%+v", messages)
	}
	got := string(openai.ChatMessages(messages...)[0]) + string(openai.ChatMessages(messages...)[1]) + string(anthropic.ContextMessages(messages...)[2])
	want := `{"role":"user","content":"What now?\n[resource n:3]\nx"}{"role":"assistant","content":"Wait."}` +
		`{"role":"user","content":[{"type":"text","text":"[resource n:1]\nlow tide"},{"source":{"data":"iVBORw0KGgowMDAw","media_type":"image/png","type":"base64"},"type":"image"}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, a := range apis[3:5] {
		web := httptest.NewServer(a.fake(func(r llmtest.Request) llmtest.Turn { return llmtest.Turn{Text: r.Asked} }))
		set := bind(t, &fake{}, llm.Options{})
		var all []json.RawMessage
		if a.name == "anthropic" {
			all = anthropic.ContextMessages(messages...)
		}
		post(t, web.URL+a.path, a.request(set, all))
		web.Close()
	}
}
