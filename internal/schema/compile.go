package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Options bounds what Compile accepts. The zero value is ready to use.
type Options struct {
	// MaxDepth bounds how deep subschemas may nest. Zero means 64; negative means no bound of its own.
	MaxDepth int
	// MaxSubschemas bounds their number. Zero means 10,000; negative means no bound.
	MaxSubschemas int
	// ForeignPatterns lets patterns be that RE2 cannot run: what they ask for is not checked. For schemas of other people,
	// whose programs run them.
	ForeignPatterns bool
}

func (o Options) withDefaults() Options {
	if o.MaxDepth == 0 {
		o.MaxDepth = 64
	}
	if o.MaxSubschemas == 0 {
		o.MaxSubschemas = 10_000
	}
	return o
}

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	library *jsonschema.Schema
	plan    *node // nil when the schema uses keywords the plan does not know
	branchy bool  // a check may meet the same value many times, so its work is estimated first
}

// home is the address a schema is compiled under. It cannot be fetched, and it is the same for every schema, since
// each has a compiler of its own.
const home = "schema://document/"

// Compile compiles a schema.
//
// Shape: a JSON Schema, an object or a boolean. It fails with [*DialectError] for an unknown dialect, and with a plain
// error for a schema that breaks its dialect, a reference that cannot be resolved inside the document (named), a
// pattern outside RE2, or a limit. Nothing is ever fetched. Formats are asserted. Spec 2026-07-28, basic, "$ref
// Resolution".
func Compile(raw json.RawMessage, opts Options) (*Schema, error) {
	doc, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	draft := dialect2020
	survey := survey{opts: opts.withDefaults(), draft: &draft, places: map[string]bool{}, targets: map[string]bool{}}
	if err := survey.visit(doc, "", 0); err != nil {
		return nil, err
	}
	if err := survey.checkReferences(); err != nil {
		return nil, err
	}
	library, err := survey.compile(doc)
	if err != nil {
		return nil, err
	}
	branchy, err := weigh(library)
	if err != nil {
		return nil, err
	}
	return &Schema{library: library, plan: buildPlan(doc), branchy: branchy}, nil
}

// survey counts subschemas, settles the dialect and remembers where references stand.
type survey struct {
	opts  Options
	draft *string
	count int
	refs  []string // JSON pointers of subschemas with a reference

	places  map[string]bool // JSON pointers of all subschemas
	targets map[string]bool // JSON pointers that references name
}

func (s *survey) visit(schema any, pointer string, depth int) error {
	s.count++
	if s.opts.MaxSubschemas > 0 && s.count > s.opts.MaxSubschemas {
		return fmt.Errorf("the schema has more than %d subschemas", s.opts.MaxSubschemas)
	}
	if s.opts.MaxDepth > 0 && depth > s.opts.MaxDepth {
		return fmt.Errorf("the schema nests subschemas more than %d levels deep", s.opts.MaxDepth)
	}
	s.places[pointer] = true
	if object, ok := schema.(map[string]any); ok {
		if err := s.visitObject(object, pointer); err != nil {
			return err
		}
	}
	return eachSubschema(schema, func(sub any, path ...string) error {
		return s.visit(sub, pointer+jsonPointer(path), depth+1)
	})
}

func (s *survey) visitObject(object map[string]any, pointer string) error {
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := object[keyword].(string); ok {
			s.refs = append(s.refs, pointer)
			if _, fragment, _ := strings.Cut(ref, "#"); strings.HasPrefix(fragment, "/") {
				s.targets[fragment] = true
			}
		}
	}
	if s.opts.ForeignPatterns {
		dropForeignPatterns(object) // the parsed document is ours
	}
	declared, ok := object["$schema"].(string)
	if !ok {
		return nil
	}
	canonical, err := canonicalDialect(declared)
	if err != nil {
		return err
	}
	object["$schema"] = canonical // the parsed document is ours; draft-06 becomes draft-07 here
	if pointer == "" {
		*s.draft = canonical
	}
	return nil
}

// maxOddReferences bounds references to places that no keyword makes a schema ("#/components/x"). They are legal, but the
// library copies its whole index for each.
const maxOddReferences = 500

func (s *survey) checkReferences() error {
	odd := 0
	for target := range s.targets {
		if decoded, err := url.PathUnescape(target); err != nil || !s.places[decoded] {
			odd++
		}
	}
	if odd > maxOddReferences {
		return fmt.Errorf("the schema has more than %d references to places that hold no schema of their own; put their targets under $defs", maxOddReferences)
	}
	return nil
}

// compile hands the document to the library, and each subschema with a reference too: the library looks only at what
// the root reaches, while an unresolvable reference is refused wherever it stands.
func (s *survey) compile(doc any) (compiled *jsonschema.Schema, err error) {
	// A foreign schema must not end the process, whatever the library makes of it.
	defer func() {
		if p := recover(); p != nil {
			compiled, err = nil, errors.New("the schema cannot be compiled")
		}
	}()
	compiler := newCompiler(*s.draft)
	if err := compiler.AddResource(home, doc); err != nil {
		return nil, explainCompile(err)
	}
	if compiled, err = compiler.Compile(home); err != nil {
		return nil, explainCompile(err)
	}
	for _, pointer := range s.refs {
		fragment := strings.ReplaceAll(url.PathEscape(pointer), "%2F", "/")
		if _, err := compiler.Compile(home + "#" + fragment); err != nil {
			return nil, explainCompile(err)
		}
	}
	return compiled, nil
}

func newCompiler(draft string) *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(closedLoader{})
	compiler.UseRegexpEngine(compileRegexp)
	compiler.AssertFormat()
	compiler.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: checkDateTime})
	switch draft {
	case dialect2019:
		compiler.DefaultDraft(jsonschema.Draft2019)
	case dialect07:
		compiler.DefaultDraft(jsonschema.Draft7)
	default:
		compiler.DefaultDraft(jsonschema.Draft2020)
	}
	return compiler
}

// closedLoader refuses every address: no network, no file.
type closedLoader struct{}

var errExternal = errors.New("references outside the document are never fetched")

func (closedLoader) Load(string) (any, error) { return nil, errExternal }

// explainCompile turns the library's error into one line that names what the author wrote.
func explainCompile(err error) error {
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		ref := strings.TrimPrefix(load.URL, home)
		return fmt.Errorf("the schema refers to %q: %w; put it under $defs", excerpt(ref, 200), errExternal)
	}
	var bad *jsonschema.SchemaValidationError
	var verdict *jsonschema.ValidationError
	if errors.As(err, &bad) && errors.As(bad.Err, &verdict) {
		return fmt.Errorf("the schema breaks its dialect: %w", explain(verdict))
	}
	return fmt.Errorf("compile the schema: %s", excerpt(strings.ReplaceAll(err.Error(), home, ""), 300))
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// jsonPointer joins path elements to an RFC 6901 pointer.
func jsonPointer(path []string) string {
	var b strings.Builder
	for _, part := range path {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(part))
	}
	return b.String()
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")
