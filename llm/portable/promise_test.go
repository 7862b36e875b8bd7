package portable_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/llm/internal/randomschema"
	"github.com/rialto-mcp/rialto/llm/portable"
)

// TestNothingIsForbiddenInSilence holds the other half of the promise over many schemas and values: where no edit narrows,
// the portable schema accepts whatever the first one does. A model is never kept from saying what the server would take.
func TestNothingIsForbiddenInSilence(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 30))
	silent, accepted := 0, 0
	for range 300 {
		doc := json.RawMessage(randomschema.Maker{Rand: random}.Document())
		original, err := schema.Compile(doc, schema.Options{})
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		for _, d := range dialects {
			made, err := portable.Make(doc, d)
			if err != nil || slices.ContainsFunc(made.Edits, func(e portable.Edit) bool { return e.Kind == portable.Narrowed }) {
				continue
			}
			silent++
			compiled := compiledForm(t, made)
			for range 60 {
				value := json.RawMessage(randomschema.Maker{Rand: random}.Object(3))
				if original.Validate(value) != nil {
					continue
				}
				accepted++
				if err := compiled.Validate(value); err != nil {
					t.Fatalf("%s: forbids what the first schema accepts, and does not say so: %s: %v\n%s\n%s\n%v", d, value, err, doc, made.JSON, made.Edits)
				}
			}
		}
	}
	if silent < 200 || accepted < 500 {
		t.Errorf("the test has met only %d schemas and %d values", silent, accepted)
	}
}

// compiledForm compiles what a portable schema says to its API, the keyword nullable of OpenAPI included.
func compiledForm(t *testing.T, made *portable.Schema) *schema.Schema {
	t.Helper()
	form := made.JSON
	if strings.Contains(string(form), `"nullable"`) {
		var v any
		if err := json.Unmarshal(form, &v); err != nil {
			t.Fatal(err)
		}
		var err error
		if form, err = json.Marshal(withoutNullable(v)); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := schema.Compile(form, schema.Options{})
	if err != nil {
		t.Fatalf("%s: the portable schema is none: %v\n%s", made.Dialect, err, made.JSON)
	}
	return compiled
}

// withoutNullable says in the words of JSON Schema what nullable says.
func withoutNullable(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutNullable(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = withoutNullable(v[key])
		}
		if v["nullable"] == true {
			delete(v, "nullable")
			return map[string]any{"anyOf": []any{v, map[string]any{"type": "null"}}}
		}
	}
	return v
}
