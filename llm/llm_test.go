package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/llm/portable"
	"github.com/rialto-mcp/rialto/mcp"
)

// fake is a source whose tools and answers a test sets.
type fake struct {
	tools []llm.Listed
	call  func(server, tool string, args json.RawMessage) (*mcp.CallToolResult, error)
}

func (f *fake) ListTools(context.Context) ([]llm.Listed, error) { return f.tools, nil }

func (f *fake) CallTool(_ context.Context, server, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	return f.call(server, tool, args)
}

// listed makes tools of "server/tool" or "tool".
func listed(names ...string) []llm.Listed {
	var all []llm.Listed
	for _, name := range names {
		server, tool, two := strings.Cut(name, "/")
		if !two {
			server, tool = "", name
		}
		all = append(all, llm.Listed{Server: server, Tool: mcp.Tool{Name: tool, Description: "Does " + tool}})
	}
	return all
}

func bind(t *testing.T, source llm.Source, o llm.Options) *llm.Set {
	t.Helper()
	set, err := llm.Tools(t.Context(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func names(set *llm.Set) string {
	var all []string
	for _, t := range set.Tools() {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, tc := range []struct {
		profile      llm.Profile
		server, tool string
		want         string
	}{
		{openai.Chat(), "", "tide_table", "tide_table"},
		{openai.Chat(), "", "admin.tools.list", "admin_tools_list_"},
		{openai.Chat(), "", "2fa-reset", "2fa-reset"},
		{openai.Chat(), "sea", "tide", "sea__tide"},
		{openai.Chat(), "sea", "tide table", "sea__tide_table_"},
		{openai.Chat(), "", "", "__"},
		{anthropic.Messages(), "", "größe", "gr____e_"},
		{gemini.GenerateContent(), "", "admin.tools.list", "admin.tools.list"},
		{gemini.GenerateContent(), "", "2fa-reset", "_2fa-reset_"},
		{llm.Profile{}, "", "-x", "_-x_"},
		{openai.Chat(), "", long, ""},
	} {
		got := tc.profile.Name(tc.server, tc.tool)
		if rest, ok := strings.CutPrefix(got, tc.want); !ok || rest != "" && len(rest) != 8 && len(got) != 64 {
			t.Errorf("%q of %q is %q, want %q", tc.tool, tc.server, got, tc.want)
		}
		if got != tc.profile.Name(tc.server, tc.tool) || len(got) > 64 {
			t.Errorf("%q is not stable, or too long", got)
		}
	}
	if a, b := openai.Chat().Name("", "get_"+long), openai.Chat().Name("", "delete_"+long); a == b || !strings.HasPrefix(a, "get_") || !strings.HasPrefix(b, "delete_") {
		t.Errorf("%q and %q: names that are cut must keep apart and keep their beginning", a, b)
	}
}

// Names that would be the same after cleaning, or that could be read as another server's, keep apart; the table leads back.
func TestC074SameNamesOnTwoServersKeepApart(t *testing.T) {
	var called []string
	f := &fake{tools: listed("a/search", "b/search", "a_b/c", "a/b_c", "a__b/c", "a/b__c", "a/x.y", "a/x_y"), call: func(server, tool string, _ json.RawMessage) (*mcp.CallToolResult, error) {
		called = append(called, server+"/"+tool)
		return mcp.TextResult("ok"), nil
	}}
	for _, p := range []llm.Profile{openai.Chat(), openai.Compatible(), anthropic.Messages(), gemini.GenerateContent(), gemini.Older()} {
		set := bind(t, f, llm.Options{Profile: p})
		called = nil
		for _, tool := range set.Tools() {
			if r := set.Invoke(t.Context(), llm.Call{Name: tool.Name}); r.IsError {
				t.Errorf("%s: %s", tool.Name, r.Text())
			}
		}
		if got, want := strings.Join(called, " "), "a/search b/search a_b/c a/b_c a__b/c a/b__c a/x.y a/x_y"; got != want || set.Skipped() != nil {
			t.Errorf("%s: called %s, want %s; left out %v", p.API, got, want, set.Skipped())
		}
		slices.Reverse(f.tools)
		for _, tool := range bind(t, f, llm.Options{Profile: p}).Tools() {
			if before, ok := set.Tool(tool.Name); !ok || before.Server != tool.Server || before.Original != tool.Original {
				t.Errorf("%s: %q depends on the order of the list", p.API, tool.Name)
			}
		}
		slices.Reverse(f.tools)
	}
}

func TestC075LongAndOddNamesFitTheAPI(t *testing.T) {
	server := strings.Repeat("s", 40)
	f := &fake{tools: listed(server+"/"+strings.Repeat("t", 40)+"1", server+"/"+strings.Repeat("t", 40)+"2", server+"/a.b", server+"/a b", server+"/größe", server+"/x/y")}
	pattern := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	set := bind(t, f, llm.Options{Aliases: map[string]string{server + "/a.b": "ab"}})
	if len(set.Tools()) != 6 || set.Skipped() != nil {
		t.Fatalf("%s, left out %v", names(set), set.Skipped())
	}
	for _, tool := range set.Tools() {
		if !pattern.MatchString(tool.Name) {
			t.Errorf("the name %q does not fit", tool.Name)
		}
		if tool.Server != server || tool.Original == "" {
			t.Errorf("%q does not lead back: %+v", tool.Name, tool)
		}
	}
	if tool, ok := set.Tool("ab"); !ok || tool.Original != "a.b" {
		t.Errorf("the alias leads to %+v", tool)
	}
	if _, err := llm.Tools(t.Context(), f, llm.Options{Aliases: map[string]string{"a.b": "no.dots"}}); err == nil || !strings.Contains(err.Error(), `"no.dots"`) {
		t.Errorf("an alias the API does not take: %v", err)
	}
}

func TestAllowAndDeny(t *testing.T) {
	f := &fake{tools: listed("a/read_file", "a/delete_file", "b/read_mail", "b/delete_mail"), call: func(string, string, json.RawMessage) (*mcp.CallToolResult, error) {
		return mcp.TextResult("ok"), nil
	}}
	for _, tc := range []struct {
		allow, deny []string
		want        string
	}{
		{nil, nil, "a__read_file a__delete_file b__read_mail b__delete_mail"},
		{nil, []string{"delete_*"}, "a__read_file b__read_mail"},
		{[]string{"a/*"}, []string{"*/delete_*"}, "a__read_file"},
		{[]string{"*_m*l"}, nil, "b__read_mail b__delete_mail"},
		{[]string{"read_mail"}, []string{"read_mail"}, ""},
	} {
		set := bind(t, f, llm.Options{Allow: tc.allow, Deny: tc.deny})
		if names(set) != tc.want {
			t.Errorf("allow %v, deny %v: %s, want %s", tc.allow, tc.deny, names(set), tc.want)
		}
		if r := set.Invoke(t.Context(), llm.Call{Name: "a__delete_file"}); r.IsError == strings.Contains(tc.want, "a__delete_file") {
			t.Errorf("deny %v: what is not listed was called", tc.deny)
		}
	}
}

// TestSameListSameBytes holds that nothing in the definitions moves between two readings of equal lists.
func TestSameListSameBytes(t *testing.T) {
	a, b := bind(t, oddSource{}, llm.Options{Profile: openai.Chat()}), bind(t, oddSource{}, llm.Options{Profile: openai.Chat()})
	if string(openai.ChatTools(a)) != string(openai.ChatTools(b)) || a.Digest() != b.Digest() {
		t.Error("two readings of one list differ")
	}
	other := bind(t, &fake{tools: listed("x")}, llm.Options{Profile: openai.Chat()})
	if other.Digest() == a.Digest() {
		t.Error("different lists have one digest")
	}
	if empty := bind(t, &fake{}, llm.Options{}); openai.ChatTools(empty) != nil || openai.ResponseTools(empty) != nil || anthropic.Tools(empty) != nil || gemini.Tools(empty) != nil {
		t.Error("an empty list is written, which the APIs refuse")
	}
}

// TestDescriptions shows what describes a tool to a model, and where it is cut.
func TestDescriptions(t *testing.T) {
	for _, tc := range []struct {
		tool mcp.Tool
		want string
	}{
		{mcp.Tool{Name: "t", Description: "Does", Title: "Doer"}, "Does"},
		{mcp.Tool{Name: "t", Title: "Doer", Annotations: &mcp.ToolAnnotations{Title: "Older"}}, "Doer"},
		{mcp.Tool{Name: "t", Annotations: &mcp.ToolAnnotations{Title: "Older"}}, "Older"},
		{mcp.Tool{Name: "t"}, ""},
		{mcp.Tool{Name: "t", Description: "a\xffb"}, "a\uFFFDb"},
		{mcp.Tool{Name: "t", Description: strings.Repeat("é", 600)}, strings.Repeat("é", 512)},
	} {
		set := bind(t, &fake{tools: []llm.Listed{{Tool: tc.tool}}}, llm.Options{Profile: openai.Compatible()})
		if got := set.Tools()[0].Description; got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.tool, got, tc.want)
		}
	}
}

// TestListedToolsStayAsTheyAre holds that no profile changes what the server has listed.
func TestListedToolsStayAsTheyAre(t *testing.T) {
	list, err := oddSource{}.ListTools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alphabets {
		set := bind(t, &fake{tools: list}, llm.Options{Profile: a.profile, Strict: []string{"*"}})
		if a.write != nil {
			a.write(set)
		}
	}
	for i, l := range list {
		if string(l.Tool.InputSchema) != odd[i].schema {
			t.Errorf("%s has become %s", odd[i].schema, l.Tool.InputSchema)
		}
	}
}

// TestContentAndStructuredContent shows what a model is shown where a server gives both, or one in an odd form.
func TestContentAndStructuredContent(t *testing.T) {
	seven := json.RawMessage(`{"n": 7}`)
	for _, tc := range []struct {
		name   string
		result mcp.CallToolResult
		want   string
	}{
		{"the same twice", mcp.CallToolResult{Content: []mcp.Content{mcp.Text(`{"n":7}`)}, StructuredContent: seven}, `{"n":7}`},
		{"words and a value", mcp.CallToolResult{Content: []mcp.Content{mcp.Text("seven")}, StructuredContent: seven}, "seven"},
		{"a value alone", mcp.CallToolResult{StructuredContent: seven}, `{"n":7}`},
		{"a value beside a picture", mcp.CallToolResult{Content: []mcp.Content{mcp.Image("image/png", png)}, StructuredContent: seven}, "[image/png, 12 B, not shown]\n{\"n\":7}"},
		{"a value of a failed call", mcp.CallToolResult{IsError: true, StructuredContent: seven}, `{"n":7}`},
		{"a value beside blank text", mcp.CallToolResult{Content: []mcp.Content{mcp.Text(" ")}, StructuredContent: seven}, `{"n":7}`},
		{"a picture of an old type", mcp.CallToolResult{Content: []mcp.Content{mcp.Image("image/jpg", png)}}, "[image/jpeg, 12 B, not shown]"},
		{"a picture without a type", mcp.CallToolResult{Content: []mcp.Content{mcp.Image("", png)}}, "[image/png, 12 B, not shown]"},
		{"base64 for URLs", mcp.CallToolResult{Content: []mcp.Content{&mcp.UnknownContent{Type: "image", Raw: json.RawMessage(`{"type":"image","data":"-_8","mimeType":"image/png"}`)}}}, "[image/png, 2 B, not shown]"},
		{"base64 in lines", mcp.CallToolResult{Content: []mcp.Content{&mcp.UnknownContent{Type: "audio", Raw: json.RawMessage(`{"type":"audio","data":"UklG\nRg==\n","mimeType":"audio/x-wav"}`)}}}, "[audio/wav, 4 B, not shown]"},
		{"no base64", mcp.CallToolResult{Content: []mcp.Content{&mcp.UnknownContent{Type: "image", Raw: json.RawMessage(`{"type":"image","data":"!"}`)}}}, `[content of type "image", 27 B, not shown]`},
		{"a resource in lines", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: mcp.ResourceContents{URI: "r:1", MIMEType: "text/plain", Extra: []byte(`{"blob":"aGV5\n"}`)}}}}, "[resource r:1]\nhey"},
		{"a resource that is broken", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: mcp.ResourceContents{URI: "r:1", Extra: []byte(`{"blob":"!"}`)}}}}, "[resource r:1, broken, not shown]"},
		{"bytes without a type", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: mcp.BlobResource("r:/x?y=1", "", []byte{0, 1})}}}, "[x, application/octet-stream, 2 B, not shown]"},
	} {
		f := &fake{tools: listed("t"), call: func(string, string, json.RawMessage) (*mcp.CallToolResult, error) { return &tc.result, nil }}
		if r := bind(t, f, llm.Options{}).Invoke(t.Context(), llm.Call{Name: "t"}); r.Text() != tc.want || string(r.Structured) != string(tc.result.StructuredContent) {
			t.Errorf("%s: %q, want %q", tc.name, r.Text(), tc.want)
		}
	}
}

// TestOneBadToolDoesNotSinkTheRest holds that what the API would refuse is left out and named.
func TestOneBadToolDoesNotSinkTheRest(t *testing.T) {
	list := listed("good", "good", "bad", "")
	list[2].Tool.InputSchema = json.RawMessage(`{"type":"array"}`)
	list = append(list, llm.Listed{Server: "", Err: errors.New("it is down")})
	set := bind(t, &fake{tools: list}, llm.Options{})
	var why []string
	for _, s := range set.Skipped() {
		why = append(why, s.Tool+": "+s.Reason.Error())
	}
	got := strings.Join(why, "\n")
	for _, want := range []string{`good: the name "good" is taken`, "bad: its input schema", ": it has no name", ": it is down"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if names(set) != "good" {
		t.Errorf("the set has %s", names(set))
	}
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf("t%d", i)
	}
	if set := bind(t, &fake{tools: listed(many...)}, llm.Options{Profile: openai.Chat()}); len(set.Tools()) != 128 || len(set.Skipped()) != 72 {
		t.Errorf("%d tools, %d left out", len(set.Tools()), len(set.Skipped()))
	}
}

// TestStrictIsPerTool offers strict forms where they lose nothing that cannot be undone, and the plain form elsewhere.
func TestStrictIsPerTool(t *testing.T) {
	f := &fake{tools: []llm.Listed{
		{Tool: mcp.Tool{Name: "closed", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}`)}},
		{Tool: mcp.Tool{Name: "open", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":{"type":"string"}}`)}},
	}}
	f.call = func(_, _ string, args json.RawMessage) (*mcp.CallToolResult, error) {
		return mcp.TextResult(string(args)), nil
	}
	set := bind(t, f, llm.Options{Profile: openai.Chat(), Strict: []string{"*"}})
	want := `[{"type":"function","function":{"name":"closed","parameters":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"required":["a","b"],"additionalProperties":false},"strict":true}},` +
		`{"type":"function","function":{"name":"open","parameters":{"type":"object","additionalProperties":{"type":"string"},"properties":{}},"strict":false}}]`
	if got := string(openai.ChatTools(set)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r := set.Invoke(t.Context(), llm.Call{Name: "closed", Args: json.RawMessage(`{"a":"x","b":null}`)}); r.Text() != `{"a":"x"}` {
		t.Errorf("the null that stands for nothing reached the server: %s", r.Text())
	}
	tool, _ := set.Tool("closed")
	if len(tool.Edits) == 0 || tool.Edits[0].Kind != portable.Narrowed || !tool.Strict {
		t.Errorf("the edits are %v", tool.Edits)
	}
}

// TestArgumentsAreChecked shows what a model hears about arguments that cannot be used; the tool does not run.
func TestArgumentsAreChecked(t *testing.T) {
	ran := 0
	f := &fake{tools: []llm.Listed{{Tool: mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","maximum":5}},"required":["n"]}`)}}}}
	f.call = func(_, _ string, args json.RawMessage) (*mcp.CallToolResult, error) {
		ran++
		return mcp.TextResult(string(args)), nil
	}
	set := bind(t, f, llm.Options{})
	for _, tc := range []struct{ args, want string }{
		{`{"n":1}`, `{"n":1}`},
		{` {"n":5.0}`, `{"n":5}`},
		{``, "/n"},
		{`null`, "/n"},
		{`{"n":9}`, "/n"},
		{`{"n":1`, "no valid JSON"},
		{`{"n":1,"n":2}`, "no valid JSON"},
		{`"{}"`, "must be one JSON object"},
		{`[1]`, "must be one JSON object"},
	} {
		r := set.Invoke(t.Context(), llm.Call{ID: "i", Name: "t", Args: json.RawMessage(tc.args)})
		if !strings.Contains(r.Text(), tc.want) && !strings.Contains(r.Text(), strings.TrimPrefix(tc.want, "/")) || r.ID != "i" || r.IsError != (tc.want[0] != '{') {
			t.Errorf("%s: %+v, want %s", tc.args, r, tc.want)
		}
	}
	if ran != 2 {
		t.Errorf("the tool ran %d times", ran)
	}
}

// TestFailuresAreResults shows what becomes of calls that do not come to an answer.
func TestFailuresAreResults(t *testing.T) {
	yes := true
	lost := mcp.Errorf(mcp.CodeConnectionClosed, "the pipe to /home/me/server ended")
	for _, tc := range []struct {
		name        string
		annotations *mcp.ToolAnnotations
		errs        []error // of the calls, in order; nil is an answer
		text        string
		calls       int32
	}{
		{"lost, unsafe", nil, []error{lost}, "The connection to the tool was lost. Whether it has done its work is not known.", 1},
		{"lost, reads only", &mcp.ToolAnnotations{ReadOnlyHint: &yes}, []error{lost, nil}, "ok", 2},
		{"lost twice", &mcp.ToolAnnotations{IdempotentHint: &yes}, []error{lost, lost}, "The connection to the tool was lost. Whether it has done its work is not known.", 2},
		{"not begun", nil, []error{fmt.Errorf("%w: %w", llm.ErrNotRun, lost), nil}, "ok", 2},
		{"not connected", nil, []error{mcp.Errorf(mcp.CodeNotConnected, "the client was closed"), nil}, "ok", 2},
		{"not connected twice", nil, []error{mcp.CodeNotConnected, mcp.CodeNotConnected}, "The tool cannot be reached now. It has not been run.", 2},
		{"not begun in time", nil, []error{fmt.Errorf("%w: %w", llm.ErrNotRun, context.DeadlineExceeded), fmt.Errorf("%w: %w", llm.ErrNotRun, context.DeadlineExceeded)}, "The tool cannot be reached now. It has not been run.", 2},
		{"refused", nil, []error{&mcp.Error{Code: mcp.CodeInvalidParams, Message: "unknown tool", Remote: true}}, "The tool could not be called: unknown tool", 1},
		{"late", nil, []error{mcp.Errorf(mcp.CodeRequestTimeout, "60s")}, "The tool did not answer in time. Whether it has done its work is not known.", 1},
		{"local", nil, []error{errors.New("open /secret: denied")}, "The tool could not be called.", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var calls atomic.Int32
			f := &fake{tools: []llm.Listed{{Tool: mcp.Tool{Name: "t", Annotations: tc.annotations}}}}
			f.call = func(string, string, json.RawMessage) (*mcp.CallToolResult, error) {
				if err := tc.errs[calls.Add(1)-1]; err != nil {
					return nil, err
				}
				return mcp.TextResult("ok"), nil
			}
			r := bind(t, f, llm.Options{}).Invoke(t.Context(), llm.Call{Name: "t"})
			if r.Text() != tc.text || calls.Load() != tc.calls || r.IsError != (tc.text != "ok") || (r.Err != nil) != r.IsError {
				t.Errorf("after %d calls: %+v", calls.Load(), r)
			}
		})
	}
}

func TestApproveMayRefuse(t *testing.T) {
	f := &fake{tools: listed("t"), call: func(string, string, json.RawMessage) (*mcp.CallToolResult, error) {
		t.Error("it ran")
		return nil, nil
	}}
	no := errors.New("the user said no")
	set := bind(t, f, llm.Options{Approve: func(context.Context, llm.Tool, json.RawMessage) error { return no }})
	if r := set.Invoke(t.Context(), llm.Call{Name: "t"}); r.Text() != "The call was not allowed: the user said no" || !errors.Is(r.Err, no) {
		t.Errorf("%+v", r)
	}
}

// TestReturnDirect shows both ways to say that a result is the answer.
func TestReturnDirect(t *testing.T) {
	f := &fake{tools: listed("plain", "asked", "said")}
	f.tools[2].Tool.Meta = mcp.Meta(`{"` + llm.MetaReturnDirect + `":true}`)
	fails := false
	f.call = func(string, string, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: fails}, nil
	}
	set := bind(t, f, llm.Options{ReturnDirect: []string{"ask*"}})
	for name, want := range map[string]bool{"plain": false, "asked": true, "said": true} {
		if r := set.Invoke(t.Context(), llm.Call{Name: name}); r.ReturnDirect != want {
			t.Errorf("%s: %t", name, r.ReturnDirect)
		}
	}
	fails = true
	if r := set.Invoke(t.Context(), llm.Call{Name: "said"}); r.ReturnDirect {
		t.Error("a failed call is no answer")
	}
}

// TestResultsAreBounded holds the limits of what goes to a model, and what is kept from it.
func TestResultsAreBounded(t *testing.T) {
	user := &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}}
	f := &fake{tools: listed("t"), call: func(string, string, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			mcp.Text(strings.Repeat("é", 20)), mcp.Text("more"), mcp.Image("image/png", make([]byte, 100)),
			&mcp.TextContent{Text: "for the user", Annotations: user},
		}}, nil
	}}
	r := bind(t, f, llm.Options{MaxTextBytes: 11, MaxMediaBytes: 99, HideUserContent: true}).Invoke(t.Context(), llm.Call{Name: "t"})
	want := "ééééé[cut here: 34 B more]\n[image/png, 100 B, too large, not shown]"
	if r.Text() != want || len(r.Full.Content) != 4 {
		t.Errorf("got  %q\nwant %q", r.Text(), want)
	}
}

// TestStrictHasABudget holds that no more tools are strict than an API takes in one request; the others are offered without.
func TestStrictHasABudget(t *testing.T) {
	with := func(n, optional int) *fake {
		f := &fake{}
		for i := range n {
			var properties []string
			for j := range optional {
				properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string"}`, j))
			}
			f.tools = append(f.tools, llm.Listed{Tool: mcp.Tool{Name: fmt.Sprintf("t%d", i), InputSchema: json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)}})
		}
		return f
	}
	for _, tc := range []struct {
		profile            llm.Profile
		n, optional, wants int
	}{
		{anthropic.Messages(), 30, 0, 20},
		{anthropic.Messages(), 30, 5, 4},
		{anthropic.Messages(), 3, 25, 0},
		{openai.Chat(), 30, 25, 30},
		{gemini.GenerateContent(), 3, 0, 0},
	} {
		set := bind(t, with(tc.n, tc.optional), llm.Options{Profile: tc.profile, Strict: []string{"*"}})
		strict := 0
		for _, tool := range set.Tools() {
			if tool.Strict {
				strict++
			}
		}
		if len(set.Tools()) != tc.n || strict != tc.wants {
			t.Errorf("%s, %d optional: %d tools, %d of them strict, want %d", tc.profile.API, tc.optional, len(set.Tools()), strict, tc.wants)
		}
	}
}
