package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// One line for each rule, in our words and with little of the value.
func TestExplainEachRule(t *testing.T) {
	for _, c := range []struct{ schema, value, rule, want string }{
		{`{"type":["string","null","integer"]}`, `[]`, "type", "must be null or an integer or a string, got an array"},
		{`{"const":{"a":1}}`, `{"a":2}`, "const", "must be an object, got an object"},
		{`{"enum":[1,true,null,[1],2,3,4,5,6,7]}`, `false`, "enum", "must be one of 1, true, null, an array, 2, 3, 4, 5 and 2 more, got false"},
		{`{"minimum":0.1}`, `0.05`, "minimum", "must be at least 0.1, got 0.05"},
		{`{"maximum":1}`, `1e3`, "maximum", "must be at most 1, got 1000"},
		{`{"exclusiveMinimum":1}`, `1`, "exclusiveMinimum", "must be more than 1, got 1"},
		{`{"exclusiveMaximum":1}`, `1.0`, "exclusiveMaximum", "must be less than 1, got 1"},
		{`{"multipleOf":2}`, `3`, "multipleOf", "must be a multiple of 2, got 3"},
		{`{"minLength":2}`, `"é"`, "minLength", "must have at least 2 characters, got 1"},
		{`{"minItems":1}`, `[]`, "minItems", "must have at least 1 items, got 0"},
		{`{"maxItems":1}`, `[1,2]`, "maxItems", "must have at most 1 items, got 2"},
		{`{"minProperties":1}`, `{}`, "minProperties", "must have at least 1 properties, got 0"},
		{`{"maxProperties":0}`, `{"a":1}`, "maxProperties", "must have at most 0 properties, got 1"},
		{`{"contains":{"const":1}}`, `[]`, "contains", "has no matching item"},
		{`{"contains":{"const":1},"minContains":2}`, `[1]`, "minContains", "must have at least 2 matching items, got 1"},
		{`{"contains":{"const":1},"maxContains":1}`, `[1,1]`, "maxContains", "must have at most 1 matching items, got 2"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[true],"additionalItems":false}`, `[1,2]`, "additionalItems", "has 1 items too many"},
		{`{"required":["b","a"]}`, `{}`, "required", `misses "a", "b"`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "dependentRequired", `misses "b" beside "a"`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`, "dependencies", `misses "b" beside "a"`},
		{`{"oneOf":[true,{}]}`, `1`, "oneOf", "fits more than one of the allowed forms"},
		{`{"oneOf":[false]}`, `1`, "false", "is not allowed here; fits none of the allowed forms"},
		{`{"not":{}}`, `1`, "not", "has a form that is not allowed"},
		{`{"properties":{"a":false}}`, `{"a":1}`, "false", "/a: is not allowed here"},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, "uniqueItems", "items 0 and 2 are equal"},
		{`{"propertyNames":{"maxLength":1}}`, `{"abc":1}`, "maxLength", `must have at most 1 characters, got 3; has a property name that is not allowed, got "abc"`},
		{`{"additionalProperties":false}`, `{"b":1,"a":1}`, "additionalProperties", `has 2 unknown properties, got "a" and 1 more`},
		{`{"unevaluatedProperties":false}`, `{"b":1}`, "false", `/b: is not allowed here`},
		{`{"$ref":"#"}`, `1`, "$ref", "the schema refers to itself without end"},
		{`{"allOf":[{"type":"string"},{"type":"string"}]}`, `1`, "type", "must be a string, got a number"},
	} {
		err := mustCompile(t, c.schema).Validate(json.RawMessage(c.value))
		verdict, ok := errors.AsType[*ValidationError](err)
		if !ok {
			t.Errorf("%s with %s: %v", c.schema, c.value, err)
			continue
		}
		if verdict.Error() != c.want || verdict.Violations[0].Rule != c.rule {
			t.Errorf("%s with %s\n got %s (%s)\nwant %s (%s)", c.schema, c.value, verdict, verdict.Violations[0].Rule, c.want, c.rule)
		}
	}
}

// No error shows more than a few words of the value, wherever the value holds its secret.
func TestErrorsQuoteLittle(t *testing.T) {
	secret := strings.Repeat("s3cret", 1000)
	for _, schema := range []string{
		`{"type":"integer"}`, `{"const":1}`, `{"enum":["a"]}`, `{"pattern":"^a$"}`, `{"format":"uri","type":"string","maxLength":1}`, `{"type":"string","format":"ipv6"}`,
		`{"additionalProperties":false}`, `{"additionalProperties":{"type":"null"}}`, `{"propertyNames":{"pattern":"^a$"}}`, `{"items":{"const":1}}`,
	} {
		s := mustCompile(t, schema)
		for _, value := range []string{`"` + secret + `"`, `{"` + secret + `":1}`, `["` + secret + `"]`} {
			verdict, ok := errors.AsType[*ValidationError](s.Validate(json.RawMessage(value)))
			if !ok {
				continue
			}
			if len(verdict.Error()) > 600 {
				t.Errorf("%s: %d bytes", schema, len(verdict.Error()))
			}
			if value[0] != '{' && strings.Contains(verdict.WithoutValue(), "s3cret") {
				t.Errorf("%s: %s", schema, verdict.WithoutValue())
			}
		}
	}
}
