package policy

import (
	"fmt"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// TestPatterns holds that no request chooses what an expression looks for, and that a long text costs no time before it is
// refused: one step of an expression is never interrupted.
func TestPatterns(t *testing.T) {
	for _, tc := range []struct{ when, wrong string }{
		{`tool.matches("^get_")`, ""},
		{`matches(tool, "^get_")`, ""},
		{`arguments.path.replace("-", "").matches("^[a-z]+$")`, ""},
		{`tool.matches("(")`, "error parsing regexp"},
		{`arguments.text.matches(arguments.pattern)`, "at 1:23 of the expression: write the pattern of matches out, between quotes"},
		{`matches(tool, principal.subject)`, "at 1:8 of the expression: write the pattern"},
		{`arguments.text.replace("a", arguments.by) == ""`, "write the texts of replace out"},
	} {
		if err := CheckExpression(tc.when); tc.wrong == "" && err != nil || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
			t.Errorf("%s: %v", tc.when, err)
		}
	}
}

// TestLongTextForAPattern holds that it is not gone through at all.
func TestLongTextForAPattern(t *testing.T) {
	const pattern = "(a|b|ab)*c$"
	for _, tc := range []struct {
		size int
		want string
	}{{100_000, "false"}, {10 << 20, `a text is too long for the pattern "(a|b|ab)*c$"; 500000 bytes are the most`}} {
		text, by := types.String(strings.Repeat("a", tc.size)), types.String(pattern)
		plain := interpreter.NewCall(1, overloads.Matches, overloads.MatchesString, []interpreter.InterpretableV2{interpreter.NewConstValue(2, text), interpreter.NewConstValue(3, by)}, nil)
		bounded, err := boundedMatches(overloads.MatchesString).Factory(plain, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(bounded.Eval(cel.NoVars()).Value()); got != tc.want {
			t.Errorf("%d bytes: %s", tc.size, got)
		}
	}
}
