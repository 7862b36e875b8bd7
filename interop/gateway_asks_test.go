package interop

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
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

// TestGatewayTellsAndVisits puts the npm reference server, which is of the legacy era, behind the gateway. A client of either era
// goes to the page that stands before a call, which is an error in 2025-11-25 and a question in 2026-07-28, and hears of the
// resource that it has subscribed to.
func TestGatewayTellsAndVisits(t *testing.T) {
	bin := buildGateway(t)
	for name, entry := range map[string]func(*testing.T) map[string]any{
		"program": func(t *testing.T) map[string]any { return commandEntry(Everything(t)) },
		"http":    func(t *testing.T) map[string]any { return map[string]any{"url": StartEverything(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			url, told := startGateway(t, bin, saveConfig(t, map[string]any{"everything": entry(t)}), 1)
			if strings.Contains(told, "failed") {
				t.Fatalf("the server is not ready:\n%s", told)
			}
			for _, mode := range []client.Mode{client.Modern, client.Legacy} {
				opts, shown := answering()
				opts.Mode = mode
				c := dialed(t, Target{URL: url}, opts)
				called(t, c, "trigger-url-elicitation", map[string]any{"url": "https://a.example/", "errorPath": true}, "https://a.example/")
				if got := shown(); !strings.Contains(got, "page of a.example") {
					t.Errorf("shown: %s", got)
				}
				const uri = "demo://resource/dynamic/text/1"
				sub, err := c.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{uri}})
				if err != nil {
					t.Fatal(err)
				}
				called(t, c, "toggle-subscriber-updates", nil, "Started")
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				if e, err := sub.Next(ctx); err != nil || e.Kind != client.ResourceUpdated || e.URI != uri {
					t.Errorf("got %+v, %v", e, err)
				}
				cancel()
				called(t, c, "toggle-subscriber-updates", nil, "Stopped")
				if err := sub.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
