package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestHeaderParams(t *testing.T) {
	raw := `{"type":"object","properties":{
		"b":{"type":"object","properties":{"x-mcp-header":{"type":"boolean","x-mcp-header":"In-B"},"n":{"type":"integer","x-mcp-header":"Count"}}},
		"a":{"type":"string","x-mcp-header":"Region"},"c":{"type":"string","default":{"x-mcp-header":1}}}}`
	got, err := HeaderParams(json.RawMessage(raw))
	want := []HeaderParam{
		{[]string{"a"}, "Region", "string"},
		{[]string{"b", "n"}, "Count", "integer"},
		{[]string{"b", "x-mcp-header"}, "In-B", "boolean"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v %v", got, err)
	}
	for _, none := range []string{`true`, `{}`, `{"type":"object","properties":{"header":{}}}`} {
		if got, err := HeaderParams(json.RawMessage(none)); got != nil || err != nil {
			t.Errorf("%s: %v %v", none, got, err)
		}
	}
}

func TestHeaderParamsRefuses(t *testing.T) {
	property := func(p string) string { return `{"type":"object","properties":{"a":` + p + `}}` }
	good := `{"type":"string","x-mcp-header":"A"}`
	cases := []struct{ name, schema, want string }{
		{"no JSON", `{"header":`, "read the schema"},
		{"root", `{"type":"object","x-mcp-header":"A"}`, "at the root"},
		{"escaped keyword at the root", `{"type":"object","x-mcp-h\u0065ader":"A"}`, "at the root"},
		{"number value", property(`{"type":"string","x-mcp-header":1}`), "/properties/a must be a non-empty string"},
		{"empty", property(`{"type":"string","x-mcp-header":""}`), "non-empty"},
		{"space", property(`{"type":"string","x-mcp-header":"A B"}`), `"A B", which is no header name`},
		{"line break", property(`{"type":"string","x-mcp-header":"A\r\nB"}`), "no header name"},
		{"not ASCII", property(`{"type":"string","x-mcp-header":"é"}`), "no header name"},
		{"type number", property(`{"type":"number","x-mcp-header":"A"}`), "needs the type"},
		{"type list", property(`{"type":["string","null"],"x-mcp-header":"A"}`), "needs the type"},
		{"type list of one", property(`{"type":["string"],"x-mcp-header":"A"}`), "needs the type"},
		{"type object", property(`{"type":"object","x-mcp-header":"A"}`), "needs the type"},
		{"type array", property(`{"type":"array","x-mcp-header":"A"}`), "needs the type"},
		{"type null", property(`{"type":"null","x-mcp-header":"A"}`), "needs the type"},
		{"no type", property(`{"x-mcp-header":"A"}`), "needs the type"},
		{"twice", `{"properties":{"a":` + good + `,"b":{"type":"string","x-mcp-header":"a"}}}`, `/properties/b names "a", as /properties/a does already`},
		{"dependencies", `{"dependencies":{"a":` + good + `}}`, "through properties alone"},
	}
	for _, keyword := range []string{"items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames", "not", "if", "then", "else", "additionalItems"} {
		cases = append(cases, struct{ name, schema, want string }{keyword, `{"` + keyword + `":` + good + `}`, "through properties alone"})
	}
	for _, keyword := range []string{"prefixItems", "oneOf", "anyOf", "allOf", "items"} {
		cases = append(cases, struct{ name, schema, want string }{keyword + " list", `{"` + keyword + `":[` + good + `]}`, "through properties alone"})
	}
	for _, keyword := range []string{"patternProperties", "dependentSchemas", "$defs", "definitions"} {
		cases = append(cases, struct{ name, schema, want string }{keyword, property(`{"` + keyword + `":{"x":` + good + `}}`), "through properties alone"})
	}
	cases = append(cases, struct{ name, schema, want string }{"properties below items", `{"items":{"properties":{"a":` + good + `}}}`, "through properties alone"})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := HeaderParams(json.RawMessage(c.schema))
			if err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
				t.Fatalf("got %v %v, want %q", got, err, c.want)
			}
		})
	}
}
