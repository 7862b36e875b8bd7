package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const fullForm = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
	"name":{"type":"string","title":"Name","description":"d","minLength":1,"maxLength":50,"default":"Jane"},
	"mail":{"type":"string","format":"email"},
	"age":{"type":"integer","minimum":0,"maximum":150,"default":30},
	"score":{"type":"number","default":95.50},
	"ok":{"type":"boolean","default":true},
	"state":{"type":"string","enum":["a","b"],"enumNames":["A","B"],"default":"a"},
	"titled":{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}],"default":"y"},
	"many":{"type":"array","items":{"type":"string","enum":["r","g"]},"minItems":1,"maxItems":2,"default":["r"]},
	"few":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}},"required":["mail"]}`

func parseForm(t testing.TB, raw string) *Form {
	t.Helper()
	f, err := ParseForm(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFormApplyDefaults(t *testing.T) {
	f := parseForm(t, fullForm)
	const rest = `"score":95.50,"ok":true,"state":"a","titled":"y","many":["r"]}`
	for _, c := range []struct{ in, want string }{
		{``, `{"name":"Jane","age":30,` + rest},
		{`null`, `{"name":"Jane","age":30,` + rest},
		{` { } `, `{ "name":"Jane","age":30,` + rest},
		{`{"age":0,"name":"", "x":1.0}`, `{"age":0,"name":"", "x":1.0,` + rest},
		{`{"age":null,"n\u0061me":"A"}`, `{"age":null,"n\u0061me":"A",` + rest},
	} {
		in := json.RawMessage(c.in)
		got, err := f.ApplyDefaults(in)
		if err != nil || string(got) != c.want || string(in) != c.in {
			t.Errorf("%s:\n got %s %v\nwant %s", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{`[]`, `1`, `{"a":1,"a":2}`, `{`} {
		if _, err := f.ApplyDefaults(json.RawMessage(bad)); err == nil {
			t.Errorf("%s passes", bad)
		}
	}
}

func ExampleForm() {
	form, err := ParseForm(json.RawMessage(`{"type":"object","properties":{"days":{"type":"integer","default":5}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, answer := range []string{`{}`, `{"days":0}`, `{"days":"two"}`} {
		content, err := form.ApplyDefaults(json.RawMessage(answer))
		if err == nil {
			err = form.Validate(content)
		}
		fmt.Println(string(content), err)
	}
	// Output:
	// {"days":5} <nil>
	// {"days":0} <nil>
	// {"days":"two"} /days: must be an integer, got a string
}

func TestParseFormRefuses(t *testing.T) {
	for _, c := range []struct{ name, field, want string }{
		{"nested object", `{"type":"object","properties":{}}`, "one of the types"},
		{"no type", `{"enum":["a"]}`, "one of the types"},
		{"type list", `{"type":["string","null"]}`, "one of the types"},
		{"boolean schema", `true`, "schema object"},
		{"pattern", `{"type":"string","pattern":"a"}`, `"pattern"`},
		{"format", `{"type":"string","format":"uuid"}`, "format other than"},
		{"multipleOf", `{"type":"integer","multipleOf":2}`, `"multipleOf"`},
		{"exclusiveMinimum", `{"type":"number","exclusiveMinimum":2}`, `"exclusiveMinimum"`},
		{"const", `{"type":"boolean","const":true}`, `"const"`},
		{"enum of numbers", `{"type":"string","enum":[1]}`, "no list of strings"},
		{"empty enum", `{"type":"array","items":{"type":"string","enum":[]}}`, "no list of strings"},
		{"enumNames", `{"type":"string","enum":["a"],"enumNames":["A","B"]}`, "enumNames"},
		{"oneOf without title", `{"type":"string","oneOf":[{"const":"a"}]}`, "without a const and a title"},
		{"oneOf with more", `{"type":"string","oneOf":[{"const":"a","title":"A","minLength":1}]}`, `"minLength"`},
		{"array of anything", `{"type":"array"}`, "no choices of strings"},
		{"array of numbers", `{"type":"array","items":{"type":"number"}}`, "no choices of strings"},
		{"uniqueItems", `{"type":"array","items":{"type":"string","enum":["a"]},"uniqueItems":true}`, `"uniqueItems"`},
		{"default of the wrong type", `{"type":"integer","default":"1"}`, "the default must be an integer"},
		{"default not offered", `{"type":"string","enum":["a"],"default":"b"}`, `the default must be one of "a"`},
		{"default out of bounds", `{"type":"number","maximum":1,"default":2}`, "the default must be at most 1"},
		{"ref", `{"type":"string","$ref":"#"}`, `"$ref"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseForm(json.RawMessage(`{"type":"object","properties":{"f":` + c.field + `}}`))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"f"`) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
	for _, root := range []string{`{`, `true`, `{"type":"array"}`, `{"type":"object"}`, `{"type":"object","properties":{},"$defs":{}}`, `{"type":"object","properties":[]}`,
		`{"type":"object","properties":{},"additionalProperties":{}}`, `{"type":"object","properties":{},"minProperties":1}`} {
		if _, err := ParseForm(json.RawMessage(root)); err == nil {
			t.Errorf("%s passes", root)
		}
	}
}

func TestFormFor(t *testing.T) {
	type answer struct {
		City string   `json:"city" jsonschema:"min=1,description=Which one?"`
		Days int      `json:"days,omitempty" jsonschema:"default=3"`
		Tags []string `json:"tags,omitempty" jsonschema:"enum=a|b"`
		Unit *string  `json:"unit" jsonschema:"enum=C|F"`
	}
	raw, err := FormFor(reflect.TypeFor[answer]())
	want := `{"type":"object","properties":{"city":{"type":"string","minLength":1,"description":"Which one?"},"days":{"type":"integer","default":3},` +
		`"tags":{"type":"array","items":{"type":"string","enum":["a","b"]}},"unit":{"type":"string","enum":["C","F"]}},"required":["city"]}`
	if err != nil || string(raw) != want {
		t.Fatalf("%s %v", raw, err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[struct{ P point }](), reflect.TypeFor[[]string](), reflect.TypeFor[string](), nil} {
		if _, err := FormFor(typ); err == nil {
			t.Errorf("%v passes for a form", typ)
		}
	}
}
