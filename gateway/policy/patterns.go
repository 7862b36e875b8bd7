package policy

import (
	"fmt"
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// checkPatterns demands that patterns, and what replace puts in, are texts of the expression itself: those that come with a
// request could be made to cost minutes, or all memory, in one step, which no bound on the number of steps sees.
func checkPatterns(of *cel.Ast) (err error) {
	constant := map[string]string{overloads.Matches: "pattern", "replace": "texts"}
	ast.PostOrderVisit(of.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || constant[e.AsCall().FunctionName()] == "" {
			return
		}
		args := e.AsCall().Args()
		if !e.AsCall().IsMemberFunction() { // matches(text, pattern)
			args = args[1:]
		}
		for _, arg := range args {
			if arg.Kind() != ast.LiteralKind && err == nil {
				at := of.NativeRep().SourceInfo().GetStartLocation(e.ID())
				err = fmt.Errorf("at %d:%d of the expression: write the %s of %s out, between quotes", at.Line(), at.Column()+1, constant[e.AsCall().FunctionName()], e.AsCall().FunctionName())
			}
		}
	}))
	return err
}

// goesRound tells whether an expression has macros that go through lists: nothing else looks at the clock while it is evaluated.
func goesRound(of *cel.Ast) (found bool) {
	ast.PostOrderVisit(of.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) { found = found || e.Kind() == ast.ComprehensionKind }))
	return found
}

// What a step of matches costs by the specification of CEL, which counts it only when it has been taken.
const (
	textPerCost    = 10 // bytes of the text
	patternPerCost = 4  // bytes of the pattern; both are multiplied
)

// boundedMatches compiles a pattern once, and looks at the cost of a text before it goes through it.
func boundedMatches(overload string) *interpreter.RegexOptimization {
	return &interpreter.RegexOptimization{
		Function: overloads.Matches, OverloadID: overload, RegexIndex: 1,
		Factory: func(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
			compiled, err := regexp.Compile(pattern)
			if err != nil {
				return nil, err
			}
			longest := maxCost / max(len(pattern)/patternPerCost, 1) * textPerCost
			return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(values ...ref.Val) ref.Val {
				text, ok := values[0].Value().(string)
				switch {
				case !ok:
					return types.MaybeNoSuchOverloadErr(values[0])
				case len(text) > longest:
					return types.NewErr("a text is too long for the pattern %q; %d bytes are the most", pattern, longest)
				}
				return types.Bool(compiled.MatchString(text))
			}), nil
		},
	}
}
