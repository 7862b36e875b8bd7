package shape_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// TestArguments shows what the shown schema looks like, and when a tool is hidden because what is said does not fit it. All
// other tokens stay: escapes, the form of numbers, the order.
func TestArguments(t *testing.T) {
	const plain = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":1e1},"d\u00e9bug":true},"required":["city","days"]}`
	drop, value := shape.Argument{Drop: true}, func(raw string) shape.Argument { return shape.Argument{Value: json.RawMessage(raw)} }
	type arguments = map[string]shape.Argument
	for _, tc := range []struct {
		name, schema string
		said         arguments
		want         string // the schema, or the reason why the tool is hidden
	}{
		{"nothing", plain, nil, plain},
		{"a fixed value", plain, arguments{"city": value(`"Oslo"`)}, `{"type":"object","properties":{"days":{"type":"integer","maximum":1e1},"d\u00e9bug":true},"required":["days"]}`},
		{"fixed values for all that is required", plain, arguments{"city": value(`"Oslo"`), "days": value(`1`)}, `{"type":"object","properties":{"d\u00e9bug":true}}`},
		{"another name", plain, arguments{"city": {Rename: "place"}}, `{"type":"object","properties":{"place":{"type":"string"},"days":{"type":"integer","maximum":1e1},"d\u00e9bug":true},"required":["place","days"]}`},
		{"a default", plain, arguments{"days": {Default: json.RawMessage(`3`)}}, `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":1e1,"default":3},"d\u00e9bug":true},"required":["city"]}`},
		{"a description", plain, arguments{"débug": {Description: "more words"}}, `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":1e1},"d\u00e9bug":{"description":"more words"}},"required":["city","days"]}`},
		{"an optional one is dropped", plain, arguments{"débug": drop}, `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":1e1}},"required":["city","days"]}`},
		{"two change names", plain, arguments{"city": {Rename: "days"}, "days": {Rename: "city"}}, `{"type":"object","properties":{"days":{"type":"string"},"city":{"type":"integer","maximum":1e1},"d\u00e9bug":true},"required":["days","city"]}`},

		{"an unknown one", plain, arguments{"town": {Rename: "x"}}, `it has no argument "town"`},
		{"a required one is dropped", plain, arguments{"city": drop}, `its argument "city" is required, so that it cannot be dropped; give it a value`},
		{"a name that is taken", plain, arguments{"city": {Rename: "days"}}, `two of its arguments would have the name "days"`},
		{"no schema", `true`, arguments{"city": drop}, `it has no argument "city"`},

		{"rules about names",
			`{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"],"properties":{"a":false}}],"dependentRequired":{"a":["b"]},"if":{"properties":{"a":{"const":1}}},"then":{"not":{"required":["a"]}}}`,
			arguments{"a": {Rename: "x"}},
			`{"properties":{"x":{},"b":{}},"anyOf":[{"required":["x"]},{"required":["b"],"properties":{"x":false}}],"dependentRequired":{"x":["b"]},"if":{"properties":{"x":{"const":1}}},"then":{"not":{"required":["x"]}}}`},
		{"rules that a fixed value keeps", `{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			arguments{"a": value(`1`)}, `{"properties":{"b":{}},"anyOf":[{},{"required":["b"]}]}`},
		{"rules about a hidden value", `{"properties":{"a":{},"b":{}},"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]}}`,
			arguments{"a": value(`1`)}, `its schema has rules about the argument "a" that cannot be shown while it is hidden`},
		{"what depends on a dropped one", `{"properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"properties":{"b":{}}}}}`,
			arguments{"a": drop}, `{"properties":{"b":{}},"dependentRequired":{},"dependentSchemas":{"b":{"properties":{"b":{}}}}}`},
		{"what depends on one that is always there", `{"properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}}`,
			arguments{"a": value(`1`)}, `its schema has rules that depend on the argument "a", which would always be there`},
		{"rules for all names", `{"properties":{"a":{}},"propertyNames":{"maxLength":1}}`, arguments{"a": {Rename: "x"}},
			`its schema has rules for the names of arguments ("propertyNames")`},
		{"a rule that a dropped one could have kept", `{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			arguments{"a": drop}, `its schema has rules about the argument "a" that cannot be shown while it is hidden`},
		{"one that another needs", `{"properties":{"a":{},"b":{}},"dependentRequired":{"b":["a"]}}`,
			arguments{"a": drop}, `its schema has rules about the argument "a" that cannot be shown while it is hidden`},
		{"a rule against one that is always there", `{"properties":{"a":{},"b":{}},"not":{"required":["a","b"]}}`,
			arguments{"a": {Default: json.RawMessage(`1`)}}, `its schema has rules about the argument "a" that cannot be shown while it is hidden`},
		{"rules for names like these", `{"properties":{"x_a":{},"b":{}},"patternProperties":{"^x_":{"type":"string"}}}`,
			arguments{"b": {Rename: "x_b"}}, `its schema has rules for the names of arguments like "^x_"`},
		{"rules for names like others", `{"properties":{"b":{}},"patternProperties":{"^x_":{"type":"string"}}}`,
			arguments{"b": {Rename: "c"}}, `{"properties":{"c":{}},"patternProperties":{"^x_":{"type":"string"}}}`},
		{"a count", `{"properties":{"a":{},"b":{}},"minProperties":2}`, arguments{"a": value(`1`)},
			`its schema counts the arguments ("minProperties"), and some are sent by the gateway`},
		{"whole values", `{"properties":{"a":{}},"enum":[{"a":1}]}`, arguments{"a": {Rename: "x"}},
			`its schema says what the arguments are all together ("enum")`},
		{"rules in another place", `{"properties":{"a":{}},"allOf":[{"$ref":"#/$defs/more"}],"$defs":{"more":{"required":["a"]}}}`, arguments{"a": value(`1`)},
			`its schema has rules about the arguments in another place ("$ref"), which are not followed there`},
		{"rules in another place, and another description", `{"properties":{"a":{}},"allOf":[{"$ref":"#/$defs/more"}]}`, arguments{"a": {Description: "d"}},
			`{"properties":{"a":{"description":"d"}},"allOf":[{"$ref":"#/$defs/more"}]}`},
		{"references", `{"properties":{"a/b":{"type":"string"},"c":{"$ref":"#/properties/a~1b"},"d":{"items":[{"$ref":"#/properties/a~1b/x"}]}}}`, arguments{"a/b": {Rename: "p q"}},
			`{"properties":{"p q":{"type":"string"},"c":{"$ref":"#/properties/p%20q"},"d":{"items":[{"$ref":"#/properties/p%20q/x"}]}}}`},
		{"references to a hidden one", `{"properties":{"a":{},"c":{"$ref":"#/properties/a"}}}`, arguments{"a": drop},
			`its schema has rules about the argument "a" that cannot be shown while it is hidden`},
	} {
		snap := ready("s")
		snap.Lists.Tools = []upstream.Item{{Key: "t", Raw: json.RawMessage(`{"name":"t","inputSchema":` + tc.schema + `,"x":1.0}`)}}
		plan := shape.New(map[string]shape.Server{"s": {Tools: shape.Names{Edit: map[string]shape.Edit{"t": {Arguments: tc.said}}}}})
		var got string
		if out := plan.Shape([]upstream.Snapshot{snap})[0].Lists.Tools; len(out) == 1 {
			got = strings.TrimSuffix(strings.TrimPrefix(string(out[0].Raw), `{"name":"t","inputSchema":`), `,"x":1.0}`)
		} else {
			got = strings.Join(plan.Notes([]upstream.Snapshot{snap}), "; ")
			got = strings.TrimPrefix(got, `server "s": the tool "t" is not shown, since what is said of its arguments does not fit it: `)
		}
		if got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, tc.want)
		}
		if !json.Valid([]byte(tc.schema)) {
			t.Errorf("%s: the schema is no JSON", tc.name)
		}
	}
}

// TestTitles changes what people and models read, where old clients look too.
func TestTitles(t *testing.T) {
	snap := ready("s")
	snap.Lists.Tools = []upstream.Item{{Key: "t", Raw: json.RawMessage(`{"name":"t","annotations":{"title":"Old","readOnlyHint":true},"description":"old"}`)}}
	snap.Lists.Prompts = named("name", "p")
	edit := map[string]shape.Edit{"t": {Title: "New", Description: "new"}, "p": {Title: "Ask"}}
	out := shape.New(map[string]shape.Server{"s": {Tools: shape.Names{Edit: edit}, Prompts: shape.Names{Edit: edit}}}).Shape([]upstream.Snapshot{snap})[0].Lists
	if got := string(out.Tools[0].Raw); got != `{"name":"t","annotations":{"title":"New","readOnlyHint":true},"description":"new","title":"New"}` {
		t.Errorf("the tool is %s", got)
	}
	if got := string(out.Prompts[0].Raw); got != `{"name":"p","title":"Ask"}` {
		t.Errorf("the prompt is %s", got)
	}
}

// FuzzArguments edits any schema: what comes out is JSON again, or the tool is hidden.
func FuzzArguments(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#/properties/a"},"b":true},"required":["a"],"anyOf":[{"required":["b"]}]}`)
	f.Add(`{"properties":{"a":{}},"dependentRequired":{"a":["a"]},"not":{"not":[]}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		snap := ready("s")
		snap.Lists.Tools = []upstream.Item{{Key: "t", Raw: json.RawMessage(`{"name":"t","inputSchema":` + schema + `}`)}}
		for _, a := range []shape.Argument{{Rename: "é"}, {Drop: true}, {Value: json.RawMessage(`1`)}, {Default: json.RawMessage(`1`), Description: "d"}} {
			plan := shape.New(map[string]shape.Server{"s": {Tools: shape.Names{Edit: map[string]shape.Edit{"t": {Arguments: map[string]shape.Argument{"a": a}}}}}})
			for _, it := range plan.Shape([]upstream.Snapshot{snap})[0].Lists.Tools {
				if !json.Valid(it.Raw) {
					t.Fatalf("%+v makes %s", a, it.Raw)
				}
			}
		}
	})
}
