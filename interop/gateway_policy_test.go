package interop

import (
	"strings"
	"testing"
)

// TestGatewayPolicy puts the npm reference server behind a gateway with a policy, and has every client library find in both eras
// that what is hidden is not there, what is denied says why, what comes too often is refused, what must not pass is masked, and
// the model is not asked.
func TestGatewayPolicy(t *testing.T) {
	bin := buildGateway(t)
	file := saveSettings(t, map[string]any{"policy": map[string]any{
		"rules": []any{
			map[string]any{"name": "env", "when": "tool == 'get-env' || kind == 'resource' || kind == 'template'", "do": "hide"},
			map[string]any{"name": "small", "when": "tool == 'get-sum' && arguments.a > 100", "do": "deny", "message": "No more than 100"},
		},
		"rateLimits": []any{map[string]any{"name": "picture", "per": "tool", "when": "tool == 'get-tiny-image'", "rate": "1/h", "burst": 1}},
		"redact":     []any{map[string]any{"name": "mails", "find": "email"}},
		"ask":        map[string]any{"sampling": false},
	}}, map[string]any{"web": map[string]any{"type": "http", "url": StartEverything(t)}})
	gone := func(t testing.TB, out Outcome) {
		t.Helper()
		for _, name := range out.Names {
			if name == "get-env" || strings.HasPrefix(name, "demo://") {
				t.Errorf("%s is listed", name)
			}
		}
	}
	cases := []Case{
		{"tools", Step{Do: "list", Kind: "tools"}, gone},
		{"resources", Step{Do: "list", Kind: "resources"}, gone},
		{"templates", Step{Do: "list", Kind: "templates"}, gone},
		{"hidden", Step{Do: "call", Name: "get-env", Arguments: map[string]any{}}, FailsWithCode(-32602)},
		{"allowed", Step{Do: "call", Name: "get-sum", Arguments: map[string]any{"a": 100, "b": 1}}, SaysText("The sum of 100 and 1 is 101.")},
		{"denied", Step{Do: "call", Name: "get-sum", Arguments: map[string]any{"a": 101, "b": 1}}, FailsWithCode(-32600)},
		{"not to be read", Step{Do: "read", URI: featuresPage}, FailsWithCode(-32002, -32602)},
		{"masked", Step{Do: "call", Name: "echo", Arguments: map[string]any{"message": "to ada@example.com"}}, SaysText("Echo: to [redacted email]")},
		{"the first", Step{Do: "call", Name: "get-tiny-image", Arguments: map[string]any{}}, func(testing.TB, Outcome) {}},
		{"too often", Step{Do: "call", Name: "get-tiny-image", Arguments: map[string]any{}}, FailsWithCode(-32603)},
		{"no model", Step{Do: "call", Name: "trigger-sampling-request", Arguments: map[string]any{"prompt": "May they?", "maxTokens": 20}}, func(t testing.TB, out Outcome) {
			t.Helper()
			if strings.Contains(string(out.Result), "the model says") {
				t.Errorf("the model was asked: %s", out.Result)
			}
		}},
	}
	open := func(t testing.TB) Target {
		url, told := startGateway(t, bin, file, 1)
		if strings.Contains(told, "failed") {
			t.Errorf("not all servers are ready:\n%s", told)
		}
		return Target{URL: url}
	}
	RunFronts(t, []Front{
		{Name: "modern", Modern: true, Era: "modern", Open: open, Answers: asked, Cases: cases},
		{Name: "legacy", Modern: true, Era: "legacy", Open: open, Answers: asked, Cases: cases},
	})
}
