package portable_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/llm/internal/randomschema"
	"github.com/rialto-mcp/rialto/llm/portable"
)

var dialects = []portable.Dialect{
	portable.OpenAI, portable.OpenAIStrict, portable.Anthropic, portable.AnthropicStrict, portable.Gemini, portable.GeminiOpenAPI, portable.Common,
}

// TestForms shows what becomes of each kind of schema.
func TestForms(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		dialect  portable.Dialect
		want     string // "" where it fails
		edits    string // kinds and keywords
	}{
		{"no parameters", `{"type":"object"}`, portable.OpenAI, `{"type":"object","properties":{}}`, ""},
		{"no parameters, strict", `{}`, portable.OpenAIStrict, `{"type":"object","properties":{},"additionalProperties":false,"required":[]}`, "narrowed additionalProperties"},
		{"true", `true`, portable.Anthropic, `{"type":"object","properties":{}}`, ""},
		{"root of another type", `{"type":"string"}`, portable.OpenAI, "", ""},
		{"a number", `7`, portable.OpenAI, "", ""},
		{"broken", `{"type":`, portable.OpenAI, "", ""},
		{"what only others read goes", `{"$schema":"https://json-schema.org/draft/2020-12/schema","x-mcp-header":"A","type":"object","properties":{"a":{"type":"string","x-b":1}}}`, portable.OpenAI,
			`{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		{"order is kept", `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"]}`, portable.OpenAI,
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"]}`, ""},
		{"a property named like a keyword", `{"type":"object","properties":{"properties":{"type":"string"},"$ref":{"type":"string"},"const":{"const":{"$ref":"#/no"}}}}`, portable.OpenAI,
			`{"type":"object","properties":{"properties":{"type":"string"},"$ref":{"type":"string"},"const":{"const":{"$ref":"#/no"}}}}`, ""},
		{"array without items", `{"type":"object","properties":{"a":{"type":"array"}}}`, portable.OpenAI, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`, ""},
		{"array without items, strict", `{"type":"object","properties":{"a":{"type":"array"}}}`, portable.OpenAIStrict, "", ""},
		{"reference written out", `{"type":"object","properties":{"a":{"$ref":"#/definitions/P","description":"mine"}},"definitions":{"P":{"type":"string","description":"theirs"}}}`, portable.Anthropic,
			`{"type":"object","properties":{"a":{"type":"string","description":"mine"}}}`, ""},
		{"reference into properties", `{"type":"object","properties":{"a/b":{"type":"string"},"c":{"$ref":"#/properties/a~1b"}}}`, portable.Gemini,
			`{"type":"object","properties":{"a/b":{"type":"string"},"c":{"type":"string"}}}`, ""},
		{"reference with siblings", `{"type":"object","properties":{"a":{"$ref":"#/$defs/P","minLength":3}},"$defs":{"P":{"type":"string","minLength":1}}}`, portable.OpenAI,
			`{"type":"object","properties":{"a":{"minLength":3,"type":"string"}}}`, ""},
		{"siblings of draft-07 say nothing", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/P","minLength":3}},"definitions":{"P":{"type":"string"}}}`, portable.OpenAI,
			`{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		{"reference to nothing", `{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}`, portable.OpenAI, `{"type":"object","properties":{"a":{}}}`, "widened $ref"},
		{"recursion stays", `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`, portable.Anthropic,
			`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/root"}}},"$defs":{"root":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/root"}}}}}}`, ""},
		{"recursion is cut", `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`, portable.Gemini,
			`{"type":"object","properties":{"kids":{"type":"array","items":{"type":"object"}}}}`, "widened $ref"},
		{"recursion, strict", `{"type":"object","properties":{"kid":{"$ref":"#"}},"additionalProperties":false}`, portable.AnthropicStrict, "", ""},
		{"union at the root", `{"type":"object","properties":{"k":{"type":"string"}},"required":["k"],"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}`, portable.OpenAI,
			`{"type":"object","properties":{"k":{"type":"string"},"a":{"type":"string"},"b":{"type":"integer"}},"required":["k"],"description":"Give exactly one of: a; b."}`, "widened oneOf, narrowed oneOf"},
		{"allOf at the root", `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`, portable.Anthropic,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`, ""},
		{"draft-04 bounds", `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}`, portable.Anthropic,
			`{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0}}}`, ""},
		{"draft-04 bounds become inclusive", `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0}}}`, portable.GeminiOpenAPI,
			`{"type":"object","properties":{"a":{"type":"integer","minimum":1}}}`, ""},
		{"draft-07 tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}}}`, portable.Anthropic,
			`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}}}`, ""},
		{"tuple that goes on", `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"}]}}}`, portable.OpenAI,
			`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":{}}}}`, ""},
		{"values of no type that is allowed", `{"type":"object","properties":{"a":{"type":["boolean","null"],"enum":["x"]}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"description":"Leave this out."}}}`, "widened false"},
		{"tuple that ends", `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}`, portable.Common,
			`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"}]},"maxItems":1,"description":"(prefixItems: [{\"type\":\"string\"}])"}}}`, "widened prefixItems"},
		{"boolean schemas", `{"type":"object","properties":{"a":true,"b":false}}`, portable.Gemini, `{"type":"object","properties":{"a":{}}}`, "widened false"},
		{"type list", `{"type":"object","properties":{"a":{"type":["string","null"],"minLength":1,"description":"d"}}}`, portable.OpenAI,
			`{"type":"object","properties":{"a":{"type":["string","null"],"minLength":1,"description":"d"}}}`, ""},
		{"type list split", `{"type":"object","properties":{"a":{"type":["string","null"],"description":"d"}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]}}}`, ""},
		{"null by a keyword", `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, portable.GeminiOpenAPI,
			`{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`, ""},
		{"const", `{"type":"object","properties":{"a":{"const":"x"},"b":{"const":null},"c":{"const":true}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"enum":["x"],"type":"string"},"b":{"type":"null"},"c":{"type":"boolean","description":"(one of [true])"}}}`, "widened enum"},
		{"mixed enum", `{"type":"object","properties":{"a":{"enum":["x",1,null]}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","enum":["x"]},{"type":"number","enum":[1]},{"type":"null"}]}}}`, ""},
		{"oneOf whose branches exclude each other", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`, ""},
		{"oneOf whose branches overlap", `{"type":"object","properties":{"a":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"number"},{"type":"integer"}]}}}`, "widened oneOf"},
		{"words for what is unknown", `{"type":"object","properties":{"a":{"type":"string","pattern":"^a","default":"ab","description":"Name"}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"type":"string","description":"Name (pattern: \"^a\"; default: \"ab\")"}}}`, "widened pattern"},
		{"keys of the root", `{"type":"object","properties":{"größe":{"type":"string"},"in":{"type":"object","properties":{"é":{"type":"string"}}}},"required":["größe"]}`, portable.Anthropic,
			`{"type":"object","properties":{"gr____e_d353a267":{"type":"string"},"in":{"type":"object","properties":{"é":{"type":"string"}}}},"required":["gr____e_d353a267"]}`, "narrowed properties"},
		{"optional becomes nullable", `{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":["x"]},"c":{"type":["null","string"]}},"required":["a"]}`, portable.OpenAIStrict,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"enum":["x"]},{"type":"null"}]},"c":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["a","b","c"],"additionalProperties":false}`,
			"narrowed additionalProperties, narrowed required, narrowed required"},
		{"an open map, strict", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}`, portable.OpenAIStrict, "", ""},
		{"an open map stays", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}`, ""},
		{"conditions", `{"type":"object","properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{"required":["b"]},"not":{"required":["c"]}}`, portable.OpenAI,
			`{"type":"object","properties":{"a":{"type":"string"}}}`, "widened not, widened if"},
		{"names by a pattern that cannot be read", `{"type":"object","properties":{"a":{"type":"object","patternProperties":{"^(?!x)":{"type":"string"}},"additionalProperties":false}}}`, portable.OpenAI,
			`{"type":"object","properties":{"a":{"type":"object","properties":{}}}}`, "widened additionalProperties, widened patternProperties"},
		{"required of something else", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"anyOf":[{"required":["b"]},{"required":["c"]}]}}}`, portable.Gemini,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"anyOf":[{"description":"(required: [\"b\"])"},{"description":"(required: [\"c\"])"}]}}}`, "widened required, widened required"},
		{"keywords of other types", `{"type":"object","properties":{"a":{"type":"string","properties":{},"required":["x"],"maximum":1,"minLength":1}}}`, portable.GeminiOpenAPI,
			`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`, ""},
		{"no properties within", `{"type":"object","properties":{"a":{"type":"object","properties":{}}}}`, portable.GeminiOpenAPI, `{"type":"object","properties":{"a":{"type":"object"}}}`, ""},
		{"members of any name", `{"type":"object","additionalProperties":{"type":"string"}}`, portable.Gemini, `{"type":"object","additionalProperties":{"type":"string"}}`, ""},
		{"what is no schema", `{"type":"object","properties":{"a":"string"}}`, portable.OpenAI, `{"type":"object","properties":{"a":{}}}`, "widened schema"},
	} {
		t.Run(string(tc.dialect)+"/"+tc.name, func(t *testing.T) {
			made, err := portable.Make(json.RawMessage(tc.in), tc.dialect)
			if err != nil {
				if tc.want != "" {
					t.Fatal(err)
				}
				return
			}
			var edits []string
			for _, e := range made.Edits {
				if e.Keyword != "then" {
					edits = append(edits, string(e.Kind)+" "+e.Keyword)
				}
			}
			if string(made.JSON) != tc.want || strings.Join(edits, ", ") != tc.edits {
				t.Errorf("got  %s\nwant %s\nedits %v, want %s", made.JSON, tc.want, made.Edits, tc.edits)
			}
		})
	}
}

func TestRestore(t *testing.T) {
	const in = `{"type":"object","properties":{"größe":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"integer"},"d":{"type":["string","null"]}}},
		"l":{"type":"array","items":{"type":"object","properties":{"e":{"type":"string"}}}}}}`
	for _, tc := range []struct {
		dialect    portable.Dialect
		args, want string // "" where it fails
	}{
		{portable.Anthropic, `{"gr____e_d353a267":"x","b":{"gr____e_d353a267":1}}`, `{"größe":"x","b":{"gr____e_d353a267":1}}`},
		{portable.Anthropic, `{"größe":"x"}`, `{"größe":"x"}`},
		{portable.Anthropic, `{"gr____e_d353a267":"x","größe":"y"}`, ``},
		{portable.GeminiOpenAPI, `{"b":{"c":1,"größe":1,"gr____e_d353a267":2}}`, ``},
		{portable.OpenAIStrict, `{"größe":null,"b":{"c":null,"d":null},"l":[{"e":null},{"e":"\u0041"}]}`, `{"b":{"d":null},"l":[{},{"e":"\u0041"}]}`},
		{portable.OpenAIStrict, `{"größe":"x","b":null,"l":null}`, `{"größe":"x"}`},
		{portable.OpenAI, `{ "a": 1.50 }`, `{ "a": 1.50 }`},
		{portable.Gemini, `{"b":{"c":3.0,"d":"3.0"},"l":[{"e":1.0}],"x":-0.0}`, `{"b":{"c":3,"d":"3.0"},"l":[{"e":1.0}],"x":-0.0}`},
		{portable.OpenAI, `{"b":{"c":-12.000}}`, `{"b":{"c":-12}}`},
		{portable.OpenAI, `{"b":{"c":3.05}}`, `{"b":{"c":3.05}}`},
		{portable.OpenAI, `{"b":{"c":1.0e2}}`, `{"b":{"c":1.0e2}}`},
		{portable.OpenAI, `[1]`, ``},
		{portable.OpenAI, `{"a":1,"a":2}`, ``},
	} {
		made, err := portable.Make(json.RawMessage(in), tc.dialect)
		if err != nil {
			t.Fatal(err)
		}
		got, err := made.Restore(json.RawMessage(tc.args))
		if string(got) != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%s: %s: %v, got %s, want %s", tc.dialect, tc.args, err, got, tc.want)
		}
	}
}

// TestLosslessMeansValid holds the promise of Lossless over many schemas and values: what the portable schema accepts is,
// restored, valid under the first one.
func TestLosslessMeansValid(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 26))
	lossless, accepted := 0, 0
	for range 300 {
		doc := json.RawMessage(randomschema.Maker{Rand: random}.Document())
		original, err := schema.Compile(doc, schema.Options{})
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		for _, d := range dialects {
			a, b := check(t, doc, original, d, random)
			lossless += a
			accepted += b
		}
	}
	if lossless < 200 || accepted < 500 {
		t.Errorf("the test has met only %d lossless schemas and %d values", lossless, accepted)
	}
}

func check(t *testing.T, doc json.RawMessage, original *schema.Schema, d portable.Dialect, random *rand.Rand) (lossless, accepted int) {
	t.Helper()
	made, err := portable.Make(doc, d)
	if err != nil {
		return 0, 0
	}
	compiled := compiledForm(t, made)
	if !made.Lossless() {
		return 0, 0
	}
	for range 60 {
		value := json.RawMessage(randomschema.Maker{Rand: random}.Object(3))
		if compiled.Validate(value) != nil || strings.Contains(string(value), "größe") { // a key by a name that is not there
			continue
		}
		accepted++
		restored, err := made.Restore(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := original.Validate(restored); err != nil {
			t.Fatalf("%s: said to lose nothing, but accepts what the first does not: %s (restored %s): %v\n%s\n%s\n%v", d, value, restored, err, doc, made.JSON, made.Edits)
		}
	}
	return 1, accepted
}

func FuzzMake(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/P"}},"$defs":{"P":{"anyOf":[{"$ref":"#"},{"type":["string","null"]}]}}}`))
	f.Add([]byte(`{"oneOf":[{"required":["a"]},{"properties":{"b":{"items":[{}]}}}],"allOf":[true]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, d := range dialects {
			made, err := portable.Make(doc, d)
			if err != nil {
				continue
			}
			if !json.Valid(made.JSON) {
				t.Fatalf("%s: no JSON: %s", d, made.JSON)
			}
			if again, err := portable.Make(doc, d); err != nil || string(again.JSON) != string(made.JSON) {
				t.Fatalf("%s: not the same twice", d)
			}
			if _, err := made.Restore(json.RawMessage(`{"a":null,"b":[{"c":null}]}`)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
