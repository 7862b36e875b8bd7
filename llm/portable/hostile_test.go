package portable_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/llm/portable"
)

// times writes f(0) to f(n-1), with commas between.
func times(n int, f func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = f(i)
	}
	return strings.Join(all, ",")
}

// hostile are schemas made to cost time, memory or a crash.
var hostile = map[string]string{
	"references that double": `{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{` + times(40, func(i int) string {
		return fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1)
	}) + `,"d40":{"type":"string"}}}`,
	"3,000 properties": `{"type":"object","properties":{` + times(3_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }) +
		`},"required":[` + times(3_000, func(i int) string { return fmt.Sprintf(`"p%d"`, i) }) + `]}`,
	"3,000 names that do not fit": `{"type":"object","properties":{` + times(3_000, func(i int) string { return fmt.Sprintf(`"p %d":{"type":"string"}`, i) }) + `}}`,
	"3,000 branches": `{"type":"object","oneOf":[` + times(3_000, func(i int) string {
		return fmt.Sprintf(`{"properties":{"a":{"const":"%d"},"p%d":{}},"required":["a"]}`, i, i)
	}) + `]}`,
	"3,000 nested branches": `{"type":"object","properties":{"a":{"oneOf":[` + times(3_000, func(i int) string {
		return fmt.Sprintf(`{"type":"object","properties":{"k":{"const":"%d"}},"required":["k"]}`, i)
	}) + `]}}}`,
	"two long enums": `{"type":"object","properties":{"a":{"oneOf":[{"enum":[` + times(20_000, func(i int) string { return fmt.Sprintf(`"a%d"`, i) }) +
		`]},{"enum":[` + times(20_000, func(i int) string { return fmt.Sprintf(`"b%d"`, i) }) + `]}]}}}`,
	"3,000 parts of one": `{"type":"object","allOf":[` + times(3_000, func(i int) string { return fmt.Sprintf(`{"properties":{"p%d":{}},"required":["p%d"]}`, i, i) }) + `]}`,
	"the same part 3,000 times": `{"type":"object","properties":{"a":{"allOf":[` + times(3_000, func(i int) string { return fmt.Sprintf(`{"$ref":"#/$defs/%d"}`, i%2) }) +
		`]}},"$defs":{"0":{"items":{"enum":[` + times(5_000, number) + `]}},"1":{"items":{"enum":[` + times(5_000, number) + `]}}}}`,
	"3,000 anchors":          `{"type":"object","properties":{` + times(3_000, func(i int) string { return fmt.Sprintf(`"p%d":{"$ref":"#a%d"}`, i, i) }) + `},"$defs":{` + times(3_000, func(i int) string { return fmt.Sprintf(`"a%d":{"$anchor":"a%d"}`, i, i) }) + `}}`,
	"200 levels":             strings.Repeat(`{"type":"object","properties":{"a":`, 200) + `{}` + strings.Repeat(`}}`, 200),
	"100,000 levels":         strings.Repeat(`{"not":`, 100_000) + `{}` + strings.Repeat(`}`, 100_000),
	"200,000 values":         `{"type":"object","properties":{"a":{"enum":[` + times(200_000, number) + `]}}}`,
	"the root is it":         `{"$ref":"#"}`,
	"two that are each":      `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
	"all of itself":          `{"type":"object","allOf":[{"$ref":"#"}],"properties":{"a":{"allOf":[{"$ref":"#/properties/a"},{"$ref":"#/properties/a"}]}}}`,
	"not itself":             `{"type":"object","properties":{"a":{"not":{"$ref":"#/properties/a"}},"b":{"oneOf":[{"$ref":"#"},{"$ref":"#/properties/b"}]}}}`,
	"a reference to a value": `{"type":"object","properties":{"a":{"$ref":"#/required/0"},"b":{"$ref":"#/type"},"c":{"$ref":"#/properties"}},"required":["a"]}`,
	"a reference to no text": `{"type":"object","properties":{"a":{"$ref":7},"b":{"$ref":"#/%zz"},"c":{"$ref":null}}}`,
}

func number(i int) string { return fmt.Sprint(i) }

// TestHostileSchemasAreBounded holds that whatever a server lists is converted or refused in a moment, and into little.
func TestHostileSchemasAreBounded(t *testing.T) {
	for name, doc := range hostile {
		t.Run(name, func(t *testing.T) {
			for _, d := range dialects {
				made, err := portable.Make(json.RawMessage(doc), d)
				switch {
				case err != nil && len(err.Error()) > 1000:
					t.Errorf("%s: an error of %d bytes", d, len(err.Error()))
				case err == nil && len(made.JSON) > 3*len(doc)+1<<20:
					t.Errorf("%s: %d bytes of %d", d, len(made.JSON), len(doc))
				case err == nil && !json.Valid(made.JSON):
					t.Errorf("%s: no JSON", d)
				}
			}
		})
	}
	for _, name := range []string{"200 levels", "100,000 levels", "200,000 values"} {
		if _, err := portable.Make(json.RawMessage(hostile[name]), portable.OpenAI); err == nil {
			t.Errorf("%s were accepted", name)
		}
	}
}

// TestStrictIsBoundedAsTheAPIIs holds that a schema beyond what strict mode takes has no strict form, so that it does not
// sink the request.
func TestStrictIsBoundedAsTheAPIIs(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat(`{"type":"object","properties":{"a":`, n) + `{"type":"string"}` + strings.Repeat(`}}`, n)
	}
	property := func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }
	value := func(i int) string { return fmt.Sprintf(`"%d"`, i) }
	for _, tc := range []struct{ name, in, want string }{
		{"10 levels", nested(10), ""},
		{"11 levels", nested(11), "nests 11 levels"},
		{"5,000 properties", `{"type":"object","properties":{` + times(5000, property) + `}}`, ""},
		{"5,001 properties", `{"type":"object","properties":{` + times(5001, property) + `}}`, "5001 properties"},
		{"1,000 values", `{"type":"object","properties":{"a":{"enum":[` + times(1000, value) + `]}},"required":["a"]}`, ""},
		{"1,001 values", `{"type":"object","properties":{"a":{"enum":[` + times(1001, value) + `]}},"required":["a"]}`, "1001 values"},
		{"long values", `{"type":"object","properties":{"a":{"enum":[` + times(300, func(i int) string { return fmt.Sprintf(`"%060d"`, i) }) + `]}},"required":["a"]}`, "one of its enums"},
		{"long names", `{"type":"object","properties":{` + times(1300, func(i int) string { return fmt.Sprintf(`"%0100d":{"type":"string"}`, i) }) + `}}`, "130000 characters"},
	} {
		_, err := portable.Make(json.RawMessage(tc.in), portable.OpenAIStrict)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestWeight(t *testing.T) {
	made, err := portable.Make(json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]},"c":{"type":"array","items":{"type":"object","properties":{"d":{"type":"string"}}}}},"required":["a"]}`), portable.AnthropicStrict)
	if err != nil {
		t.Fatal(err)
	}
	if optional, unions := made.Weight(); optional != 3 || unions != 1 {
		t.Errorf("%d may be left out, %d unions", optional, unions)
	}
}

// TestRenamedKeysStayApart has keys that would get the name of another, at the root and below it.
func TestRenamedKeysStayApart(t *testing.T) {
	for _, d := range []portable.Dialect{portable.Anthropic, portable.GeminiOpenAPI} {
		made, err := portable.Make(json.RawMessage(`{"type":"object","properties":{"größe":{"type":"string"},"gr____e_d353a267":{"type":"integer"},"in":{"type":"object","properties":{"größe":{"type":"string"},"gr ße":{"type":"string"}}}}}`), d)
		if err != nil {
			t.Fatal(err)
		}
		args, err := made.Restore(json.RawMessage(`{"gr____e_d353a267":1,"gr____e_d353a2671b67afff":"x"}`))
		if err != nil || string(args) != `{"gr____e_d353a267":1,"größe":"x"}` {
			t.Errorf("%s: %v, %s\n%s", d, err, args, made.JSON)
		}
	}
}

// TestRestoreIsBoundedAndConcurrent gives a large and a deep object of arguments to many at once.
func TestRestoreIsBoundedAndConcurrent(t *testing.T) {
	made, err := portable.Make(json.RawMessage(hostile["3,000 names that do not fit"]), portable.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	large := json.RawMessage(`{` + times(50_000, func(i int) string { return fmt.Sprintf(`"%d":%d`, i, i) }) + `}`)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if args, err := made.Restore(large); err != nil || len(args) != len(large) {
				t.Errorf("%v, %d bytes", err, len(args))
			}
		})
	}
	all.Wait()
	deep := json.RawMessage(`{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`)
	if _, err := made.Restore(deep); err == nil || !strings.Contains(err.Error(), "1000 levels") {
		t.Errorf("2,000 levels: %v", err)
	}
}
