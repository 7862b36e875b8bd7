package interop

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// everythingCases holds for the reference server "everything", alone or behind a gateway that keeps its names.
func everythingCases() []Case {
	return []Case{
		{"tools", Step{Do: "list", Kind: "tools"}, Lists("echo", "get-structured-content", "get-sum", "trigger-long-running-operation")},
		{"resources", Step{Do: "list", Kind: "resources"}, Lists("demo://resource/static/document/features.md")},
		{"templates", Step{Do: "list", Kind: "templates"}, Lists("demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/blob/{resourceId}")},
		{"prompts", Step{Do: "list", Kind: "prompts"}, Lists("simple-prompt", "args-prompt", "completable-prompt", "resource-prompt")},
		{"plain call", Step{Do: "call", Name: "echo", Arguments: map[string]any{"message": "hi"}}, SaysText("Echo: hi")},
		{
			"progress",
			Step{Do: "call", Name: "trigger-long-running-operation", Arguments: map[string]any{"duration": 0.3, "steps": 3}, Progress: 3},
			climbs("Long running operation completed. Duration: 0.3 seconds, Steps: 3.", 3),
		},
		{
			"structured",
			Step{Do: "call", Name: "get-structured-content", Arguments: map[string]any{"location": "Chicago"}},
			hasStructure(`{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`),
		},
		{
			"failing call",
			Step{Do: "call", Name: "get-resource-reference", Arguments: map[string]any{"resourceId": -1}},
			FailsWithText("Invalid resourceId: -1. Must be a finite positive integer."),
		},
		{"read", Step{Do: "read", URI: "demo://resource/static/document/features.md"}, reads("# Everything Server - Features")},
		{"read template", Step{Do: "read", URI: "demo://resource/dynamic/text/7"}, reads("Resource 7: This is a plaintext resource")},
		{"read missing", Step{Do: "read", URI: "demo://nope"}, FailsWithCode(-32002, -32602)},
		{"prompt", Step{Do: "prompt", Name: "args-prompt", Arguments: map[string]any{"city": "Oslo"}}, prompts("What's weather in Oslo?")},
		{
			"complete prompt",
			Step{Do: "complete", Ref: &Ref{Type: "ref/prompt", Name: "completable-prompt"}, Argument: &Argument{Name: "department", Value: "S"}},
			Completes("Sales", "Support"),
		},
		{
			"complete template",
			Step{Do: "complete", Ref: &Ref{Type: "ref/resource", URI: "demo://resource/dynamic/text/{resourceId}"}, Argument: &Argument{Name: "resourceId", Value: "7"}},
			Completes("7"),
		},
	}
}

// memoCases holds for node/server2.mjs, alone or behind a gateway that keeps its names.
func memoCases() []Case {
	return []Case{
		{"tools", Step{Do: "list", Kind: "tools"}, Lists("say", "climb", "reading", "stumble")},
		{"resources", Step{Do: "list", Kind: "resources"}, Lists("memo://welcome")},
		{"templates", Step{Do: "list", Kind: "templates"}, Lists("memo://note/{id}")},
		{"prompts", Step{Do: "list", Kind: "prompts"}, Lists("greeting")},
		{"plain call", Step{Do: "call", Name: "say", Arguments: map[string]any{"text": "grüezi"}}, SaysText("grüezi")},
		{"progress", Step{Do: "call", Name: "climb", Arguments: map[string]any{"steps": 4}, Progress: 4}, climbs("climbed 4 steps", 4)},
		{"structured", Step{Do: "call", Name: "reading", Arguments: map[string]any{"city": "Oslo"}}, hasStructure(`{"celsius":4.5,"sky":"rain"}`)},
		{"failing call", Step{Do: "call", Name: "stumble", Arguments: map[string]any{}}, FailsWithText("stumbled on purpose")},
		{"unknown tool", Step{Do: "call", Name: "nope", Arguments: map[string]any{}}, FailsWithCode(-32602)},
		{"read", Step{Do: "read", URI: "memo://welcome"}, reads("welcome to the memo server")},
		{"read template", Step{Do: "read", URI: "memo://note/7"}, reads("memo number 7")},
		{"read missing", Step{Do: "read", URI: "memo://nope"}, FailsWithCode(-32002, -32602)},
		{
			"prompt",
			Step{Do: "prompt", Name: "greeting", Arguments: map[string]any{"name": "Ada", "language": "dutch"}},
			prompts("Greet Ada in dutch."),
		},
		{
			"complete prompt",
			Step{Do: "complete", Ref: &Ref{Type: "ref/prompt", Name: "greeting"}, Argument: &Argument{Name: "language", Value: "d"}},
			Completes("dutch", "danish"),
		},
		{
			"complete template",
			Step{Do: "complete", Ref: &Ref{Type: "ref/resource", URI: "memo://note/{id}"}, Argument: &Argument{Name: "id", Value: "1"}},
			Completes("1", "12"),
		},
	}
}

// filesystemCases holds for the reference server "filesystem" on a folder with the file hello.txt.
func filesystemCases(folder string) []Case {
	return []Case{
		{"tools", Step{Do: "list", Kind: "tools"}, Lists("read_text_file", "write_file", "list_directory")},
		{
			"read file",
			Step{Do: "call", Name: "read_text_file", Arguments: map[string]any{"path": folder + "/hello.txt"}},
			SaysText("hello from a file"),
		},
		{
			"outside",
			Step{Do: "call", Name: "read_text_file", Arguments: map[string]any{"path": "/etc/hostname"}},
			func(t testing.TB, out Outcome) {
				if !Decode[ToolResult](t, out).IsError {
					t.Errorf("got %s, want a tool error", out.Result)
				}
			},
		},
	}
}

// climbs demands the text and progress 1, 2, ... up to the total.
func climbs(text string, total int) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		SaysText(text)(t, out)
		if len(out.Progress) != total {
			t.Fatalf("progress %v, want %d notifications", out.Progress, total)
		}
		for i, p := range out.Progress {
			if p.Progress != float64(i+1) || p.Total != float64(total) {
				t.Errorf("notification %d is %v of %v", i, p.Progress, p.Total)
			}
		}
	}
}

func hasStructure(want string) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		result := Decode[ToolResult](t, out)
		if result.IsError || len(result.Content) == 0 || !sameJSON(t, result.StructuredContent, want) {
			t.Errorf("got %s, want the structured content %s and a text beside it", out.Result, want)
		}
	}
}

func sameJSON(t testing.TB, got json.RawMessage, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		return false
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(a, b)
}

func reads(prefix string) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		result := Decode[ReadResult](t, out)
		if len(result.Contents) != 1 || !strings.HasPrefix(result.Contents[0].Text, prefix) {
			t.Errorf("got %.300s, want one item that begins with %q", out.Result, prefix)
		}
	}
}

func prompts(want string) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		result := Decode[PromptResult](t, out)
		if len(result.Messages) != 1 || result.Messages[0].Role != "user" || result.Messages[0].Content.Text != want {
			t.Errorf("got %s, want one user message %q", out.Result, want)
		}
	}
}
