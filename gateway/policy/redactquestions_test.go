package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestMaskedQuestions holds which texts of a question are masked, and that all else stays byte for byte.
func TestMaskedQuestions(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"a form", `{"mode":"form" , "message":"Is it SECRET?","requestedSchema":{"type":"object","properties":{"SECRET":{"type":"string","title":"SECRET","description":"\u00e9 SECRET"}},"required":["SECRET"]}}`,
			`{"mode":"form" , "message":"Is it [redacted own]?","requestedSchema":{"type":"object","properties":{"SECRET":{"type":"string","title":"[redacted own]","description":"é [redacted own]"}},"required":["SECRET"]}}`},
		{"what one chooses from", `{"requestedSchema":{"properties":{"a":{"enum":["SECRET"],"enumNames":["SECRET"]},"b":{"oneOf":[{"const":"SECRET","title":"SECRET"}]},"c":{"type":"array","items":{"enum":["x","SECRET"]}}}}}`,
			`{"requestedSchema":{"properties":{"a":{"enum":["SECRET"],"enumNames":["[redacted own]"]},"b":{"oneOf":[{"const":"SECRET","title":"[redacted own]"}]},"c":{"type":"array","items":{"enum":["x","SECRET"]}}}}}`},
		{"what a field begins with", `{"requestedSchema":{"properties":{"a":{"default":"SECRET","type":"string"},"b":{"default":"x"},"c":{"default":["SECRET"]},"d":{"default":1.0}}}}`,
			`{"requestedSchema":{"properties":{"a":{"type":"string"},"b":{"default":"x"},"c":{},"d":{"default":1.0}}}}`},
		{"fields with names of the protocol", `{"requestedSchema":{"properties":{"enum":{"title":"SECRET"},"type":{"title":"SECRET"},"default":{"title":"SECRET"}}}}`,
			`{"requestedSchema":{"properties":{"enum":{"title":"[redacted own]"},"type":{"title":"[redacted own]"},"default":{"title":"[redacted own]"}}}}`},
		{"a page", `{"mode":"url","message":"SECRET","url":"https://example.com/?state=SECRET","elicitationId":"SECRET"}`,
			`{"mode":"url","message":"[redacted own]","url":"https://example.com/?state=SECRET","elicitationId":"SECRET"}`},
		{"metadata", `{"_meta":{"progressToken":"SECRET","io.modelcontextprotocol/related-task":{"taskId":"SECRET"},"example.com/x":["SECRET"]}}`,
			`{"_meta":{"progressToken":"SECRET","io.modelcontextprotocol/related-task":{"taskId":"SECRET"},"example.com/x":["[redacted own]"]}}`},
		{"a model", `{"systemPrompt":"SECRET","maxTokens":1e2,"stopSequences":["SECRET"],"includeContext":"none","metadata":{"type":"SECRET"},"modelPreferences":{"hints":[{"name":"SECRET"}]},"toolChoice":{"mode":"auto"}}`,
			`{"systemPrompt":"[redacted own]","maxTokens":1e2,"stopSequences":["[redacted own]"],"includeContext":"none","metadata":{"type":"[redacted own]"},"modelPreferences":{"hints":[{"name":"SECRET"}]},"toolChoice":{"mode":"auto"}}`},
		{"messages", `{"messages":[{"role":"user","content":{"type":"text","text":"SECRET"}},{"role":"assistant","content":[{"type":"tool_use","id":"SECRET","name":"SECRET","input":{"name":"SECRET","x":["SECRET"]}}]},
			{"role":"user","content":[{"type":"tool_result","toolUseId":"SECRET","content":[{"type":"text","text":"SECRET"},{"type":"resource","resource":{"uri":"SECRET","text":"SECRET"}},{"type":"image","data":"SECRET","mimeType":"SECRET"}],"structuredContent":{"id":"SECRET"}}]}]}`,
			`{"messages":[{"role":"user","content":{"type":"text","text":"[redacted own]"}},{"role":"assistant","content":[{"type":"tool_use","id":"SECRET","name":"SECRET","input":{"name":"[redacted own]","x":["[redacted own]"]}}]},
			{"role":"user","content":[{"type":"tool_result","toolUseId":"SECRET","content":[{"type":"text","text":"[redacted own]"},{"type":"resource","resource":{"uri":"SECRET","text":"[redacted own]"}},{"type":"image","data":"SECRET","mimeType":"SECRET"}],"structuredContent":{"id":"[redacted own]"}}]}]}`},
		{"tools", `{"tools":[{"name":"SECRET","title":"SECRET","description":"SECRET","inputSchema":{"properties":{"input":{"enum":["SECRET"],"description":"SECRET"}}}}]}`,
			`{"tools":[{"name":"SECRET","title":"[redacted own]","description":"[redacted own]","inputSchema":{"properties":{"input":{"enum":["SECRET"],"description":"[redacted own]"}}}}]}`},
		{"roots", `{}`, `{}`},
		{"parameters that are no object", `["SECRET",{"url":"SECRET"}]`, `["[redacted own]",{"url":"[redacted own]"}]`},
		{"parameters that are a text", `"SECRET"`, `"[redacted own]"`},
	} {
		if got := string(masking(t, Redaction{Name: "own", Pattern: "SECRET"}).question(json.RawMessage(tc.in))); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// TestMaskedAnswers holds which texts of an answer are masked.
func TestMaskedAnswers(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"a form", `{"action":"accept" ,"content":{"action":"SECRET","type":"SECRET","l":["SECRET"],"n":1.0,"SECRET":true}}`, `{"action":"accept" ,"content":{"action":"[redacted own]","type":"[redacted own]","l":["[redacted own]"],"n":1.0,"SECRET":true}}`},
		{"no", `{"action":"decline"}`, `{"action":"decline"}`},
		{"a model", `{"role":"assistant","model":"SECRET","stopReason":"SECRET","content":{"type":"text","text":"SECRET"}}`, `{"role":"assistant","model":"SECRET","stopReason":"SECRET","content":{"type":"text","text":"[redacted own]"}}`},
		{"a model that uses a tool", `{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"SECRET","name":"SECRET","input":{"id":"SECRET"}}]}`, `{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"SECRET","name":"SECRET","input":{"id":"[redacted own]"}}]}`},
		{"roots", `{"roots":[{"uri":"file:///SECRET","name":"SECRET"}]}`, `{"roots":[{"uri":"file:///SECRET","name":"[redacted own]"}]}`},
		{"no object", `["SECRET"]`, `["[redacted own]"]`},
	} {
		if got := string(masking(t, Redaction{Name: "own", Pattern: "SECRET"}).answer(json.RawMessage(tc.in))); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// inMidst is the midst of a call to server a, with its decisions in short.
func inMidst(t *testing.T, redact ...Redaction) (m *midst, decided func() string) {
	t.Helper()
	var all []string
	p := New(Options{OnDecision: func(_ context.Context, d Decision) {
		all = append(all, fmt.Sprintf("%s %s %s: %s", d.Effect, d.Name, d.Method, d.Reason))
	}})
	l := laid{policy: p}
	for _, r := range redact {
		compiled, err := newRedactor(r)
		if err != nil {
			t.Fatal(err)
		}
		l.redactors = append(l.redactors, compiled)
	}
	p.redactors.Store(&l.redactors)
	return p.midst(t.Context(), "a", &upstream.Caller{}), func() string { return strings.Join(all, "; ") }
}

// TestMidstIsCheap holds that a call has no midst where nothing is masked.
func TestMidstIsCheap(t *testing.T) {
	if m, _ := inMidst(t); m != nil {
		t.Error("without redactions")
	}
	m, _ := inMidst(t, Redaction{Name: "own", Pattern: "SECRET", Servers: []string{"b"}})
	if m != nil {
		t.Error("with one that is about another server")
	}
	params := json.RawMessage(`{"message":"SECRET"}`)
	if n := testing.AllocsPerRun(100, func() {
		if got, refusal := m.question(mcp.MethodElicit, params); string(got) != string(params) || refusal != nil {
			t.Error("it is masked")
		}
		if to := m.notices(mcp.NotifyProgress, nil); to != nil {
			t.Error("there is a hook")
		}
	}); n > 0 {
		t.Errorf("it takes %v allocations", n)
	}
}

// TestNoticesThatAreRefused holds that progress goes on without words, and a log message does not go on; and that of what comes
// again and again in one call it is told once.
func TestNoticesThatAreRefused(t *testing.T) {
	for _, tc := range []struct {
		method, in, masked, refused string
	}{
		{mcp.NotifyProgress, `{"progressToken":"SECRET","progress":1.50,"total":2,"message":"SECRET"}`, `{"progressToken":"SECRET","progress":1.50,"total":2,"message":"[redacted own]"}`, `{"progress":1.50,"total":2}`},
		{mcp.NotifyProgress, `{"progress":{"x":"SECRET"},"total":-2}`, `{"progress":{"x":"[redacted own]"},"total":-2}`, `{"total":-2}`},
		{mcp.NotifyProgress, `{"progress":1,"total":["SECRET"]}`, `{"progress":1,"total":["[redacted own]"]}`, `{"progress":1}`},
		{mcp.NotifyMessage, `{"level":"info","logger":"SECRET","data":{"level":"SECRET"}}`, `{"level":"info","logger":"[redacted own]","data":{"level":"[redacted own]"}}`, ``},
		{mcp.NotifyMessage, `{"level":"info","data":"x"}`, `{"level":"info","data":"x"}`, `{"level":"info","data":"x"}`},
		{mcp.NotifyMessage, `{"data":"` + strings.Repeat("x", maxRedacted+1) + `"}`, ``, ``},
	} {
		for _, do := range []RedactDo{Mask, Withhold} {
			m, decided := inMidst(t, Redaction{Name: "own", Pattern: "SECRET", Do: do})
			var got string
			hook := m.notices(tc.method, func(params json.RawMessage) { got = string(params) })
			hook(json.RawMessage(tc.in))
			hook(json.RawMessage(tc.in))
			if want := map[RedactDo]string{Mask: tc.masked, Withhold: tc.refused}[do]; got != want {
				t.Errorf("%s with %s: got %s, want %s", tc.method, do, got, want)
			}
			if n := strings.Count(decided(), "own "+tc.method); n > 1 || (n == 1) != strings.Contains(tc.in, "SECRET") {
				t.Errorf("%s with %s: decided %s", tc.method, do, decided())
			}
		}
	}
}

// TestRefusedInTheMidst holds what becomes of questions, answers, errors and states of tasks that hold what is refused.
func TestRefusedInTheMidst(t *testing.T) {
	m, decided := inMidst(t, Redaction{Name: "own", Pattern: "SECRET", Do: Withhold})
	secret := json.RawMessage(`{"message":"SECRET"}`)
	fault := &mcp.Error{Code: 7, Message: "SECRET", Remote: true}
	_, question := m.question(mcp.MethodElicit, secret)
	_, answer := m.answer(mcp.MethodElicit, secret)
	_, answers := m.answers(mcp.MethodCallTool, json.RawMessage(`{"q":{"content":"SECRET"}}`))
	_, _, demand := m.demand("SECRET", nil)
	_, _, data := m.demand("x", json.RawMessage(`{"elicitations":[],"detail":"SECRET"}`))
	_, beside := m.beside(mcp.MethodElicit, json.RawMessage(`{"method":"elicitation/create","params":{},"note":"SECRET"}`))
	_, list := m.result("skills/list", &upstream.Answer{Result: secret})
	for _, tc := range []struct {
		err  error
		want string
	}{
		{question, "The question holds something that this gateway does not let pass: own"},
		{answer, "The answer holds something that this gateway does not let pass: own"},
		{answers, "The answers hold something that this gateway does not let pass: own"},
		{demand, "The question holds something that this gateway does not let pass: own"},
		{data, "The question holds something that this gateway does not let pass: own"},
		{beside, "The question holds something that this gateway does not let pass: own"},
		{list, "The results hold something that this gateway does not let pass: own"},
		{m.declined(mcp.MethodElicit, fault), "The answer holds something that this gateway does not let pass: own"},
		{m.fault(mcp.MethodGetTask, fault), "The results hold something that this gateway does not let pass: own"},
	} {
		var f *mcp.Error
		if !errors.As(tc.err, &f) || f.Code != mcp.CodeInvalidRequest || f.Message != tc.want {
			t.Errorf("got %v, want %s", tc.err, tc.want)
		}
	}
	if !strings.Contains(decided(), "refused own tools/call: the answers hold something of the form own") {
		t.Errorf("decided %s", decided())
	}
}

// TestMaskedErrorsOfAnswers holds that a server gets no word that is masked in the error for its question, and every other error as it is.
func TestMaskedErrorsOfAnswers(t *testing.T) {
	m, _ := inMidst(t, Redaction{Name: "own", Pattern: "SECRET", In: InArguments})
	err := m.declined(mcp.MethodElicit, fmt.Errorf("asked: %w", &mcp.Error{Code: 7, Message: "no SECRET", Data: json.RawMessage(`["SECRET"]`), Remote: true}))
	var f *mcp.Error
	if !errors.As(err, &f) || f.Code != 7 || f.Message != "no [redacted own]" || string(f.Data) != `["[redacted own]"]` {
		t.Errorf("got %v", err)
	}
	for _, plain := range []error{context.Canceled, &mcp.Error{Code: 7, Message: "no"}} {
		if got := m.declined(mcp.MethodElicit, plain); got != plain {
			t.Errorf("%v becomes %v", plain, got)
		}
	}
}

// TestMaskedDefinitions holds which texts of lists are masked, that what was made of them is kept, and that other lists stay the same.
func TestMaskedDefinitions(t *testing.T) {
	item := func(key, raw string) []upstream.Item { return []upstream.Item{{Key: key, Raw: json.RawMessage(raw)}} }
	lists := &upstream.Lists{
		Tools:     item("SECRET", `{"name":"SECRET","title":"SECRET","annotations":{"title":"SECRET"},"inputSchema":{"properties":{"SECRET":{"type":["SECRET"],"default":"SECRET","examples":["SECRET"],"x-mcp-header":"SECRET"}},"required":["SECRET"]},"_meta":{"ui":{"resourceUri":"ui://SECRET"},"x":"SECRET"},"icons":[{"src":"SECRET"}]}`),
		Prompts:   item("p", `{"name":"p","arguments":[{"name":"SECRET","description":"SECRET"}]}`),
		Resources: item("memo://SECRET", `{"uri":"memo://SECRET","name":"SECRET","annotations":{"audience":["user"],"lastModified":"SECRET"}}`),
		Templates: item("memo://{SECRET}", `{"uriTemplate":"memo://{SECRET}","name":"SECRET"}`),
	}
	want := upstream.Lists{
		Tools:     item("SECRET", `{"name":"SECRET","title":"[redacted own]","annotations":{"title":"[redacted own]"},"inputSchema":{"properties":{"SECRET":{"type":["SECRET"],"default":"[redacted own]","examples":["[redacted own]"],"x-mcp-header":"SECRET"}},"required":["SECRET"]},"_meta":{"ui":{"resourceUri":"ui://SECRET"},"x":"[redacted own]"},"icons":[{"src":"SECRET"}]}`),
		Prompts:   item("p", `{"name":"p","arguments":[{"name":"SECRET","description":"[redacted own]"}]}`),
		Resources: item("memo://SECRET", `{"uri":"memo://SECRET","name":"[redacted own]","annotations":{"audience":["user"],"lastModified":"SECRET"}}`),
		Templates: item("memo://{SECRET}", `{"uriTemplate":"memo://{SECRET}","name":"[redacted own]"}`),
	}
	for _, do := range []RedactDo{Mask, Withhold} {
		compiled, err := newRedactor(Redaction{Name: "own", Pattern: "SECRET", Do: do, Servers: []string{"a"}})
		if err != nil {
			t.Fatal(err)
		}
		var decided []string
		l := &laid{redactors: []*redactor{compiled}, policy: New(Options{OnDecision: func(_ context.Context, d Decision) {
			decided = append(decided, fmt.Sprintf("%s %s %s/%s", d.Effect, d.Kind, d.Server, d.Target.Name))
		}})}
		snaps := []upstream.Snapshot{{Lists: lists}, {Lists: lists}}
		snaps[0].Name, snaps[1].Name = "a", "b"
		first, second := l.redactShape(snaps), l.redactShape(snaps)
		if first[0].Lists != second[0].Lists || first[1].Lists != lists || snaps[0].Lists != lists {
			t.Errorf("%s: the lists are made anew, or others are changed", do)
		}
		for name, both := range map[string][2][]upstream.Item{
			"tools": {first[0].Lists.Tools, want.Tools}, "prompts": {first[0].Lists.Prompts, want.Prompts},
			"resources": {first[0].Lists.Resources, want.Resources}, "templates": {first[0].Lists.Templates, want.Templates},
		} {
			if !slices.EqualFunc(both[0], both[1], func(a, b upstream.Item) bool { return a.Key == b.Key && string(a.Raw) == string(b.Raw) }) {
				t.Errorf("%s of %s\n got %s\nwant %s", do, name, both[0], both[1])
			}
		}
		if got := fmt.Sprint(decided); got != "[changed tool a/SECRET changed prompt a/p changed resource a/memo://SECRET changed template a/memo://{SECRET}]" {
			t.Errorf("%s: decided %s", do, got)
		}
	}
}
