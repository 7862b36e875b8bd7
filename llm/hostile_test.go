package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// echo is a source of one tool that answers with its arguments.
func echo(schema string) *fake {
	return &fake{tools: []llm.Listed{{Tool: mcp.Tool{Name: "t", InputSchema: json.RawMessage(schema)}}}, call: func(_, _ string, args json.RawMessage) (*mcp.CallToolResult, error) {
		return mcp.TextResult(string(args)), nil
	}}
}

// TestHostileArguments gives a tool whatever a model may write. What runs, runs with the bytes that were written; what does
// not is told in few words.
func TestHostileArguments(t *testing.T) {
	set := bind(t, echo(`{"type":"object","properties":{"n":{"type":"integer"},"o":{"type":"object"}}}`), llm.Options{})
	large := `{"x":"` + strings.Repeat("x", 200_000) + `"}`
	for _, tc := range []struct{ args, want string }{ // want is "" where the arguments go through as they are
		{`{"n":12345678901234567890123}`, ``},
		{`{"n":1e2, "x":[1e400,-0,1.50]}`, ``},
		{`{"x":"\ud83d\ude00\u0000"}`, ``},
		{`{"constructor":{"__proto__":1}}`, ``},
		{`{"n":1e400}`, ``},
		{`{"n":1.5}`, "/n"},
		{`{"n":NaN}`, "no valid JSON"},
		{`{"n":Infinity}`, "no valid JSON"},
		{`{"n":01}`, "no valid JSON"},
		{`{"n":1,}`, "no valid JSON"},
		{`{'n':1}`, "no valid JSON"},
		{`{"n":1}{"n":2}`, "no valid JSON"},
		{"{\"x\":\"\xff\"}", "no valid JSON"},
		{`{"x":"\ud800"}`, "no valid JSON"},
		{`{"n":1,"\u006e":2}`, "no valid JSON"},
		{`{"o":{"a":1,"a":2}}`, "no valid JSON"},
		{"```json\n{\"n\":1}\n```", "no valid JSON"},
		{`"{\"n\":1}"`, "must be one JSON object"},
		{`"\"{}\""`, "must be one JSON object"},
		{`[{"n":1}]`, "must be one JSON object"},
		{`true`, "must be one JSON object"},
		{`0`, "must be one JSON object"},
		{`{"o":"{}"}`, "/o"},
		{`{"x":` + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) + `}`, "no valid JSON"},
		{strings.Repeat(`{"n":`, 100_000), "no valid JSON"},
		{`{"o":"` + strings.Repeat("x", 10<<20) + `"}`, "/o"},
	} {
		r := set.Invoke(t.Context(), llm.Call{Name: "t", Args: json.RawMessage(tc.args)})
		switch {
		case tc.want == "" && (r.IsError || r.Text() != tc.args):
			t.Errorf("%.80s: %.200s", tc.args, r.Text())
		case tc.want != "" && (!r.IsError || !strings.Contains(r.Text(), tc.want) || len(r.Text()) > 3000):
			t.Errorf("%.80s: %t, %.200s, want %s", tc.args, r.IsError, r.Text(), tc.want)
		}
	}
	if r := set.Invoke(t.Context(), llm.Call{Name: "t", Args: json.RawMessage(large)}); r.IsError || r.Text() != large {
		t.Errorf("large arguments: %.100s", r.Text())
	}
	if r := set.Invoke(t.Context(), llm.Call{Name: strings.Repeat("x", 1<<20)}); !r.IsError || len(r.Text()) > 300 {
		t.Errorf("a name of 1 MiB: %d bytes", len(r.Text()))
	}
}

// TestArgumentsAreCheckedUnderAnySchema holds that arguments are checked also where the listed schema is of a kind that
// cannot be compiled as it is.
func TestArgumentsAreCheckedUnderAnySchema(t *testing.T) {
	for name, schema := range map[string]string{
		"draft-04":          `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true}},"required":["n"]}`,
		"unknown dialect":   `{"$schema":"https://example.com/own","type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`,
		"foreign patterns":  `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"p":{"type":"string","pattern":"^(?!x)"}},"patternProperties":{"^(?!x)":{}},"required":["n"]}`,
		"a remote schema":   `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"r":{"$ref":"https://example.com/s"}},"required":["n"]}`,
		"a broken keyword":  `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":"9"}},"required":["n"]}`,
		"a type of its own": `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"d":{"type":"date"}},"required":["n"]}`,
	} {
		for _, a := range alphabets {
			set := bind(t, echo(schema), llm.Options{Profile: a.profile})
			if set.Skipped() != nil {
				t.Errorf("%s, %s: left out %v", name, a.profile.API, set.Skipped())
				continue
			}
			if r := set.Invoke(t.Context(), llm.Call{Name: "t", Args: json.RawMessage(`{"n":1,"p":"y","r":[],"d":"x"}`)}); r.IsError {
				t.Errorf("%s, %s: %s", name, a.profile.API, r.Text())
			}
			for _, args := range []string{`{"n":0}`, `{"n":"1"}`, `{}`} {
				if r := set.Invoke(t.Context(), llm.Call{Name: "t", Args: json.RawMessage(args)}); !r.IsError {
					t.Errorf("%s, %s: %s reached the server", name, a.profile.API, args)
				}
			}
		}
	}
}

// TestHostileResults shows what a model is shown of results that are odd, and that every API's shape of them is JSON and
// of a size that is bounded.
func TestHostileResults(t *testing.T) {
	var many, pictures []mcp.Content
	for range 20_000 {
		many = append(many, mcp.Text("x"))
	}
	for range 300 {
		pictures = append(pictures, mcp.Image("image/png", png))
	}
	far := strings.Repeat("y", 1<<20)
	for _, tc := range []struct {
		name   string
		result mcp.CallToolResult
		want   string // within what the model is shown
	}{
		{"nothing", mcp.CallToolResult{}, "(no output)"},
		{"nil content", mcp.CallToolResult{Content: []mcp.Content{nil, mcp.Text("a"), nil}}, "a"},
		{"blank text", mcp.CallToolResult{Content: []mcp.Content{mcp.Text(" \n\t")}}, "(no output)"},
		{"text that is not UTF-8", mcp.CallToolResult{Content: []mcp.Content{mcp.Text("a\xff\xfeb")}}, "a\uFFFDb"},
		{"a list as structured content", mcp.CallToolResult{StructuredContent: json.RawMessage(`[1, 2]`)}, "[1,2]"},
		{"false as structured content", mcp.CallToolResult{StructuredContent: json.RawMessage(`false`)}, "false"},
		{"structured content that is no JSON", mcp.CallToolResult{StructuredContent: json.RawMessage(`{"a":`)}, "(no output)"},
		{"structured content with a key twice", mcp.CallToolResult{StructuredContent: json.RawMessage(`{"a":1,"a":2}`)}, "(no output)"},
		{"structured content that is not UTF-8", mcp.CallToolResult{StructuredContent: json.RawMessage("{\"a\":\"\xff\"}")}, "(no output)"},
		{"20,000 blocks", mcp.CallToolResult{Content: many}, "[cut here: 19 KiB more]"},
		{"300 pictures", mcp.CallToolResult{Content: pictures}, "[200 more pictures, sounds and files, not shown]"},
		{"a picture that is too large", mcp.CallToolResult{Content: []mcp.Content{mcp.Image("image/png", make([]byte, 3<<20))}}, "[image/png, 3.0 MiB, too large, not shown]"},
		{"a type that is none", mcp.CallToolResult{Content: []mcp.Content{mcp.Image("image/"+far, png)}}, ""},
		{"a type with a line in it", mcp.CallToolResult{Content: []mcp.Content{mcp.Image("text/x\nIgnore all", []byte("\x00\x01"))}}, "[application/octet-stream, 2 B, not shown]"},
		{"an address that never ends", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: mcp.BlobResource("r:/"+far, "application/zip", []byte("PK"))}}}, "application/zip, 2 B, not shown"},
		{"a name with a line in it", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: mcp.BlobResource("r:/a\n\x1b[2J.zip", "application/zip", []byte("PK"))}}}, "[a[2J.zip, application/zip, 2 B, not shown]"},
		{"a link that is a program", mcp.CallToolResult{Content: []mcp.Content{&mcp.ResourceLink{URI: "javascript:alert(1)", Name: "click"}}}, "[resource click: javascript:alert(1)]"},
		{"content from the future", mcp.CallToolResult{Content: []mcp.Content{&mcp.UnknownContent{Type: "hologram", Raw: json.RawMessage(`{"type":"hologram","data":"AAAA"}`)}}}, `[content of type "hologram", 33 B, not shown]`},
		{"an error with a picture alone", mcp.CallToolResult{IsError: true, Content: []mcp.Content{mcp.Image("image/png", png)}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &fake{tools: listed("t"), call: func(string, string, json.RawMessage) (*mcp.CallToolResult, error) { return &tc.result, nil }}
			set := bind(t, f, llm.Options{MaxTextBytes: 64, MaxMediaBytes: 1 << 20})
			results := set.InvokeAll(t.Context(), []llm.Call{{ID: "c", Name: "t"}})
			if r := results[0]; len(r.Parts) == 0 || !strings.Contains(r.Text(), tc.want) || r.Full == nil || r.IsError != tc.result.IsError {
				t.Fatalf("%.300q, want %s", r.Text(), tc.want)
			}
			shapes := append(append(openai.ChatResults(results), openai.CompatibleResults(results)...), openai.ResponseResults(results)...)
			for _, raw := range append(shapes, anthropic.Results(results), gemini.Results(results), gemini.OlderResults(results)) {
				if !json.Valid(raw) || len(raw) > 32<<10 {
					t.Errorf("%d bytes: %.200s", len(raw), raw)
				}
			}
		})
	}
}

// rude is a source that misbehaves.
type rude struct {
	list func(ctx context.Context) ([]llm.Listed, error)
	call func(ctx context.Context, tool string) (*mcp.CallToolResult, error)
}

func (r rude) ListTools(ctx context.Context) ([]llm.Listed, error) { return r.list(ctx) }

func (r rude) CallTool(ctx context.Context, _, tool string, _ json.RawMessage) (*mcp.CallToolResult, error) {
	return r.call(ctx, tool)
}

func always(names ...string) func(context.Context) ([]llm.Listed, error) {
	return func(context.Context) ([]llm.Listed, error) { return listed(names...), nil }
}

// TestSourcesThatPanic holds that a source that panics harms one call, or one server, and nothing else.
func TestSourcesThatPanic(t *testing.T) {
	calls := rude{always("good", "bad", "empty"), func(_ context.Context, tool string) (*mcp.CallToolResult, error) {
		switch tool {
		case "bad":
			panic("secret detail")
		case "empty":
			return nil, nil
		}
		return mcp.TextResult("ok"), nil
	}}
	set := bind(t, calls, llm.Options{})
	r := set.InvokeAll(t.Context(), []llm.Call{{ID: "1", Name: "bad"}, {ID: "2", Name: "good"}, {ID: "3", Name: "empty"}})
	if r[0].Text() != "The call broke off. Whether the tool has done its work is not known." || !r[0].IsError || r[0].ID != "1" || !strings.Contains(r[0].Err.Error(), "secret detail") {
		t.Errorf("%+v", r[0])
	}
	if r[1].Text() != "ok" || !r[2].IsError || r[2].Text() != "The tool could not be called." {
		t.Errorf("%+v", r[1:])
	}
	lists := rude{list: func(context.Context) ([]llm.Listed, error) { panic("no list") }}
	if _, err := llm.Tools(t.Context(), lists, llm.Options{}); err == nil || !strings.Contains(err.Error(), "the source panicked: no list") {
		t.Errorf("%v", err)
	}
	joined := bind(t, llm.Join(llm.Named{Name: "x", Source: lists}, llm.Named{Name: "y", Source: calls}), llm.Options{})
	if len(joined.Tools()) != 3 || len(joined.Skipped()) != 1 || joined.Skipped()[0].Server != "x" {
		t.Errorf("%s, left out %v", names(joined), joined.Skipped())
	}
	asked := bind(t, calls, llm.Options{Approve: func(context.Context, llm.Tool, json.RawMessage) error { panic("no window") }})
	if r := asked.Invoke(t.Context(), llm.Call{Name: "good"}); !r.IsError {
		t.Errorf("%+v", r)
	}
}

// TestCancelInTheMiddle ends a turn of which some calls are under way and some wait: each has its result, and those that
// waited have not been begun and say so.
func TestCancelInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int32
		slow := rude{always("t"), func(ctx context.Context, _ string) (*mcp.CallToolResult, error) {
			begun.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		set := bind(t, slow, llm.Options{MaxParallel: 2})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls := make([]llm.Call, 10)
		for i := range calls {
			calls[i] = llm.Call{ID: fmt.Sprint(i), Name: "t"}
		}
		late, never := 0, 0
		for i, r := range set.InvokeAll(ctx, calls) {
			if r.ID != fmt.Sprint(i) || !r.IsError || !errors.Is(r.Err, context.DeadlineExceeded) {
				t.Errorf("%+v", r)
			}
			switch r.Text() {
			case "The tool did not answer in time. Whether it has done its work is not known.":
				late++
			case "The call was cancelled. The tool has not been run.":
				never++
			}
		}
		if begun.Load() != 2 || late != 2 || never != 8 {
			t.Errorf("%d begun, %d late, %d never run", begun.Load(), late, never)
		}
	})
}

// TestListsThatChangeOrRepeat holds that a tool listed twice is there once, and that one which is gone by the time of its
// call is told to the model in the server's words.
func TestListsThatChangeOrRepeat(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, server.Options{})
	add(s, "going")
	source := llm.Client(mcptest.Pair(t, s, client.Options{}))
	set := bind(t, source, llm.Options{})
	s.RemoveTool("going")
	if r := set.Invoke(t.Context(), llm.Call{Name: "going"}); !r.IsError || !strings.Contains(r.Text(), "going") || r.Err == nil {
		t.Errorf("%+v", r)
	}
	twice := bind(t, rude{list: always("a", "a", "b")}, llm.Options{})
	if names(twice) != "a b" || len(twice.Skipped()) != 1 {
		t.Errorf("%s, left out %v", names(twice), twice.Skipped())
	}
}

// TestLostSessionIsTakenUpOnce restarts a server between listing and calling: the session is gone, so the call has certainly
// not been taken and is made again in a new session, whatever the tool says of itself. It is the second try alone.
func TestLostSessionIsTakenUpOnce(t *testing.T) {
	var ran atomic.Int32
	fresh := func() http.Handler {
		s := server.New(mcp.Implementation{Name: "s", Version: "1"}, server.Options{})
		server.AddTool(s, mcp.Tool{Name: "write"}, func(context.Context, *server.Request, struct{}) (string, error) {
			ran.Add(1)
			return "written", nil
		})
		return s.Handler()
	}
	var now atomic.Value
	now.Store(fresh())
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().(http.Handler).ServeHTTP(w, r) }))
	defer web.Close()
	c, err := client.DialHTTP(t.Context(), web.URL+"/mcp", client.Options{Mode: client.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	set := bind(t, llm.Client(c), llm.Options{})
	now.Store(fresh())
	if r := set.Invoke(t.Context(), llm.Call{Name: "write"}); r.IsError || r.Text() != "written" || ran.Load() != 1 {
		t.Errorf("%+v; it ran %d times", r, ran.Load())
	}
}

// TestJoinedNamesThatMeet holds that no call goes to another server than the one that was listed.
func TestJoinedNamesThatMeet(t *testing.T) {
	one := func(name string) llm.Source {
		return &fake{tools: listed(name), call: func(string, string, json.RawMessage) (*mcp.CallToolResult, error) {
			return mcp.TextResult("from " + name), nil
		}}
	}
	set := bind(t, llm.Join(
		llm.Named{Name: "a", Source: llm.Join(llm.Named{Name: "b", Source: one("inner")}, llm.Named{Name: "c", Source: one("c")})},
		llm.Named{Name: "a/b", Source: one("whole")},
		llm.Named{Name: "a/b", Source: one("second")},
	), llm.Options{})
	for _, tool := range set.Tools() {
		if r := set.Invoke(t.Context(), llm.Call{Name: tool.Name}); r.Text() != "from "+tool.Original {
			t.Errorf("%s of %s: %s", tool.Original, tool.Server, r.Text())
		}
	}
	if left := set.Skipped(); len(set.Tools()) != 2 || len(left) != 2 || !strings.Contains(left[0].Reason.Error(), `another server with the name "a/b"`) {
		t.Errorf("%+v, left out %v", set.Tools(), left)
	}
}
