package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	maxPath  = 200
	maxQuote = 40 // bytes of a value an error may show
	maxWants = 8  // names or values of the schema an error lists
)

// explain flattens the library's tree into sorted violations in words of our own, since the library's words quote the
// value at any length.
func explain(tree *jsonschema.ValidationError) *ValidationError {
	var found []Violation
	var walk func(e *jsonschema.ValidationError, depth int)
	walk = func(e *jsonschema.ValidationError, depth int) {
		if v, ok := describe(e.ErrorKind); ok {
			v.Path = excerpt(jsonPointer(e.InstanceLocation), maxPath)
			found = append(found, v)
		}
		if len(found) > 1000 || depth > 1000 {
			return
		}
		for _, cause := range e.Causes {
			walk(cause, depth+1)
		}
	}
	walk(tree, 0)
	if len(found) == 0 {
		return violation("", "schema", "does not fit the schema")
	}
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message), cmp.Compare(a.got, b.got))
	})
	found = slices.Compact(found)
	kept := min(len(found), maxViolations)
	return &ValidationError{Violations: found[:kept], More: len(found) - kept}
}

// describe says what one kind of failure wants; false for the nodes that only group others.
func describe(k jsonschema.ErrorKind) (Violation, bool) {
	switch k := k.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		return Violation{}, false
	case *kind.Type:
		return Violation{Rule: "type", Message: "must be " + wantTypes(k.Want), got: article(k.Got)}, true
	case *kind.Enum:
		return Violation{Rule: "enum", Message: "must be one of " + wantValues(k.Want), got: quoteValue(k.Got)}, true
	case *kind.Const:
		return Violation{Rule: "const", Message: "must be " + quoteValue(k.Want), got: quoteValue(k.Got)}, true
	case *kind.Format:
		return Violation{Rule: "format", Message: "must be of format " + excerpt(k.Want, maxQuote), got: quoteValue(k.Got)}, true
	case *kind.Pattern:
		return Violation{Rule: "pattern", Message: wantPattern(k.Want), got: quoteValue(k.Got)}, true
	case *kind.AdditionalProperties:
		return Violation{Rule: "additionalProperties", Message: counted(len(k.Properties), "unknown property", "unknown properties"), got: quoteNames(k.Properties)}, true
	case *kind.PropertyNames:
		return Violation{Rule: "propertyNames", Message: "has a property name that is not allowed", got: quoteValue(k.Property)}, true
	}
	if v, ok := describeSize(k); ok {
		return v, true
	}
	return describeLogic(k)
}

// describeSize covers bounds and counts. They show the measure, not the value.
func describeSize(k jsonschema.ErrorKind) (Violation, bool) {
	say := func(rule, format string, want any, got string) (Violation, bool) {
		return Violation{Rule: rule, Message: fmt.Sprintf(format, want), got: got}, true
	}
	switch k := k.(type) {
	case *kind.Minimum:
		return say("minimum", "must be at least %s", number(k.Want), number(k.Got))
	case *kind.Maximum:
		return say("maximum", "must be at most %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMinimum:
		return say("exclusiveMinimum", "must be more than %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMaximum:
		return say("exclusiveMaximum", "must be less than %s", number(k.Want), number(k.Got))
	case *kind.MultipleOf:
		return say("multipleOf", "must be a multiple of %s", number(k.Want), number(k.Got))
	case *kind.MinLength:
		return say("minLength", "must have at least %d characters", k.Want, strconv.Itoa(k.Got))
	case *kind.MaxLength:
		return say("maxLength", "must have at most %d characters", k.Want, strconv.Itoa(k.Got))
	case *kind.MinItems:
		return say("minItems", "must have at least %d items", k.Want, strconv.Itoa(k.Got))
	case *kind.MaxItems:
		return say("maxItems", "must have at most %d items", k.Want, strconv.Itoa(k.Got))
	case *kind.MinProperties:
		return say("minProperties", "must have at least %d properties", k.Want, strconv.Itoa(k.Got))
	case *kind.MaxProperties:
		return say("maxProperties", "must have at most %d properties", k.Want, strconv.Itoa(k.Got))
	case *kind.MinContains:
		return say("minContains", "must have at least %d matching items", k.Want, strconv.Itoa(len(k.Got)))
	case *kind.MaxContains:
		return say("maxContains", "must have at most %d matching items", k.Want, strconv.Itoa(len(k.Got)))
	case *kind.AdditionalItems:
		return say("additionalItems", "has %d items too many", k.Count, "")
	}
	return Violation{}, false
}

func describeLogic(k jsonschema.ErrorKind) (Violation, bool) {
	say := func(rule, message string) (Violation, bool) { return Violation{Rule: rule, Message: message}, true }
	switch k := k.(type) {
	case *kind.Required:
		return say("required", "misses "+schemaNames(k.Missing))
	case *kind.Dependency:
		return say("dependencies", "misses "+schemaNames(k.Missing)+" beside "+strconv.Quote(excerpt(k.Prop, maxQuote)))
	case *kind.DependentRequired:
		return say("dependentRequired", "misses "+schemaNames(k.Missing)+" beside "+strconv.Quote(excerpt(k.Prop, maxQuote)))
	case *kind.AnyOf:
		return say("anyOf", "fits none of the allowed forms")
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return say("oneOf", "fits more than one of the allowed forms")
		}
		return say("oneOf", "fits none of the allowed forms")
	case *kind.Not:
		return say("not", "has a form that is not allowed")
	case *kind.FalseSchema:
		return say("false", "is not allowed here")
	case *kind.Contains:
		return say("contains", "has no matching item")
	case *kind.UniqueItems:
		return say("uniqueItems", fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1]))
	case *kind.RefCycle:
		return say("$ref", "the schema refers to itself without end")
	}
	rule := strings.Join(k.KeywordPath(), "/")
	return say(cmp.Or(rule, "schema"), "does not fit "+cmp.Or(rule, "the schema"))
}

// wantPattern names the patterns of inferred schemas, which nobody would want to read.
func wantPattern(pattern string) string {
	switch pattern {
	case durationPattern:
		return "must be a duration like 1m30s"
	case base64Pattern:
		return "must be base64"
	}
	return "must match the pattern " + excerpt(pattern, 4*maxQuote)
}

func wantTypes(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = article(t)
	}
	return strings.Join(words, " or ")
}

func article(typ string) string {
	switch typ {
	case "null":
		return typ
	case "integer", "array", "object":
		return "an " + typ
	}
	return "a " + typ
}

func wantValues(values []any) string {
	words := make([]string, 0, maxWants)
	for _, v := range values[:min(len(values), maxWants)] {
		words = append(words, quoteValue(v))
	}
	return listed(words, len(values))
}

func schemaNames(names []string) string {
	names = slices.Sorted(slices.Values(names))
	words := make([]string, 0, maxWants)
	for _, n := range names[:min(len(names), maxWants)] {
		words = append(words, strconv.Quote(excerpt(n, maxQuote)))
	}
	return listed(words, len(names))
}

func listed(words []string, total int) string {
	text := strings.Join(words, ", ")
	if total > len(words) {
		text += fmt.Sprintf(" and %d more", total-len(words))
	}
	return text
}

// quoteNames shows names that came with the value, so briefly.
func quoteNames(names []string) string {
	first := slices.Min(names)
	return listed([]string{strconv.Quote(excerpt(first, maxQuote))}, len(names))
}

func quoteValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return strconv.Quote(excerpt(v, maxQuote))
	case json.Number:
		return excerpt(v.String(), maxQuote)
	case []any:
		return "an array"
	}
	return "an object"
}

// number writes a rational for a reader; beyond integers 17 digits are enough.
func number(r *big.Rat) string {
	if r.IsInt() {
		return excerpt(r.Num().String(), maxQuote)
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "has an " + one
	}
	return "has " + strconv.Itoa(n) + " " + many
}
