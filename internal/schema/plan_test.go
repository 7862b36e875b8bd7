package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const fiveMembers = `{"type":"object","properties":{"city":{"type":"string","minLength":1},"days":{"type":"integer","minimum":1,"maximum":14},
	"unit":{"enum":["C","F"]},"place":{"type":"object","properties":{"lat":{"type":"number"},"lon":{"type":"number"}},"required":["lat","lon"]},
	"tags":{"type":"array","items":{"type":"string"},"maxItems":5}},"required":["city"],"additionalProperties":false}`

const fiveValues = `{"city":"Oslo","days":3,"unit":"C","place":{"lat":59.91,"lon":10.75},"tags":["a","b"]}`

// Which schemas get a plan, and which values it settles alone.
func TestPlanCovers(t *testing.T) {
	for _, c := range []struct {
		schema, value string
		planned, sure bool
	}{
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":"x"}`, true, true},
		{fiveMembers, fiveValues, true, true},
		{fiveMembers, `{"city":"Oslo","days":0}`, true, false},
		{`{"type":["string","null"],"maxLength":2}`, `"éé"`, true, true},
		{`{"type":"string","maxLength":2}`, `"\n\u0041"`, true, true},
		{`{"type":"string"}`, `"\ud83d\ude00"`, true, false},
		{`{"type":"integer"}`, `1.0`, true, true},
		{`{"type":"integer"}`, `1e0`, true, false},
		{`{"type":"number"}`, `12345678901234567890123`, true, true},
		{`{"type":"integer"}`, `12345678901234567890123`, true, false},
		{`{"const":1.50}`, `1.5`, true, true},
		{`{"const":null}`, `null`, true, true},
		{`{"enum":[true,"a",2]}`, `true`, true, true},
		{`{"enum":[true,"a",2]}`, `false`, true, false},
		{`{"pattern":"^a+$"}`, `"aaa"`, true, true},
		{`{"additionalProperties":{"type":"integer"}}`, `{"a":1,"b":2}`, true, true},
		{`{"additionalProperties":{"type":"integer"}}`, `{"a":1,"a":2}`, true, false},
		{`{"required":["a"],"additionalProperties":false}`, `{"a":1}`, true, false},
		{`{"type":"object","properties":{"next":{"$ref":"#"}}}`, `{"next":{"next":{}}}`, true, true},
		{`{"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"additionalProperties":false}},"properties":{"n":{"$ref":"#/$defs/n"}}}`, `{"n":{"n":{}}}`, true, true},
		{`false`, `1`, true, false},
		{`true`, `[{"a":[]}]`, true, true},
		{`{"properties":{"a":false}}`, `{}`, true, true},
		{`{"x-mcp-header":"A","title":"t","type":"string"}`, `""`, true, true},
		{`{"enum":[[1]]}`, `[1]`, false, false},
		{`{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `1`, false, false},
		{`{"properties":{"a":{"$ref":"#","minLength":1}}}`, `{}`, false, false},
		{`{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"$ref":"#/$defs/c"},"c":{}}}`, `{}`, false, false},
		{`{"format":"email"}`, `"a@b.c"`, false, false},
		{`{"allOf":[true]}`, `1`, false, false},
		{`{"multipleOf":2}`, `2`, false, false},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[true]}`, `[1]`, false, false},
	} {
		s := mustCompile(t, c.schema)
		if (s.plan != nil) != c.planned {
			t.Errorf("%s: plan %v", c.schema, s.plan != nil)
			continue
		}
		if c.planned && s.plan.fits([]byte(c.value)) != c.sure {
			t.Errorf("%s with %s: sure should be %v", c.schema, c.value, c.sure)
		}
	}
}

// The plan reads strict JSON only; "true" takes whatever is JSON.
func TestPlanIsStrict(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":true}}`)
	for _, raw := range []string{
		``, ` `, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `[1,]`, `[,]`, `[1 2]`, `{"a":1 "b":2}`, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `tru`, `nul`,
		`"a`, `"\x"`, `"\u12"`, `"\u12zz"`, "\"\x01\"", "\"\xff\"", `"\ud800"`, `{"a":1}x`, `1 2`, `{"a":1,"a":2}`, `{"b":1,"b":2}`, `{"a":1,"\u0061":2}`,
		`{"x":{"b":1,"b":2}}`, `'a'`, `NaN`, `{a:1}`, `{1:1}`, "\ufeff1",
	} {
		if s.plan.fits([]byte(raw)) {
			t.Errorf("%q passes the plan", raw)
		}
		if s.Validate(json.RawMessage(raw)) == nil {
			t.Errorf("%q passes", raw)
		}
	}
}

func TestPlanManyNames(t *testing.T) {
	var props, values []string
	for i := range 64 {
		props = append(props, fmt.Sprintf(`"p%d":{"const":%d}`, i, i))
		values = append(values, fmt.Sprintf(`"p%d":%d`, i, i))
	}
	all := `"required":["p63","p0"],"additionalProperties":false}`
	s := mustCompile(t, `{"properties":{`+strings.Join(props, ",")+`},`+all)
	if !s.plan.fits([]byte("{" + strings.Join(values, ",") + "}")) {
		t.Fatal("64 names do not pass")
	}
	if s.plan.fits([]byte("{" + strings.Join(values[:63], ",") + "}")) {
		t.Fatal("a missing name passes")
	}
	if mustCompile(t, `{"properties":{`+strings.Join(props, ",")+`,"q":true}}`).plan != nil {
		t.Fatal("65 names have a plan")
	}
}

func BenchmarkValidate(b *testing.B) {
	for _, c := range []struct{ name, schema, value string }{
		{"one", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, `{"text":"hello, world"}`},
		{"five", fiveMembers, fiveValues},
		{"library", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"allOf":[true]}`, `{"text":"hello, world"}`},
	} {
		s, raw := mustCompile(b, c.schema), json.RawMessage(c.value)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if s.Validate(raw) != nil {
					b.Fatal("does not fit")
				}
			}
		})
	}
}

// FuzzPlanAgainstLibrary holds two claims: what the plan takes, the library takes; and a schema's verdict is the same
// without its plan.
func FuzzPlanAgainstLibrary(f *testing.F) {
	for _, seed := range []struct{ schema, value string }{
		{fiveMembers, fiveValues},
		{`{"type":["integer","null"],"minimum":-1.5,"exclusiveMaximum":9007199254740993}`, `9007199254740992.0`},
		{`{"type":"string","minLength":2,"maxLength":3}`, `"é\n"`},
		{`{"enum":[1.0,"a",null,true],"const":1}`, `1`},
		{`{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":2}`, `[true,false]`},
		{`{"additionalProperties":{"type":"integer"},"required":["a","b"]}`, `{"a":1,"b":2}`},
		{`{"properties":{"n":{"$ref":"#"}},"additionalProperties":false}`, `{"n":{"n":{}}}`},
		{`{"properties":{"n":{"$ref":"#/$defs/a"}},"$defs":{"a":{"pattern":"^a|b$"}}}`, `{"n":"cb"}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":{"maximum":1e2}}`, `[-0,1e2,0.5]`},
	} {
		f.Add(seed.schema, seed.value)
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := Compile(json.RawMessage(schema), Options{})
		if err != nil || s.plan == nil {
			return
		}
		err = s.validateFully([]byte(value))
		if s.plan.fits([]byte(value)) && err != nil {
			if verdict, ok := errors.AsType[*ValidationError](err); ok && verdict.Violations[0].Rule == "limit" {
				return // only the library has such limits
			}
			t.Fatalf("the plan takes %q, the library says %v", value, err)
		}
		if verdict := s.Validate(json.RawMessage(value)); (verdict == nil) != (err == nil) {
			t.Fatalf("%v against %v", verdict, err)
		}
	})
}
