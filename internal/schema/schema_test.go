package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func mustCompile(t testing.TB, raw string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(raw), Options{})
	if err != nil {
		t.Fatalf("compile %s: %v", raw, err)
	}
	return s
}

func TestCompileDialects(t *testing.T) {
	for _, c := range []struct{ dialect, want string }{
		{"https://json-schema.org/draft/2020-12/schema", ""},
		{"http://json-schema.org/draft/2020-12/schema#", ""},
		{"https://json-schema.org/draft/2019-09/schema", ""},
		{"http://json-schema.org/draft-07/schema#", ""},
		{"https://json-schema.org/draft-07/schema", ""},
		{"http://json-schema.org/draft-06/schema#", ""},
		{"http://json-schema.org/draft-04/schema#", `"http://json-schema.org/draft-04/schema#"`},
		{"https://example.com/mine", `"https://example.com/mine"`},
		{"http://json-schema.org/schema#", `"http://json-schema.org/schema#"`},
		{"", `""`},
	} {
		t.Run(c.dialect, func(t *testing.T) {
			_, err := Compile(fmt.Appendf(nil, `{"$schema":%q,"type":"object"}`, c.dialect), Options{})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if _, ok := errors.AsType[*DialectError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want a dialect error with %s", err, c.want)
			}
		})
	}
}

func TestDraft06HasIfThenOfDraft07(t *testing.T) {
	s := mustCompile(t, `{"$schema":"http://json-schema.org/draft-06/schema#","if":{"const":1},"then":false}`)
	if s.Validate(json.RawMessage(`1`)) == nil || s.Validate(json.RawMessage(`2`)) != nil {
		t.Fatal("if and then of draft-07 are not applied")
	}
}

func TestCompileRefuses(t *testing.T) {
	deep := strings.Repeat(`{"allOf":[`, 10_000) + "true" + strings.Repeat(`]}`, 10_000)
	nested := strings.Repeat(`{"items":`, 66) + "true" + strings.Repeat(`}`, 66)
	many := `{"anyOf":[` + strings.Repeat(`true,`, 10_000) + `true]}`
	var doubling strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	var odd []string
	for i := range 501 {
		odd = append(odd, fmt.Sprintf(`"p%d":{"$ref":"#/x/p%d"}`, i, i))
	}
	for _, c := range []struct{ name, schema, want string }{
		{"odd references", `{"x":{},"$defs":{` + strings.Join(odd, ",") + `}}`, "more than 500 references"},
		{"no JSON", `{`, "read the schema"},
		{"duplicate names", `{"type":"object","type":"string"}`, "read the schema"},
		{"external ref", `{"properties":{"a":{"$ref":"https://example.com/x.json#/a"}}}`, `"https://example.com/x.json"`},
		{"relative ref", `{"$ref":"other.json"}`, `"other.json"`},
		{"file ref", `{"$ref":"file:///etc/passwd"}`, `"file:///etc/passwd"`},
		{"external ref nobody reaches", `{"$defs":{"a~/b c":{"items":{"$ref":"https://example.com/y"}}}}`, `"https://example.com/y"`},
		{"external base", `{"$id":"https://example.com/root","$ref":"leaf"}`, `"https://example.com/leaf"`},
		{"missing definition", `{"$ref":"#/$defs/a"}`, "$defs/a"},
		{"missing anchor", `{"$ref":"#a"}`, "anchor"},
		{"wrong keyword", `{"type":"strnig"}`, "breaks its dialect"},
		{"wrong pattern", `{"pattern":"(?=x)"}`, "pattern"},
		{"deep JSON", deep, "levels deep"},
		{"deep schema", nested, "64 levels"},
		{"many subschemas", many, "10000 subschemas"},
		{"combinations", `{"$defs":{` + doubling.String() + `"d40":true},"$ref":"#/$defs/d0"}`, "too long"},
		{"dialect inside", `{"$defs":{"a":{"$id":"a","$schema":"https://example.com/d"}}}`, "https://example.com/d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(json.RawMessage(c.schema), Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want it to say %q", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), home) || len(err.Error()) > 500 {
				t.Fatalf("not a short line: %v", err)
			}
		})
	}
}

func TestOptionsLiftLimits(t *testing.T) {
	nested := strings.Repeat(`{"items":`, 66) + "true" + strings.Repeat(`}`, 66)
	if _, err := Compile(json.RawMessage(nested), Options{MaxDepth: -1}); err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(json.RawMessage(`{"items":{"items":true}}`), Options{MaxDepth: 1}); err == nil {
		t.Fatal("depth 2 passed a bound of 1")
	}
	if _, err := Compile(json.RawMessage(`{"items":{"items":true}}`), Options{MaxSubschemas: 2}); err == nil {
		t.Fatal("3 subschemas passed a bound of 2")
	}
}

// Schemas met in the wild: all are legal and must work.
func TestValidateWild(t *testing.T) {
	for _, c := range []struct{ name, schema, good, bad string }{
		{"union", `{"type":["null","array"]}`, `null`, `{}`},
		{"true", `true`, `{"a":1}`, ``},
		{"number or null", `{"type":"object","properties":{"n":{"type":["number","null"]}}}`, `{"n":null}`, `{"n":"1"}`},
		{"ref into properties", `{"properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a","description":"x"}}}`, `{"b":"s"}`, `{"b":1}`},
		{"tree", `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`,
			`{"children":[{"children":[]}]}`, `{"children":[{"children":[1]}]}`},
		{"odd ref", `{"components":{"a b":{"type":"string"}},"$ref":"#/components/a%20b"}`, `""`, `1`},
		{"root ref", `{"type":"object","properties":{"next":{"$ref":"#"}}}`, `{"next":{"next":{}}}`, `{"next":{"next":1}}`},
		{"anchor", `{"$defs":{"a":{"$anchor":"addr","type":"string"}},"properties":{"x":{"$ref":"#addr"}}}`, `{"x":""}`, `{"x":1}`},
		{"format", `{"type":"string","format":"email"}`, `"a@example.com"`, `"a"`},
		{"date-time", `{"type":"string","format":"date-time"}`, `"2026-01-02t03:04:05z"`, `"2026-01-02T+3:04:05Z"`},
		{"unicode escape in a pattern", `{"pattern":"^[\\u00e0-\\u00ff]$"}`, `"é"`, `"e"`},
		{"prefixItems", `{"prefixItems":[{"type":"string"}],"items":false}`, `["a"]`, `["a",1]`},
		{"draft-07 tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a"]`, `["a",1]`},
		{"2020-12 metaschema", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"string"}`, `{"type":"x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, c.schema)
			if err := s.Validate(json.RawMessage(c.good)); err != nil {
				t.Errorf("%s: %v", c.good, err)
			}
			if c.bad != "" && s.Validate(json.RawMessage(c.bad)) == nil {
				t.Errorf("%s passed", c.bad)
			}
		})
	}
}

func TestSchemasWithOneIDAreApart(t *testing.T) {
	a := mustCompile(t, `{"$id":"https://example.com/s","type":"string"}`)
	b := mustCompile(t, `{"$id":"https://example.com/s","type":"integer"}`)
	if a.Validate(json.RawMessage(`"x"`)) != nil || b.Validate(json.RawMessage(`1`)) != nil || b.Validate(json.RawMessage(`"x"`)) == nil {
		t.Fatal("one schema sees the other")
	}
}

func TestExactNumbers(t *testing.T) {
	for _, c := range []struct {
		schema, value string
		fits          bool
	}{
		{`{"maximum":9007199254740992}`, `9007199254740992`, true},
		{`{"maximum":9007199254740992}`, `9007199254740993`, false},
		{`{"const":9007199254740993}`, `9007199254740992`, false},
		{`{"const":9007199254740993}`, `9007199254740993.0`, true},
		{`{"maximum":18446744073709551615}`, `18446744073709551616`, false},
		{`{"maximum":18446744073709551615}`, `18446744073709551615`, true},
		{`{"type":"integer"}`, `1.0`, true},
		{`{"type":"integer"}`, `1e0`, true},
		{`{"type":"integer"}`, `10e-1`, true},
		{`{"type":"integer"}`, `1.5`, false},
		{`{"type":"integer"}`, `123456789012345678901234567890`, true},
		{`{"type":"number"}`, `123456789012345678901234567890`, true},
		{`{"enum":[0.1]}`, `0.10`, true},
		{`{"enum":[0.1]}`, `0.10000000000000000001`, false},
		{`{"exclusiveMinimum":0}`, `0`, false},
		{`{"exclusiveMinimum":0}`, `-0.0`, false},
		{`{"multipleOf":0.1}`, `0.3`, true},
	} {
		err := mustCompile(t, c.schema).Validate(json.RawMessage(c.value))
		if (err == nil) != c.fits {
			t.Errorf("%s with %s: %v", c.schema, c.value, err)
		}
	}
}

func TestValidationError(t *testing.T) {
	long := strings.Repeat("x", 5000)
	object := `{"type":"object","properties":{"city":{"type":"string","maxLength":3},"days":{"type":"integer","minimum":1},"when":{"format":"date"},` +
		`"unit":{"enum":["C","F"]},"list":{"items":{"type":"string"}},"code":{"pattern":"^a$"}},"required":["city"],"additionalProperties":false}`
	for _, c := range []struct{ name, schema, value, text, without string }{
		{"type", object, `{"city":5}`, `/city: must be a string, got a number`, `/city: must be a string`},
		{"required", object, `{}`, `misses "city"`, `misses "city"`},
		{"two", object, `{"city":"abcd","days":0}`, `/city: must have at most 3 characters, got 4; /days: must be at least 1, got 0`,
			`/city: must have at most 3 characters; /days: must be at least 1`},
		{"enum", object, `{"city":"a","unit":"K"}`, `/unit: must be one of "C", "F", got "K"`, `/unit: must be one of "C", "F"`},
		{"unknown", object, `{"city":"a","secret":1}`, `has an unknown property, got "secret"`, `has an unknown property`},
		{"item", object, `{"city":"a","list":["a",1]}`, `/list/1: must be a string, got a number`, `/list/1: must be a string`},
		{"pattern", object, `{"city":"a","code":"` + long + `"}`, `/code: must match the pattern ^a$, got "` + long[:40] + `..."`, `/code: must match the pattern ^a$`},
		{"format", object, `{"city":"a","when":"soon"}`, `/when: must be of format date, got "soon"`, `/when: must be of format date`},
		{"anyOf", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, `fits none of the allowed forms; must be a string, got a number; must be null, got a number`,
			`fits none of the allowed forms; must be a string; must be null`},
		{"escape", `{"properties":{"a/b~":{"type":"null"}}}`, `{"a/b~":1}`, `/a~1b~0: must be null, got a number`, `/a~1b~0: must be null`},
		{"no JSON", `{}`, `{"a":1,"a":2}`, `is not valid JSON`, `is not valid JSON`},
		{"big number", `{"type":"integer"}`, `1e999999999`, `a number has more than 1024 characters or an exponent beyond 1000`, `a number has more than 1024 characters or an exponent beyond 1000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := mustCompile(t, c.schema).Validate(json.RawMessage(c.value))
			verdict, ok := errors.AsType[*ValidationError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if verdict.Error() != c.text {
				t.Errorf("text\n got %s\nwant %s", verdict.Error(), c.text)
			}
			if verdict.WithoutValue() != c.without {
				t.Errorf("without\n got %s\nwant %s", verdict.WithoutValue(), c.without)
			}
			if verdict.Violations[0].Rule == "" {
				t.Error("no rule")
			}
		})
	}
}

func TestValidationErrorIsBounded(t *testing.T) {
	s := mustCompile(t, `{"items":{"type":"string"}}`)
	err := s.Validate(json.RawMessage(`[` + strings.Repeat(`1,`, 400) + `1]`))
	verdict, _ := errors.AsType[*ValidationError](err)
	if len(verdict.Violations) != maxViolations || verdict.More != 401-maxViolations {
		t.Fatalf("%d violations and %d more", len(verdict.Violations), verdict.More)
	}
}

// Without the estimate this check would take two to the power of sixty steps.
func TestRecursiveBranchesAreBounded(t *testing.T) {
	s := mustCompile(t, `{"$ref":"#/$defs/e","$defs":{"e":{"anyOf":[
		{"properties":{"l":{"$ref":"#/$defs/e"}},"required":["x"]},
		{"properties":{"l":{"$ref":"#/$defs/e"}},"required":["y"]}]}}}`)
	value := strings.Repeat(`{"x":1,"y":1,"l":`, 60) + `{}` + strings.Repeat(`}`, 60)
	verdict, ok := errors.AsType[*ValidationError](s.Validate(json.RawMessage(value)))
	if !ok || verdict.Violations[0].Rule != "limit" {
		t.Fatalf("got %v", verdict)
	}
	if err := s.Validate(json.RawMessage(`{"x":1,"l":{"y":1,"l":{"x":2}}}`)); err != nil {
		t.Fatal(err)
	}
}

func TestCache(t *testing.T) {
	c := NewCache(2, Options{})
	compile := func(raw string) *Schema {
		s, err := c.Compile(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := compile(`{"type":"string"}`)
	compile(`{"type":"number"}`)
	if compile(`{"type":"string"}`) != a {
		t.Fatal("compiled twice")
	}
	compile(`{"type":"null"}`) // drops number, the least recently used
	if compile(`{"type":"string"}`) != a || c.Len() != 2 {
		t.Fatal("dropped the wrong one")
	}
	if _, err := c.Compile(json.RawMessage(`{"type":1}`)); err == nil || c.Len() != 2 {
		t.Fatal("kept a failure")
	}
}

func TestCacheConcurrently(t *testing.T) {
	c := NewCache(4, Options{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 30 {
				s, err := c.Compile(fmt.Appendf(nil, `{"minimum":%d}`, (g+i)%6))
				if err != nil || s.Validate(json.RawMessage(`100`)) != nil || s.Validate(json.RawMessage(`-1`)) == nil {
					t.Errorf("%v", err)
				}
			}
		})
	}
	wg.Wait()
	if c.Len() != 4 {
		t.Fatalf("%d kept", c.Len())
	}
}
