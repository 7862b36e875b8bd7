package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestSearchFindsWords shows what the search takes for a word, in names, descriptions and queries of many kinds.
func TestSearchFindsWords(t *testing.T) {
	f := &fake{tools: []llm.Listed{
		{Tool: mcp.Tool{Name: "readHTTPServerLog", Description: "camel"}},
		{Tool: mcp.Tool{Name: "delete_all_files", Description: "snake"}},
		{Tool: mcp.Tool{Name: "S3Upload", Description: "digits"}},
		{Tool: mcp.Tool{Name: "jp", Description: "日本語の全文検索を行います"}},
		{Tool: mcp.Tool{Name: "zh", Description: "查询明天的天气"}},
		{Tool: mcp.Tool{Name: "ko", Description: "날씨 예보를 찾습니다"}},
		{Tool: mcp.Tool{Name: "th", Description: "ค้นหาเอกสาร"}},
		{Tool: mcp.Tool{Name: "hi", Description: "मौसम की जानकारी"}},
		{Tool: mcp.Tool{Name: "ru", Description: "Прогноз ПОГОДЫ на завтра"}},
		{Tool: mcp.Tool{Name: "ar", Description: "حالة الطقس غدا"}},
		{Tool: mcp.Tool{Name: "de", Description: "Größe und Gewicht"}},
		{Tool: mcp.Tool{Name: "schema", InputSchema: json.RawMessage(`{"type":"object","properties":{"zipCode":{"type":"string"}}}`)}},
	}}
	set := bind(t, f, llm.Options{})
	for query, want := range map[string]string{
		"http": "readHTTPServerLog", "SERVER logs": "readHTTPServerLog", "deleting file": "delete_all_files", "delete.*files?$": "delete_all_files", "(files": "delete_all_files",
		"upload": "S3Upload", "s3": "S3Upload", "検索": "jp", "全文検索したい": "jp", "天气": "zh", "明天天气如何": "zh", "예보를": "ko", "เอกสาร": "th", "मौसम": "hi", "погоды": "ru", "الطقس": "ar", "GRÖSSE größe": "de",
		"zip code": "schema", "": "", "*": "", "\x00\xff": "", "zebra": "",
	} {
		got := ""
		if found := set.Search(query, 1); len(found) > 0 {
			got = found[0].Original
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	if found := set.Search("http", -1); found != nil {
		t.Errorf("at most -1 tools: %v", found)
	}
}

// TestSearchIsBoundedAndStable asks with 100,000 words and among 2,000 tools, from several goroutines: the answer is the same
// each time.
func TestSearchIsBoundedAndStable(t *testing.T) {
	f := &fake{}
	for i := range 2000 {
		f.tools = append(f.tools, llm.Listed{Tool: mcp.Tool{Name: fmt.Sprintf("tool_%d", i), Description: "one of many tools that do the same"}})
	}
	set := bind(t, f, llm.Options{}).WithSearch()
	var query strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&query, "word%d ", i)
	}
	query.WriteString("many tools do the same")
	args, err := json.Marshal(map[string]string{"query": query.String()})
	if err != nil {
		t.Fatal(err)
	}
	first := set.Invoke(t.Context(), llm.Call{Name: llm.SearchTool, Args: args}).Text()
	if !strings.Contains(first, `"tool_0"`) {
		t.Fatalf("%.300s", first)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if again := set.Invoke(t.Context(), llm.Call{Name: llm.SearchTool, Args: args}).Text(); again != first {
				t.Errorf("%.300s\n%.300s", again, first)
			}
		})
	}
	all.Wait()
	small := bind(t, f, llm.Options{MaxTextBytes: 250}).WithSearch()
	var answer struct{ Tools []any }
	if r := small.Invoke(t.Context(), llm.Call{Name: llm.SearchTool, Args: json.RawMessage(`{"query":"many tools","limit":20}`)}); json.Unmarshal([]byte(r.Text()), &answer) != nil || len(answer.Tools) == 0 || len(answer.Tools) > 3 {
		t.Errorf("an answer that is bounded is cut between tools: %s", r.Text())
	}
}

// TestSearchReachesWhatTheAPIHasNoRoomFor offers 300 tools through a search to every API, 200 of them kept in sight: the
// request is taken, and the last tool is found and called.
func TestSearchReachesWhatTheAPIHasNoRoomFor(t *testing.T) {
	f := &fake{call: func(_, tool string, _ json.RawMessage) (*mcp.CallToolResult, error) {
		return mcp.TextResult("ran " + tool), nil
	}}
	for i := range 300 {
		f.tools = append(f.tools, llm.Listed{Tool: mcp.Tool{Name: fmt.Sprintf("tool_%d", i), Description: fmt.Sprintf("number%d", i)}})
	}
	for _, a := range apis {
		plain := bind(t, f, llm.Options{Profile: a.profile})
		if _, ok := plain.Tool("tool_299"); ok != (a.profile.ToolsMax == 0) {
			t.Errorf("%s: what is not offered can be called: %t", a.name, ok)
		}
		set := plain.WithSearch("tool_1*", "tool_2*")
		if len(plain.Skipped()) > 0 && len(set.Tools()) != a.profile.ToolsMax {
			t.Errorf("%s: %d tools", a.name, len(set.Tools()))
		}
		var said []string
		web := httptest.NewServer(a.fake(func(r llmtest.Request) llmtest.Turn {
			said = append(said, strings.Join(r.Results, ""))
			switch r.Turn {
			case 0:
				return llmtest.Turn{Calls: []llm.Call{{ID: "a", Name: llm.SearchTool, Args: json.RawMessage(`{"query":"number299"}`)}}}
			case 1:
				return llmtest.Turn{Calls: []llm.Call{{ID: "b", Name: llm.CallTool, Args: json.RawMessage(`{"name":"tool_299","arguments":{}}`)}}}
			}
			return llmtest.Turn{Text: "done"}
		}))
		var talk []json.RawMessage
		for range 3 {
			add, _, err := a.turn(post(t, web.URL+a.path, a.request(set, talk)), set, func(c []llm.Call) []llm.Result { return set.InvokeAll(t.Context(), c) })
			if err != nil {
				t.Fatal(err)
			}
			talk = append(talk, add...)
		}
		web.Close()
		if !strings.Contains(said[1], "tool_299") || !strings.Contains(said[2], "ran tool_299") {
			t.Errorf("%s: %q", a.name, said)
		}
	}
}

// TestSearchedCallsAreLikeOthers holds that a call through call_tool is approved once, keeps what the result says, and
// reaches a tool whose own name is that of the search.
func TestSearchedCallsAreLikeOthers(t *testing.T) {
	lost := errors.New("lost")
	f := &fake{tools: listed("direct", "failing", llm.SearchTool, llm.CallTool), call: func(_, tool string, _ json.RawMessage) (*mcp.CallToolResult, error) {
		if tool == "failing" {
			return nil, lost
		}
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("ran " + tool)}, StructuredContent: json.RawMessage(`7`)}, nil
	}}
	var asked []string
	set := bind(t, f, llm.Options{ReturnDirect: []string{"direct"}, Profile: openai.Chat(), Approve: func(_ context.Context, tool llm.Tool, _ json.RawMessage) error {
		asked = append(asked, tool.Original)
		return nil
	}}).WithSearch()
	call := func(name string) llm.Result {
		return set.Invoke(t.Context(), llm.Call{ID: "i", Name: llm.CallTool, Args: json.RawMessage(`{"name":"` + name + `"}`)})
	}
	if r := call("direct"); !r.ReturnDirect || string(r.Structured) != "7" || r.Text() != "ran direct" || r.ID != "i" || r.Name != llm.CallTool {
		t.Errorf("%+v", r)
	}
	if r := call("failing"); !errors.Is(r.Err, lost) || !r.IsError {
		t.Errorf("%+v", r)
	}
	for _, own := range []string{llm.SearchTool, llm.CallTool} {
		found := set.Search(own, 1)
		if len(found) != 1 || found[0].Original != own || found[0].Name == own {
			t.Fatalf("%s: %+v", own, found)
		}
		if r := call(found[0].Name); r.Text() != "ran "+own {
			t.Errorf("%s: %+v", own, r)
		}
	}
	if got := strings.Join(asked, " "); got != "direct failing search_tools call_tool" {
		t.Errorf("asked about %s", got)
	}
	if again := set.WithSearch("direct"); names(again) != "direct search_tools call_tool" || again.Skipped() != nil {
		t.Errorf("a search over a search: %s, left out %v", names(again), again.Skipped())
	}
}

func TestEstimateGrowsWithTheTool(t *testing.T) {
	small := bind(t, &fake{tools: listed("t")}, llm.Options{})
	if large := bind(t, oddSource{}, llm.Options{}); small.Tokens() < 15 || large.Tokens() < 20*len(odd) || small.Tokens() > 60 {
		t.Errorf("%d and %d tokens", small.Tokens(), large.Tokens())
	}
	for text, want := range map[string]int{"": 0, "hello": 1, "internationalisation": 4, "2026": 2, `{"a":1}`: 5, "日本語": 2} {
		if got := llm.EstimateTokens(text); got != want {
			t.Errorf("%q: %d tokens, want %d", text, got, want)
		}
	}
}
