package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/rialto-mcp/rialto/internal/schema"
)

// Patterns of other people's schemas that RE2 cannot run are refused, or left out together with what depends on them.
func TestForeignPatterns(t *testing.T) {
	for _, c := range []struct{ schema, fits, breaks string }{
		{`{"type":"string","pattern":"^(?!x)","minLength":2}`, `"xy"`, `"x"`},
		{`{"properties":{"a":{"pattern":"(?<=b)c"},"n":{"type":"integer"}}}`, `{"a":"z","n":1}`, `{"n":"1"}`},
		{`{"patternProperties":{"^(?=a)":{"type":"integer"},"^b":{"type":"string"}},"additionalProperties":false}`, `{"a":"x","c":1}`, `{"b":1}`},
		{`{"pattern":"^a$"}`, `"a"`, `"b"`},
	} {
		_, err := schema.Compile(json.RawMessage(c.schema), schema.Options{})
		if foreign := c.schema != `{"pattern":"^a$"}`; (err != nil) != foreign {
			t.Errorf("%s: %v", c.schema, err)
		}
		compiled, err := schema.Compile(json.RawMessage(c.schema), schema.Options{ForeignPatterns: true})
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if err := compiled.Validate(json.RawMessage(c.fits)); err != nil {
			t.Errorf("%s: %s: %v", c.schema, c.fits, err)
		}
		if compiled.Validate(json.RawMessage(c.breaks)) == nil {
			t.Errorf("%s: %s passes", c.schema, c.breaks)
		}
	}
}
