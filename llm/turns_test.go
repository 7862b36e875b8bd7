package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

var png = []byte("\x89PNG\r\n\x1a\n0000")

// odd are tools that break careless bridges, each with the arguments a model gives in the words of the portable schema.
var odd = []struct {
	name, schema string
	result       *mcp.CallToolResult
}{
	{"no.arguments", `{"type":"object"}`, mcp.TextResult("fine")},
	{"2fa-reset", `{"type":"object"}`, &mcp.CallToolResult{}},
	{"a.b", `{"type":"object"}`, mcp.TextResult("dot")},
	{"a_b", `{"type":"object"}`, mcp.TextResult("line")},
	{strings.Repeat("long", 32), `{"type":"object"}`, mcp.TextResult("long")},
	{"root-union", `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}}}]}`, mcp.TextResult("union")},
	{"tree", `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}},"leaf":{"$ref":"#/definitions/leaf"}},"definitions":{"leaf":{"type":"string","pattern":"^l"}}}`, mcp.TextResult("tree")},
	{"open-map", `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}}}`, mcp.TextResult("map")},
	{"default", `{"type":"object","properties":{"d":{"type":"integer","default":3,"exclusiveMinimum":0}}}`, mcp.TextResult("default")},
	{"tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"t":{"type":"array","items":[{"type":"string"},{"type":"number"}]},"u":{"type":"array"}}}`, mcp.TextResult("tuple")},
	{"booleans", `{"type":"object","properties":{"yes":true,"properties":{"type":["string","null"]},"required":{"const":"x"}}}`, mcp.TextResult("booleans")},
	{"umlaut", `{"type":"object","properties":{"größe":{"type":"string"}}}`, mcp.TextResult("umlaut")},
	{"null-only", `{"type":"object"}`, &mcp.CallToolResult{StructuredContent: json.RawMessage(`null`)}},
	{"zero-only", `{"type":"object"}`, &mcp.CallToolResult{StructuredContent: json.RawMessage(`0`)}},
	{"object-only", `{"type":"object"}`, &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"n":12345678901234567890}`)}},
	{"error-with-image", `{"type":"object"}`, &mcp.CallToolResult{IsError: true, Content: []mcp.Content{mcp.Text("broken"), mcp.Image("image/png", png)}}},
	{"every-kind", `{"type":"object"}`, &mcp.CallToolResult{Content: []mcp.Content{
		mcp.Text("all"), mcp.Text(" "), mcp.Image("image/PNG; x=y", png), mcp.Image("image/tiff", []byte("II*")), mcp.Audio("audio/wav", []byte("RIFF")),
		&mcp.ResourceLink{URI: "file:///etc/passwd", Name: "link", MIMEType: "text/plain"},
		&mcp.EmbeddedResource{Resource: mcp.TextResource("r:1", "text/plain", "inside")},
		&mcp.EmbeddedResource{Resource: mcp.BlobResource("r:a/b.pdf", "application/pdf", []byte("%PDF-"))},
		&mcp.EmbeddedResource{Resource: mcp.BlobResource("r:3", "application/json", []byte(`{"k":1}`))},
		&mcp.EmbeddedResource{Resource: mcp.BlobResource("r:4", "application/zip", []byte("PK"))},
	}}},
}

// oddSource lists the odd tools as a server that does not care would.
type oddSource struct{}

func (oddSource) ListTools(context.Context) ([]llm.Listed, error) {
	var all []llm.Listed
	for _, t := range odd {
		all = append(all, llm.Listed{Tool: mcp.Tool{Name: t.name, Description: "Does " + t.name, InputSchema: json.RawMessage(t.schema)}})
	}
	return all, nil
}

func (oddSource) CallTool(_ context.Context, _, tool string, _ json.RawMessage) (*mcp.CallToolResult, error) {
	for _, t := range odd {
		if t.name == tool {
			return t.result, nil
		}
	}
	return nil, mcp.InvalidParams("there is no tool %q", tool)
}

// api is one API: its fake, and one turn of a conversation over it.
type api struct {
	name    string
	profile llm.Profile
	fake    func(llmtest.Script) http.Handler
	path    string
	request func(set *llm.Set, conversation []json.RawMessage) any
	turn    func(answer json.RawMessage, set *llm.Set, run func([]llm.Call) []llm.Result) (add []json.RawMessage, calls int, err error)
}

func raws(one ...json.RawMessage) []json.RawMessage { return one }

var apis = []api{
	{"openai chat", openai.Chat(), llmtest.OpenAI, "/v1/chat/completions",
		func(set *llm.Set, c []json.RawMessage) any {
			return map[string]any{"model": "m", "messages": append(raws(json.RawMessage(`{"role":"user","content":"go"}`)), c...), "tools": openai.ChatTools(set)}
		},
		func(answer json.RawMessage, _ *llm.Set, run func([]llm.Call) []llm.Result) ([]json.RawMessage, int, error) {
			message, err := openai.Message(answer)
			if err != nil {
				return nil, 0, err
			}
			calls, err := openai.ChatCalls(message)
			return append(raws(message), openai.ChatResults(run(calls))...), len(calls), err
		}},
	{"openai compatible", openai.Compatible(), llmtest.OpenAI, "/v1/chat/completions",
		func(set *llm.Set, c []json.RawMessage) any {
			return map[string]any{"model": "m", "messages": append(raws(json.RawMessage(`{"role":"user","content":"go"}`)), c...), "tools": openai.ChatTools(set)}
		},
		func(answer json.RawMessage, _ *llm.Set, run func([]llm.Call) []llm.Result) ([]json.RawMessage, int, error) {
			message, err := openai.Message(answer)
			if err != nil {
				return nil, 0, err
			}
			calls, err := openai.ChatCalls(message)
			return append(raws(message), openai.CompatibleResults(run(calls))...), len(calls), err
		}},
	{"openai responses", openai.Responses(), llmtest.OpenAI, "/v1/responses",
		func(set *llm.Set, c []json.RawMessage) any {
			return map[string]any{"model": "m", "input": append(raws(json.RawMessage(`{"role":"user","content":"go"}`)), c...), "tools": openai.ResponseTools(set)}
		},
		func(answer json.RawMessage, _ *llm.Set, run func([]llm.Call) []llm.Result) ([]json.RawMessage, int, error) {
			output, _ := mcp.Member(answer, "output")
			var items []json.RawMessage
			if err := json.Unmarshal(output, &items); err != nil {
				return nil, 0, err
			}
			calls, err := openai.ResponseCalls(output)
			return append(items, openai.ResponseResults(run(calls))...), len(calls), err
		}},
	{"anthropic", anthropic.Messages(), llmtest.Anthropic, "/v1/messages",
		func(set *llm.Set, c []json.RawMessage) any {
			return map[string]any{"model": "m", "max_tokens": 100, "messages": append(raws(json.RawMessage(`{"role":"user","content":"go"}`)), c...), "tools": anthropic.CachedTools(set)}
		},
		func(answer json.RawMessage, _ *llm.Set, run func([]llm.Call) []llm.Result) ([]json.RawMessage, int, error) {
			message, err := anthropic.Message(answer)
			if err != nil {
				return nil, 0, err
			}
			calls, err := anthropic.Calls(answer)
			if len(calls) == 0 {
				return raws(message), 0, err
			}
			return raws(message, anthropic.Results(run(calls))), len(calls), err
		}},
	{"gemini", gemini.GenerateContent(), llmtest.Gemini, "/v1beta/models/gemini-3-pro:generateContent", geminiRequest,
		func(answer json.RawMessage, _ *llm.Set, run func([]llm.Call) []llm.Result) ([]json.RawMessage, int, error) {
			return geminiTurn(answer, run, gemini.Results)
		}},
	{"gemini older", gemini.Older(), llmtest.Gemini, "/v1beta/models/gemini-2.5-flash:generateContent", geminiRequest,
		func(answer json.RawMessage, _ *llm.Set, run func([]llm.Call) []llm.Result) ([]json.RawMessage, int, error) {
			return geminiTurn(answer, run, gemini.OlderResults)
		}},
}

func geminiRequest(set *llm.Set, c []json.RawMessage) any {
	return map[string]any{"contents": append(raws(json.RawMessage(`{"role":"user","parts":[{"text":"go"}]}`)), c...), "tools": gemini.Tools(set)}
}

func geminiTurn(answer json.RawMessage, run func([]llm.Call) []llm.Result, write func([]llm.Result) json.RawMessage) ([]json.RawMessage, int, error) {
	content, err := gemini.Content(answer)
	if err != nil {
		return nil, 0, err
	}
	calls, err := gemini.Calls(content)
	if len(calls) == 0 {
		return raws(content), 0, err
	}
	return raws(content, write(run(calls))), len(calls), err
}

func post(t *testing.T, url string, body any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("anthropic-version", anthropic.Version2023)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the endpoint refuses: %s\n%s", answer, raw)
	}
	return answer
}

// TestOddToolsOverEveryAPI offers the odd tools, has the model call all of them at once, and an unknown one besides, and
// sends the results: no endpoint refuses anything, strict or not, and every call has its one result in its place.
func TestOddToolsOverEveryAPI(t *testing.T) {
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) { oddTools(t, a, nil) })
		t.Run(a.name+", strict", func(t *testing.T) { oddTools(t, a, []string{"*"}) })
	}
}

func oddTools(t *testing.T, a api, strict []string) {
	t.Helper()
	set := bind(t, oddSource{}, llm.Options{Profile: a.profile, Strict: strict})
	if skipped := set.Skipped(); skipped != nil {
		t.Fatalf("left out: %v", skipped)
	}
	var results []string
	web := httptest.NewServer(a.fake(func(r llmtest.Request) llmtest.Turn {
		if r.Turn > 0 {
			results = slices.Clone(r.Results)
			return llmtest.Turn{Text: "done"}
		}
		turn := llmtest.Turn{}
		for i, name := range append(r.Tools, "nowhere") {
			args := `{}`
			if strings.HasPrefix(name, "root-union") {
				args = `{"a":"x"}`
			}
			turn.Calls = append(turn.Calls, llm.Call{ID: fmt.Sprintf("id_%d", i), Name: name, Args: json.RawMessage(args)})
		}
		return turn
	}))
	defer web.Close()
	var talk []json.RawMessage
	for range 2 {
		answer := post(t, web.URL+a.path, a.request(set, talk))
		add, _, err := a.turn(answer, set, func(c []llm.Call) []llm.Result { return set.InvokeAll(t.Context(), c) })
		if err != nil {
			t.Fatal(err)
		}
		talk = append(talk, add...)
	}
	if len(results) != len(odd)+1 {
		t.Fatalf("%d results for %d calls", len(results), len(odd)+1)
	}
	for i, want := range []string{"fine", "(no output)", "dot", "line", "long", "union", "tree", "map", "default", "tuple", "booleans", "umlaut", "null", "0", "12345678901234567890", "broken", "inside", "There is no tool"} {
		if !strings.Contains(results[i], want) {
			t.Errorf("result %d lacks %q: %s", i, want, results[i])
		}
	}
	if all := strings.Join(results, ""); strings.Contains(all, "SUkq") { // the picture no API takes, in base64
		t.Error("bytes that the API does not take were sent")
	}
}

// TestErrorsCarryTheMarkOfEachAPI shows how a failed call is told: by a flag where there is one, by a prefix elsewhere.
func TestErrorsCarryTheMarkOfEachAPI(t *testing.T) {
	r := []llm.Result{{ID: "c1", Name: "t", IsError: true, Parts: []llm.Part{{Kind: llm.TextPart, Text: "no tide"}}}}
	for _, tc := range []struct{ name, got, want string }{
		{"chat", string(openai.ChatResults(r)[0]), `{"role":"tool","content":"Error: no tide","tool_call_id":"c1"}`},
		{"responses", string(openai.ResponseResults(r)[0]), `{"type":"function_call_output","call_id":"c1","output":"Error: no tide"}`},
		{"anthropic", string(anthropic.Results(r)), `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"no tide"}],"is_error":true}]}`},
		{"gemini", string(gemini.Results(r)), `{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"t","response":{"error":"no tide"}}}]}`},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got  %s\nwant %s", tc.name, tc.got, tc.want)
		}
	}
}

// TestMediaGoesWhereEachAPITakesIt shows one result with a picture and a sound in every shape.
func TestMediaGoesWhereEachAPITakesIt(t *testing.T) {
	r := []llm.Result{{ID: "c1", Name: "hum", Parts: []llm.Part{
		{Kind: llm.TextPart, Text: "ok"}, {Kind: llm.AudioPart, MIME: "audio/wav", Data: []byte("RIFF")}, {Kind: llm.ImagePart, MIME: "image/png", Data: []byte("PNG")},
	}}}
	join := func(all []json.RawMessage) string { return string(bytes.Join(asBytes(all), []byte(" "))) }
	for _, tc := range []struct{ name, got, want string }{
		{"chat", join(openai.ChatResults(r)), `{"role":"tool","content":"ok\n[audio/wav, 4 B, attached below]\n[image/png, 3 B, attached below]","tool_call_id":"c1"} ` +
			`{"role":"user","content":[{"type":"text","text":"Output of hum (c1):"},{"input_audio":{"data":"UklGRg==","format":"wav"},"type":"input_audio"},{"image_url":{"url":"data:image/png;base64,UE5H"},"type":"image_url"}]}`},
		{"compatible", join(openai.CompatibleResults(r)), `{"role":"tool","content":"ok\n[audio/wav, 4 B, not shown]\n[image/png, 3 B, not shown]","tool_call_id":"c1"}`},
		{"responses", join(openai.ResponseResults(r)), `{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"ok"},{"type":"input_text","text":"[audio/wav, 4 B, not shown]"},{"detail":"auto","image_url":"data:image/png;base64,UE5H","type":"input_image"}]}`},
		{"anthropic", string(anthropic.Results(r)), `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"ok"},{"type":"text","text":"[audio/wav, 4 B, not shown]"},{"source":{"data":"UE5H","media_type":"image/png","type":"base64"},"type":"image"}]}]}`},
		{"gemini", string(gemini.Results(r)), `{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"hum","response":{"output":"ok\n[audio 1]\n[image 1]"},"parts":[{"inlineData":{"data":"UklGRg==","mimeType":"audio/wav"}},{"inlineData":{"data":"UE5H","mimeType":"image/png"}}]}}]}`},
		{"gemini older", string(gemini.OlderResults(r)), `{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"hum","response":{"output":"ok\n[audio/wav, 4 B, not shown]\n[image/png, 3 B, not shown]"}}}]}`},
	} {
		if tc.got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, tc.got, tc.want)
		}
	}
}

func asBytes(all []json.RawMessage) [][]byte {
	var out [][]byte
	for _, r := range all {
		out = append(out, r)
	}
	return out
}

// TestCallsAreReadLeniently shows what endpoints send besides what they should.
func TestCallsAreReadLeniently(t *testing.T) {
	for _, tc := range []struct {
		name string
		read func() ([]llm.Call, error)
		want string
	}{
		{"parallel", func() ([]llm.Call, error) {
			return openai.ChatCalls(json.RawMessage(`{"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{\"n\":1}"}},{"id":"b","type":"function","function":{"name":"t","arguments":""}}]}`))
		}, `[a t {"n":1}] [b t ]`},
		{"an object instead of a string, no id", func() ([]llm.Call, error) {
			return openai.ChatCalls(json.RawMessage(`{"content":null,"tool_calls":[{"function":{"name":"t","arguments":{"n":1}}}]}`))
		}, `[call_0 t {"n":1}]`},
		{"no calls", func() ([]llm.Call, error) {
			return openai.ChatCalls(json.RawMessage(`{"content":"hi","tool_calls":null}`))
		}, ``},
		{"a custom tool", func() ([]llm.Call, error) {
			return openai.ChatCalls(json.RawMessage(`{"tool_calls":[{"id":"a","type":"custom","custom":{"name":"t","input":"x"}}]}`))
		}, `[a t "x"]`},
		{"responses", func() ([]llm.Call, error) {
			return openai.ResponseCalls(json.RawMessage(`[{"type":"reasoning"},{"type":"function_call","id":"fc_1","call_id":"a","name":"t","arguments":"{}"},{"type":"message"}]`))
		}, `[a t {}]`},
		{"anthropic", func() ([]llm.Call, error) {
			return anthropic.Calls(json.RawMessage(`{"content":[{"type":"thinking","signature":"s"},{"type":"tool_use","id":"a","name":"t","input":{}}]}`))
		}, `[a t {}]`},
		{"gemini without ids", func() ([]llm.Call, error) {
			return gemini.Calls(json.RawMessage(`{"role":"model","parts":[{"functionCall":{"name":"t"},"thoughtSignature":"x"},{"text":"and"},{"functionCall":{"name":"u","args":{"n":3.0}}}]}`))
		}, `[ t ] [ u {"n":3.0}]`},
	} {
		calls, err := tc.read()
		var got []string
		for _, c := range calls {
			got = append(got, fmt.Sprintf("[%s %s %s]", c.ID, c.Name, c.Args))
		}
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, got %s, want %s", tc.name, err, got, tc.want)
		}
	}
	with, err := openai.WithIDs(json.RawMessage(`{"role":"assistant","tool_calls":[{"function":{"name":"t"},"extra_content":{"g":1}}],"x":1}`))
	if want := `{"role":"assistant","tool_calls":[{"function":{"name":"t"},"extra_content":{"g":1},"id":"call_0"}],"x":1}`; err != nil || string(with) != want {
		t.Errorf("%v, got %s, want %s", err, with, want)
	}
}

// library is a server with a few plain tools.
func library(t *testing.T) *server.Server {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "library", Version: "1"}, server.Options{})
	type query struct {
		Title string `json:"title"`
	}
	server.AddTool(s, mcp.Tool{Name: "find.book", Title: "Find a book", Description: "Finds a book by its title"}, func(_ context.Context, _ *server.Request, in query) (string, error) {
		if in.Title == "" {
			return "", fmt.Errorf("no title")
		}
		return "shelf 7: " + in.Title, nil
	})
	server.AddTool(s, mcp.Tool{Name: "lend", Description: "Lends a book"}, func(context.Context, *server.Request, struct{}) (string, error) { return "lent", nil })
	return s
}

// TestServersOverEveryWire runs a call of each API through a client on every wire.
func TestServersOverEveryWire(t *testing.T) {
	s := library(t)
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			source := llm.Client(wire.Dial(t, s))
			for _, a := range apis {
				set, err := llm.Tools(t.Context(), source, llm.Options{Profile: a.profile})
				if err != nil {
					t.Fatal(err)
				}
				name := set.Tools()[0].Name
				r := set.InvokeAll(t.Context(), []llm.Call{
					{ID: "1", Name: name, Args: json.RawMessage(`{"title":"Emma"}`)},
					{ID: "2", Name: name, Args: json.RawMessage(`{"title":""}`)},
					{ID: "3", Name: name, Args: json.RawMessage(`{"title":7}`)},
				})
				if r[0].Text() != "shelf 7: Emma" || r[0].IsError || !r[1].IsError || r[1].Text() != "no title" || !r[2].IsError || !strings.Contains(r[2].Text(), "/title") {
					t.Errorf("%s: %+v", a.name, r)
				}
			}
		})
	}
}
