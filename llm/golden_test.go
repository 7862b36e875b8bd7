package llm_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/openai"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden holds the definitions of the odd tools, and the results of calling each of them, in the shape of every API.
// The official clients of the vendors read the same files in the interop module.
func TestGolden(t *testing.T) {
	list := func(all []json.RawMessage) json.RawMessage {
		raw, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, a := range []struct {
		name    string
		profile llm.Profile
		tools   func(*llm.Set) json.RawMessage
		results func([]llm.Result) json.RawMessage
	}{
		{"openai_chat", openai.Chat(), openai.ChatTools, func(r []llm.Result) json.RawMessage { return list(openai.ChatResults(r)) }},
		{"openai_compatible", openai.Compatible(), openai.ChatTools, func(r []llm.Result) json.RawMessage { return list(openai.CompatibleResults(r)) }},
		{"openai_responses", openai.Responses(), openai.ResponseTools, func(r []llm.Result) json.RawMessage { return list(openai.ResponseResults(r)) }},
		{"anthropic", anthropic.Messages(), anthropic.CachedTools, anthropic.Results},
		{"gemini", gemini.GenerateContent(), gemini.Tools, gemini.Results},
		{"gemini_older", gemini.Older(), gemini.Tools, gemini.OlderResults},
	} {
		set := bind(t, oddSource{}, llm.Options{Profile: a.profile, Strict: []string{"*"}})
		var calls []llm.Call
		for i, tool := range set.Tools() {
			call := llm.Call{ID: fmt.Sprintf("call_%d", i), Name: tool.Name}
			if strings.HasPrefix(tool.Name, "root-union") {
				call.Args = json.RawMessage(`{"a":"x"}`)
			}
			calls = append(calls, call)
		}
		golden(t, a.name+"_tools.json", a.tools(set))
		golden(t, a.name+"_results.json", a.results(set.InvokeAll(t.Context(), calls)))
	}
}

func golden(t *testing.T, name string, raw json.RawMessage) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs; after a look at the difference, rewrite it with -update. Got:\n%s", name, got.Bytes())
	}
}
