package interop

import (
	"strings"
	"testing"
)

// TestGatewayBundles puts the npm reference server and a modern one behind two bundles of the gateway, and has every client
// library, in both eras, use what is shown there: a tool under another name and with other arguments, one that a search has found,
// and one that asks and is called by way of the search.
func TestGatewayBundles(t *testing.T) {
	bin := buildGateway(t)
	file := saveSettings(t, map[string]any{
		"search": map[string]any{"above": 2, "always": []string{"sum"}},
		"servers": map[string]any{"everything": map[string]any{"tools": map[string]any{
			"rename": map[string]any{"get-sum": "sum"},
			"edit": map[string]any{"get-sum": map[string]any{"title": "Sum with forty", "arguments": map[string]any{
				"a": map[string]any{"rename": "number"}, "b": map[string]any{"value": 40},
			}}},
		}}},
		"bundles": map[string]any{
			"desk":  map[string]any{"servers": []string{"everything", "memo"}},
			"small": map[string]any{"tools": []string{"everything/get-sum", "everything/echo"}, "rename": map[string]any{"everything/echo": "parrot"}},
		},
	}, map[string]any{"everything": map[string]any{"type": "http", "url": StartEverything(t)}, "memo": commandEntry(Memo(t))})
	call := func(name string, arguments map[string]any) Step {
		return Step{Do: "call", Name: name, Arguments: arguments}
	}
	found := func(name string, arguments map[string]any) Step {
		return call("call_tool", map[string]any{"name": name, "arguments": arguments})
	}
	desk := []Case{
		{"tools", Step{Do: "list", Kind: "tools"}, listsExactly([]string{"sum", "search_tools", "call_tool"})},
		{"other arguments", call("sum", map[string]any{"number": 2}), mentions("42")},
		{"search", call("search_tools", map[string]any{"query": "echo message"}), mentions(`"name":"echo"`, `"inputSchema":{`)},
		{"what was found", found("echo", map[string]any{"message": "hi"}), SaysText("Echo: hi")},
		{"what was found and has other arguments", found("sum", map[string]any{"number": 3}), mentions("43")},
		{"what was found and asks", found("trigger-elicitation-request", map[string]any{}), mentions("User inputs", "Name: Ada")},
		{"what is not there", found("nosuch", nil), func(t testing.TB, out Outcome) {
			t.Helper()
			if r := Decode[ToolResult](t, out); !r.IsError || !strings.Contains(r.Content[0].Text, `There is no tool "nosuch"`) {
				t.Errorf("got %s", out.Result)
			}
		}},
		{"wrong arguments", found("echo", map[string]any{"text": "hi"}), func(t testing.TB, out Outcome) {
			t.Helper()
			if r := Decode[ToolResult](t, out); !r.IsError || !strings.Contains(lastOf(r.Content).Text, `"required":["message"]`) {
				t.Errorf("got %s, want the schema", out.Result)
			}
		}},
	}
	small := []Case{
		{"tools", Step{Do: "list", Kind: "tools"}, listsExactly([]string{"sum", "parrot"})},
		{"another name", call("parrot", map[string]any{"message": "hi"}), SaysText("Echo: hi")},
		{"no resources", Step{Do: "list", Kind: "resources"}, func(t testing.TB, out Outcome) {
			t.Helper()
			if len(out.Names) > 0 {
				t.Errorf("got %q", out.Names)
			}
		}},
	}
	open := func(bundle string) func(testing.TB) Target {
		return func(t testing.TB) Target {
			url, told := startGateway(t, bin, file, 2)
			if strings.Contains(told, "failed") || strings.Contains(told, "warning: ") {
				t.Errorf("not all is well:\n%s", told)
			}
			return Target{URL: url + "/" + bundle}
		}
	}
	answers := *asked
	answers.Form = map[string]any{"name": "Ada"}
	RunFronts(t, []Front{
		{Name: "desk", Modern: true, Era: "modern", Open: open("desk"), Answers: &answers, Cases: desk},
		{Name: "desk-legacy", Modern: true, Era: "legacy", Open: open("desk"), Answers: &answers, Cases: desk},
		{Name: "small", Modern: true, Open: open("small"), Cases: small},
		{Name: "stdio", Modern: true, Cases: small, Open: func(testing.TB) Target {
			return Target{Command: reporting(bin, "gateway", "--config", file, "--stdio", "--bundle", "small")}
		}},
	})
}
