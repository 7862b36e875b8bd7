package llm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
)

// backs are the APIs with both ways: what writes, and what reads.
var backs = []struct {
	name    string
	profile llm.Profile
	tools   func(*llm.Set) json.RawMessage
	read    func(json.RawMessage) (*llm.Definitions, error)
	results func([]llm.Result) []json.RawMessage
	history func(...json.RawMessage) (*llm.History, error)

	mark, names bool     // failed calls are told by words; names of files are kept
	carried     []string // types of media that the API takes in results or behind them
}{
	{"openai chat", openai.Chat(), openai.ChatTools, openai.ReadTools, openai.ChatResults, openai.ReadChat, true, true,
		[]string{"image/png", "image/jpeg", "audio/wav", "audio/mpeg", "application/pdf"}},
	{"openai compatible", openai.Compatible(), openai.ChatTools, openai.ReadTools, openai.CompatibleResults, openai.ReadChat, true, true, []string{}},
	{"openai responses", openai.Responses(), openai.ResponseTools, openai.ReadTools, openai.ResponseResults, openai.ReadResponses, true, true,
		[]string{"image/png", "image/jpeg", "application/pdf"}},
	{"anthropic", anthropic.Messages(), anthropic.CachedTools, anthropic.ReadTools,
		func(r []llm.Result) []json.RawMessage { return raws(anthropic.Results(r)) }, anthropic.ReadMessages, false, true,
		[]string{"image/png", "image/jpeg", "application/pdf"}},
	{"gemini", gemini.GenerateContent(), gemini.Tools, gemini.ReadTools,
		func(r []llm.Result) []json.RawMessage { return raws(gemini.Results(r)) }, gemini.ReadContents, false, false,
		[]string{"image/png", "image/jpeg", "audio/wav", "audio/mpeg", "application/pdf"}},
	{"gemini older", gemini.Older(), gemini.Tools, gemini.ReadTools,
		func(r []llm.Result) []json.RawMessage { return raws(gemini.OlderResults(r)) }, gemini.ReadContents, false, false, []string{}},
}

// TestDefinitionsComeBack holds that definitions which were written and read back are the same tools, for odd tools and for
// many random ones: names, descriptions and schemas, token for token. Where the schema has to change its kind on the way
// back (Gemini's older one), it says the same: written again it is the same bytes. So nothing is lost on the way back; what
// the way there loses is in Tool.Edits.
func TestDefinitionsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tools []mcp.Tool
	for _, o := range odd {
		tools = append(tools, mcp.Tool{Name: o.name, Description: "Does " + o.name, InputSchema: json.RawMessage(o.schema)})
	}
	for i := range 40 {
		tools = append(tools, mcp.Tool{Name: fmt.Sprintf("random_%d", i), Description: "x", InputSchema: json.RawMessage(randomSchema(r, 0))})
	}
	for _, b := range backs {
		b.profile.ToolsMax = 1000
		for _, strict := range [][]string{nil, {"*"}} {
			set := bind(t, llm.List(tools...), llm.Options{Profile: b.profile, Strict: strict})
			written := b.tools(set)
			defs, err := b.read(written)
			if err != nil || defs.Skipped != nil || len(defs.Tools) != len(set.Tools()) {
				t.Fatalf("%s: %v, %d of %d tools, without %v", b.name, err, len(defs.Tools), len(set.Tools()), defs.Skipped)
			}
			for i, tool := range set.Tools() {
				got := defs.Tools[i]
				same := bytes.Equal(got.InputSchema, tool.Input) || got.InputSchema == nil && string(tool.Input) == `{"type":"object","properties":{}}`
				if got.Name != tool.Name || got.Description != tool.Description || !same && b.name != "gemini older" {
					t.Errorf("%s:\ngot  %+v\nwant %+v", b.name, got, tool)
				}
			}
			if b.name != "gemini older" {
				continue
			}
			if again := b.tools(bind(t, llm.List(defs.Tools...), llm.Options{Profile: b.profile})); !bytes.Equal(again, written) {
				t.Errorf("%s: written again they differ:\n%s", b.name, firstDifference(written, again))
			}
		}
	}
}

func firstDifference(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-150)
	return fmt.Sprintf("%s\n%s", a[from:min(len(a), i+150)], b[from:min(len(b), i+150)])
}

// randomSchema is a schema of an object such as tools have.
func randomSchema(r *rand.Rand, depth int) string {
	var members, required []string
	for i := range 1 + r.IntN(4) {
		name := fmt.Sprintf("p%d", i)
		members = append(members, fmt.Sprintf(`%q:%s`, name, randomValue(r, depth+1)))
		if r.IntN(2) == 0 {
			required = append(required, fmt.Sprintf("%q", name))
		}
	}
	s := `{"type":"object","properties":{` + strings.Join(members, ",") + `}`
	if required != nil {
		s += `,"required":[` + strings.Join(required, ",") + `]`
	}
	if r.IntN(3) == 0 {
		s += `,"additionalProperties":false`
	}
	return s + "}"
}

func randomValue(r *rand.Rand, depth int) string {
	all := []string{
		`{"type":"string","description":"words"}`, `{"type":"string","enum":["a","b"]}`, `{"type":"integer","minimum":1,"maximum":9}`, `{"type":"number"}`, `{"type":"boolean"}`,
		`{"type":["string","null"]}`, `{"type":["integer","null"],"minimum":0}`, `{"type":"integer","enum":[1,2,3]}`, `{"type":"string","format":"date-time"}`,
		`{"type":"string","minLength":2,"maxLength":5}`, `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"const":"x"}`, `{"type":["string","null"],"enum":["a",null]}`,
		`{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":4}`, `{"type":"string","default":"d"}`, `{"type":"object","additionalProperties":{"type":"string"}}`,
	}
	switch n := r.IntN(len(all) + 4); {
	case n < len(all):
		return all[n]
	case depth > 3:
		return all[0]
	case n%2 == 0:
		return `{"type":"array","items":` + randomValue(r, depth+1) + `}`
	}
	return randomSchema(r, depth+1)
}

// TestResultsComeBack holds that results which were written and read back are what they were: texts, pictures, sounds and
// files in their order, and whether the call failed. What an API does not carry comes back as the line that stands for it;
// texts that follow each other may come back as one; where the API has no mark for a failed call, the text says it.
func TestResultsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		var results []llm.Result
		for i := range 1 + r.IntN(4) {
			results = append(results, randomResult(r, i))
		}
		for _, b := range backs {
			h, err := b.history(b.results(results)...)
			if err != nil || h.Left != nil {
				t.Fatalf("%s: %v, %v", b.name, err, h)
			}
			got := h.Results()
			if len(got) != len(results) {
				t.Fatalf("%s: %d results of %d", b.name, len(got), len(results))
			}
			for i, want := range results {
				back := llm.CallResult(got[i])
				if id := got[i].ToolUseID; id != want.ID || back.IsError != (want.IsError && !b.mark) {
					t.Errorf("%s: id %q, isError %v of %+v", b.name, id, back.IsError, want)
				}
				parts := llm.ContentParts(back.Content, back.StructuredContent, llm.Options{})
				if a, w := flat(parts, nil, b.names), flat(wanted(want, b.mark), b.carried, b.names); a != w {
					t.Fatalf("%s:\ngot  %s\nwant %s\nover %s", b.name, a, w, b.results(results))
				}
			}
		}
	}
}

func randomResult(r *rand.Rand, i int) llm.Result {
	out := llm.Result{ID: fmt.Sprintf("c%d", i), Name: fmt.Sprintf("tool (%d)", i%2), IsError: r.IntN(4) == 0}
	if out.IsError {
		out.Parts = append(out.Parts, llm.Part{Kind: llm.TextPart, Text: "failed"})
	}
	for range 1 + r.IntN(5) {
		switch r.IntN(6) {
		case 0:
			out.Parts = append(out.Parts, llm.Media("image/png", png, "", ""))
		case 1:
			out.Parts = append(out.Parts, llm.Media("image/jpg", []byte{0xFF, 0xD8, byte(r.IntN(256))}, "", ""))
		case 2:
			out.Parts = append(out.Parts, llm.Media(slicesPick(r, "audio/x-wav", "audio/mp3", "audio/ogg+x"), []byte("RIFF"), "", ""))
		case 3:
			out.Parts = append(out.Parts, llm.Media("application/pdf", []byte("%PDF-1"), slicesPick(r, "a.pdf", "b%20c,d.pdf", ""), ""))
		default:
			out.Parts = append(out.Parts, llm.Part{Kind: llm.TextPart, Text: slicesPick(r, "low tide", "two\nlines", "Output of tool (0) (c0):", "[odd, line]", "größer 🌊", `{"n":1}`, "trailing\n")})
		}
	}
	return out
}

func slicesPick(r *rand.Rand, all ...string) string { return all[r.IntN(len(all))] }

// wanted is what must come back of a result.
func wanted(r llm.Result, mark bool) []llm.Part {
	parts := slices.Clone(r.Parts)
	if r.IsError && mark {
		parts[0].Text = "Error: " + parts[0].Text
	}
	return parts
}

// flat writes parts for comparison: texts that follow each other as one, and what is not carried as its line.
func flat(parts []llm.Part, carried []string, names bool) string {
	var lines []string
	for _, p := range parts {
		known := carried == nil || slices.Contains(carried, p.MIME)
		switch {
		case p.Kind == llm.TextPart:
			lines = append(lines, p.Text)
		case !known:
			lines = append(lines, p.Placeholder("not shown"))
		default:
			name := ""
			if names && p.Kind == llm.FilePart && p.Name != "" && p.Name != "data" && p.Name != "data.pdf" {
				name = p.Name
			}
			lines = append(lines, fmt.Sprintf("<%s %s %x %s>", p.Kind, p.MIME, p.Data, name))
		}
	}
	return strings.Join(lines, "\n")
}
