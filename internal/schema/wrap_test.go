package schema

import (
	"encoding/json"
	"testing"
)

func TestWrapOutput(t *testing.T) {
	const tail = `},"required":["result"]}`
	const head = `{"type":"object","properties":{"result":`
	for _, c := range []struct{ name, in, want string }{
		{"object stays", ` {"type":"object", "properties":{}}`, ` {"type":"object", "properties":{}}`},
		{"no JSON stays", `{"type":`, `{"type":`},
		{"string", `{"type":"string"}`, head + `{"type":"string"}` + tail},
		{"list with object", `{"type":["object"]}`, head + `{"type":["object"]}` + tail},
		{"null or array", `{"type":["null","array"]}`, head + `{"type":["null","array"]}` + tail},
		{"no type", `{"anyOf":[{"type":"object"}]}`, head + `{"anyOf":[{"type":"object"}]}` + tail},
		{"true", `true`, head + `true` + tail},
		{"empty", `{}`, head + `{}` + tail},
		{"bytes are kept", `{ "const" : 1.50, "é\u00e9":"\/" }`, head + `{ "const" : 1.50, "é\u00e9":"\/" }` + tail},
		{"dialect", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"array"}`,
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"result":{"$schema":"http://json-schema.org/draft-07/schema#","type":"array"}` + tail},
		{"dialect no string", `{"$schema":1}`, head + `{"$schema":1}` + tail},
		{"refs move", `{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"anyOf":[{"$ref":"#"},{"$dynamicRef":"#/x"}]}}}`,
			head + `{"type":"array","items":{"$ref":"#/properties/result/$defs/a"},"$defs":{"a":{"anyOf":[{"$ref":"#/properties/result"},{"$dynamicRef":"#/properties/result/x"}]}}}` + tail},
		{"other refs stay", `{"allOf":[{"$ref":"#name"},{"$ref":"https://example.com/#/a"},{"$ref":1},{"$ref":"a#/b"}]}`,
			head + `{"allOf":[{"$ref":"#name"},{"$ref":"https://example.com/#/a"},{"$ref":1},{"$ref":"a#/b"}]}` + tail},
		{"root id", `{"$id":"https://example.com/s","$ref":"#/$defs/a"}`, head + `{"$id":"https://example.com/s","$ref":"#/$defs/a"}` + tail},
		{"root anchor id", `{"$id":"#s","$ref":"#/$defs/a"}`, head + `{"$id":"#s","$ref":"#/properties/result/$defs/a"}` + tail},
		{"nested id", `{"items":{"$id":"x","$ref":"#/a"},"not":{"$id":"#x","$ref":"#/a"}}`,
			head + `{"items":{"$id":"x","$ref":"#/a"},"not":{"$id":"#x","$ref":"#/properties/result/a"}}` + tail},
		{"data", `{"const":{"$ref":"#"},"enum":[{"$ref":"#"}],"default":{"$ref":"#"},"examples":[{"$ref":"#"}],"x-a":{"$ref":"#"}}`,
			head + `{"const":{"$ref":"#"},"enum":[{"$ref":"#"}],"default":{"$ref":"#"},"examples":[{"$ref":"#"}],"x-a":{"$ref":"#"}}` + tail},
		{"names", `{"properties":{"default":{"$ref":"#"},"$ref":{"$ref":"#"}},"dependencies":{"const":{"$ref":"#"},"b":["a"]}}`,
			head + `{"properties":{"default":{"$ref":"#/properties/result"},"$ref":{"$ref":"#/properties/result"}},"dependencies":{"const":{"$ref":"#/properties/result"},"b":["a"]}}` + tail},
		{"tuple", `{"items":[{"$ref":"#"},true],"additionalItems":{"$ref":"#"}}`,
			head + `{"items":[{"$ref":"#/properties/result"},true],"additionalItems":{"$ref":"#/properties/result"}}` + tail},
		{"escaped ref", `{"items":{"$ref":"#\/a"}}`, head + `{"items":{"$ref":"#/properties/result/a"}}` + tail},
		{"recursive ref", `{"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$recursiveRef":"#"}}`,
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{"result":` +
				`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$ref":"#/properties/result"}}` + tail},
		{"recursive ref beside ref", `{"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$recursiveRef":"#","$ref":"#/a","allOf":[true]}}`,
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{"result":` +
				`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$ref":"#/properties/result/a","allOf":[true,{"$ref":"#/properties/result"}]}}` + tail},
		{"recursive anchor", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"items":{"$recursiveRef":"#"}}`,
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{"result":` +
				`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"items":{"$recursiveRef":"#"}}` + tail},
		{"recursive ref elsewhere", `{"items":{"$recursiveRef":"#"}}`, head + `{"items":{"$recursiveRef":"#"}}` + tail},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, wrapped := WrapOutput(json.RawMessage(c.in))
			if string(got) != c.want {
				t.Fatalf("\n got %s\nwant %s", got, c.want)
			}
			if wrapped != (c.in != c.want) {
				t.Fatalf("wrapped is %v", wrapped)
			}
		})
	}
}

func TestRootIsObject(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"type":"object"}`: true, `{"type":["object"]}`: false, `{}`: false, `true`: false, `{"type":"array"}`: false, `{`: false, ``: false,
		`{"properties":{"type":{"const":"object"}}}`: false, ` { "a":1, "type" : "object" } `: true,
	} {
		if RootIsObject(json.RawMessage(raw)) != want {
			t.Errorf("%s is not %v", raw, want)
		}
	}
}

// FuzzWrapOutput: what compiles still compiles wrapped, and takes the wrapped form of what it took.
func FuzzWrapOutput(f *testing.F) {
	f.Add(`{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"string"}}}`, `["a"]`)
	f.Add(`{"anyOf":[{"type":"null"},{"properties":{"n":{"$ref":"#"}},"required":["n"]}]}`, `{"n":null}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		before, err := Compile(json.RawMessage(schema), Options{})
		if err != nil {
			return
		}
		wrapped, changed := WrapOutput(json.RawMessage(schema))
		if !changed {
			return
		}
		after, err := Compile(wrapped, Options{MaxDepth: -1, MaxSubschemas: -1})
		if err != nil {
			return // an $id or a recursive reference may lose its target; the page says so
		}
		if _, err := parse([]byte(value)); err != nil || before.Validate(json.RawMessage(value)) != nil {
			return
		}
		if err := after.Validate(json.RawMessage(`{"result":` + value + `}`)); err != nil {
			t.Fatalf("%s takes %s, but wrapped it says %v", schema, value, err)
		}
	})
}
