package mcp_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
)

func ExampleParseForm() {
	form, err := mcp.ParseForm(json.RawMessage(`{"type":"object","required":["size"],"properties":{
		"size":{"type":"string","title":"Size","enum":["s","l"],"enumNames":["Small","Large"],"default":"s"},
		"extras":{"type":"array","items":{"anyOf":[{"const":"o","title":"Olives"}]},"maxItems":2}}}`))
	if err != nil {
		panic(err)
	}
	for _, field := range form.Fields {
		fmt.Println(field.Name, field.Type, field.Required, field.Choices, string(field.Default))
	}
	// Output:
	// size string true [{s Small} {l Large}] "s"
	// extras array false [{o Olives}]
}

// What the builder writes is read back as it was.
func TestFormSchemaRoundTrip(t *testing.T) {
	one, half := int64(1), 0.5
	built := mcp.FormSchema{Fields: []mcp.FormField{
		{Name: "b", Required: true, Type: "string", Title: "B", Description: "d", Format: "email", MinLength: &one, MaxLength: &one},
		{Name: "a", Type: "number", Minimum: &half, Maximum: &half, Default: json.RawMessage("0.50")},
		{Name: "c", Type: "boolean", Default: json.RawMessage("false")},
		{Name: "d", Type: "string", Choices: []mcp.FormChoice{{Value: "x"}, {Value: "y"}}},
		{Name: "e", Type: "string", Choices: []mcp.FormChoice{{Value: "x", Title: "X"}}},
		{Name: "f", Type: "array", MinItems: &one, MaxItems: &one, Choices: []mcp.FormChoice{{Value: "x"}}},
		{Name: "g", Type: "array", Choices: []mcp.FormChoice{{Value: "x", Title: "X"}}, Default: json.RawMessage(`["x"]`)},
	}}
	raw, err := json.Marshal(built)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := mcp.ParseForm(raw); err != nil || !reflect.DeepEqual(read, built) {
		t.Errorf("%s\nread as %+v, %v", raw, read, err)
	}
	odd, err := mcp.ParseForm(json.RawMessage(`{"properties":{"a":{"type":"string","minLength":1.0,"maxLength":2.5}}}`))
	if err != nil || odd.Fields[0].MinLength == nil || *odd.Fields[0].MinLength != 1 || odd.Fields[0].MaxLength != nil {
		t.Errorf("limits read as %+v, %v", odd, err)
	}
	for _, bad := range []string{`{}`, `{"properties":[]}`, `{"properties":{"a":1}}`, `{"properties":{},"required":"a"}`} {
		if _, err := mcp.ParseForm(json.RawMessage(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
