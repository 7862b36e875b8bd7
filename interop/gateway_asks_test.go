package interop

import (
	"strings"
	"testing"
)

// TestGatewayAsks puts the npm reference server, which asks its client by requests of the legacy era, behind the gateway, over
// HTTP with sessions and as a program, and has every client library call what asks, in both eras. A modern client is asked by
// the result of its request.
func TestGatewayAsks(t *testing.T) {
	bin := buildGateway(t)
	file := saveConfig(t, map[string]any{
		"web":   map[string]any{"type": "http", "url": StartEverything(t)},
		"child": commandEntry(Everything(t)),
	})
	var cases []Case
	for _, server := range []string{"web", "child"} {
		cases = append(cases,
			Case{server + " user", Step{Do: "call", Name: server + "__trigger-elicitation-request", Arguments: map[string]any{}}, mentions("User inputs", "Name: Ada")},
			Case{
				server + " model",
				Step{Do: "call", Name: server + "__trigger-sampling-request", Arguments: map[string]any{"prompt": "May they?", "maxTokens": 20}},
				mentions("the model says yes"),
			},
			Case{server + " nothing", Step{Do: "call", Name: server + "__echo", Arguments: map[string]any{"message": "hi"}}, SaysText("Echo: hi")},
		)
	}
	open := func(t testing.TB) Target {
		url, told := startGateway(t, bin, file, 2)
		if strings.Contains(told, "failed") {
			t.Errorf("not all servers are ready:\n%s", told)
		}
		return Target{URL: url}
	}
	answers := *asked
	answers.Form = map[string]any{"name": "Ada"}
	RunFronts(t, []Front{
		{Name: "modern", Modern: true, Era: "modern", Open: open, Answers: &answers, Cases: cases},
		{Name: "legacy", Modern: true, Era: "legacy", Open: open, Answers: &answers, Cases: cases},
	})
}

// mentions demands a tool result that is no error and holds all of the texts.
func mentions(texts ...string) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		result := Decode[ToolResult](t, out)
		var all strings.Builder
		for _, block := range result.Content {
			all.WriteString(block.Text + "\n")
		}
		for _, text := range texts {
			if result.IsError || !strings.Contains(all.String(), text) {
				t.Errorf("got %s, want %q in it", out.Result, text)
			}
		}
	}
}
