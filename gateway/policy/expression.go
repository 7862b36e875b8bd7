package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// Bounds of one expression.
const (
	maxExpression = 4096                  // bytes
	maxCost       = 100_000               // in CEL's own units: about the number of its steps
	maxTime       = 50 * time.Millisecond // of one evaluation
	checkEvery    = 1                     // rounds of a macro between looks at the clock: one may go through a text of megabytes
)

// environment is what expressions are compiled in. It is made once, when the first is.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true), // 5 and 5.0 are the same number in JSON
		ext.Strings(),
		cel.ParserExpressionSizeLimit(maxExpression),
	}
	for _, v := range variables {
		options = append(options, cel.Variable(v.Name, v.kind))
	}
	return cel.NewEnv(options...)
})

// expression is a compiled expression. It may be used concurrently.
type expression struct {
	program cel.Program
	names   []string // of the variables that it uses, sorted
	rounds  bool     // it has macros that go through lists
}

// CheckExpression says what is wrong with an expression, with the place in it.
func CheckExpression(text string) error {
	_, err := compile(text)
	return err
}

func compile(text string) (*expression, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the expression is empty; write true for a rule that always holds")
	}
	if len(text) > maxExpression {
		return nil, fmt.Errorf("the expression has %d bytes; %d are the most", len(text), maxExpression)
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("at %d:%d of the expression: %s%s", first.Location.Line(), first.Location.Column()+1, oneLine(first.Message), hint(first.Message))
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("the expression is of type %s; it must be true or false, so compare it with something", ast.OutputType())
	}
	if err := checkPatterns(ast); err != nil {
		return nil, err
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checkEvery), cel.EvalOptions(cel.OptOptimize, cel.OptPartialEval),
		cel.OptimizeRegex(boundedMatches(overloads.Matches), boundedMatches(overloads.MatchesString)))
	if err != nil {
		return nil, fmt.Errorf("the expression cannot be used: %s", oneLine(err.Error()))
	}
	return &expression{program, namesIn(ast), goesRound(ast)}, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// hint names the members of an object that was misspelt.
func hint(message string) string {
	for _, object := range []string{"principal", "client", "annotations"} {
		if strings.Contains(message, "undeclared reference to '"+object) {
			var members []string
			for _, v := range variables {
				if member, ok := strings.CutPrefix(v.Name, object+"."); ok {
					members = append(members, member)
				}
			}
			return "; " + object + " has " + strings.Join(members, ", ")
		}
	}
	return ""
}

// namesIn are the variables that an expression refers to. The checker has resolved them, so the list is complete.
func namesIn(ast *cel.Ast) []string {
	var names []string
	for _, ref := range ast.NativeRep().ReferenceMap() {
		name := strings.TrimPrefix(ref.Name, ".")
		if slices.ContainsFunc(variables, func(v Variable) bool { return v.Name == name }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// needs tells whether an expression uses some of these variables.
func (x *expression) needs(names []string) bool {
	return slices.ContainsFunc(x.names, func(name string) bool { return slices.Contains(names, name) })
}

// verdict is what has come of an expression.
type verdict int

const (
	no    verdict = iota
	yes           // it is true
	maybe         // that depends on what is not known yet
)

// unknown are the variables of which nothing is known.
func (f *facts) unknown() []string {
	switch {
	case f.call:
		return nil
	case f.news:
		return ofRequest
	}
	return ofCall
}

// eval finds out whether the expression is true of what is known.
func (x *expression) eval(ctx context.Context, f *facts) (verdict, error) {
	var in any = f
	if unknown := f.unknown(); x.needs(unknown) {
		var patterns []*cel.AttributePatternType
		for _, name := range unknown {
			patterns = append(patterns, cel.AttributePattern(name))
		}
		partial, err := cel.PartialVars(f, patterns...)
		if err != nil {
			return no, err
		}
		in = partial
	}
	out, err := x.run(ctx, in)
	if err != nil {
		return no, errors.New(oneLine(err.Error()))
	}
	switch out {
	case types.True:
		return yes, nil
	case types.False:
		return no, nil
	}
	if types.IsUnknown(out) {
		return maybe, nil
	}
	return no, fmt.Errorf("the expression is neither true nor false but of type %s", out.Type().TypeName())
}

// run evaluates the expression, under a time limit where something would see its end.
func (x *expression) run(ctx context.Context, in any) (ref.Val, error) {
	if !x.rounds {
		out, _, err := x.program.Eval(in)
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out, _, err := x.program.ContextEval(ctx, in)
	return out, err
}
