package manager

import (
	"strings"
	"unicode"
)

// entryReader reads the fields of one entry after the other. Its methods take nil for a field that is not there.
type entryReader struct {
	expand   expander
	problems *ConfigErrors
	name     string // of the server at work
	plain    bool   // texts are not expanded
	failed   bool   // the entry at work has a mistake
}

func newEntryReader(opts ReadOptions, problems *ConfigErrors) *entryReader {
	return &entryReader{expand: expander{opts: opts, left: maxExpandedAll}, problems: problems}
}

func (r *entryReader) fail(v *Value, format string, args ...any) {
	r.failed = true
	r.problems.Add(v, format, args...)
}

// optional takes null for "not there", as programs write it for fields they do not use.
func optional(v *Value) *Value {
	if v.Kind() == Null {
		return nil
	}
	return v
}

// given takes an empty text for "not there" as well, as programs with a form for entries write it.
func given(v *Value) *Value {
	if v.Kind() == Text && v.text == "" {
		return nil
	}
	return optional(v)
}

// untouched tells whether a text has variables that were not put in, so that nothing can be said about it.
func (r *entryReader) untouched(text string) bool {
	return (r.plain || r.expand.opts.Lookup == nil || r.expand.written) && strings.Contains(text, "${")
}

func (r *entryReader) boolean(v *Value) bool {
	v = optional(v)
	if v != nil && v.kind != Boolean {
		r.fail(v, "this must be true or false, not %s", v.kind)
	}
	return v.Kind() == Boolean && v.text == "true"
}

func (r *entryReader) text(v *Value) string {
	v = optional(v)
	if v == nil {
		return ""
	}
	if v.kind != Text {
		r.fail(v, "this must be text in quotes, not %s", v.kind)
		return ""
	}
	return r.expanded(v)
}

// expanded puts variables into the text of v.
func (r *entryReader) expanded(v *Value) string {
	text, fault := v.text, ""
	r.expand.lacking, r.expand.down = "", false
	before := len(r.problems.List)
	if !r.plain {
		text, fault = r.expand.expand(v.text)
	}
	switch {
	case fault != "" && r.name != "":
		r.fail(v, "server %q: %s", r.name, fault)
	case fault != "":
		r.fail(v, "%s", fault)
	case strings.ContainsRune(text, 0):
		r.fail(v, "the text holds a NUL character; remove it")
	}
	for _, fresh := range r.problems.List[before:] {
		fresh.Store, fresh.StoreDown = r.expand.lacking, r.expand.down
	}
	return text
}

func (r *entryReader) texts(v *Value) []string {
	v = optional(v)
	if v == nil {
		return nil
	}
	if v.kind != List {
		r.fail(v, "this must be a list of texts, not %s", v.kind)
		return nil
	}
	out := make([]string, 0, len(v.children))
	for _, child := range v.children {
		if child.kind == Null {
			r.fail(child, "this must be text in quotes, not null")
			continue
		}
		out = append(out, r.text(child))
	}
	return out
}

// lists joins the lists under several names of one thing.
func (r *entryReader) lists(v *Value, keys ...string) []string {
	var all []string
	for _, key := range keys {
		all = append(all, r.texts(v.Member(key))...)
	}
	return all
}

// textMap reads an object of texts. check says what is wrong with a name or its value, without telling the value.
func (r *entryReader) textMap(v *Value, check func(name, value string) string) map[string]string {
	v = optional(v)
	if v == nil {
		return nil
	}
	if v.kind != Object {
		r.fail(v, "this must be an object of texts, not %s", v.kind)
		return nil
	}
	out := make(map[string]string, len(v.children))
	folded := make(map[string]bool, len(v.children))
	for _, child := range v.children {
		value := child.text
		switch child.kind {
		case Null: // not there, which VS Code allows
			continue
		case Number, Boolean: // PORT: 8080 says what it means
		default:
			if child.kind != Text {
				r.fail(child, "this must be text in quotes, not %s", child.kind)
				continue
			}
			value = r.expanded(child)
		}
		if fault := check(child.name, value); fault != "" {
			r.fail(child, "%s", fault)
		}
		// The names of headers ignore case; for variables this concerns Windows alone, so only headers are checked.
		if low := strings.ToLower(child.name); v.name == "headers" {
			if folded[low] {
				r.fail(child, "this header stands twice, in different case; keep one")
			}
			folded[low] = true
		}
		out[child.name] = value
	}
	return out
}

func checkVariable(name, _ string) string {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return "the name of a variable must not be empty nor hold '='; rename it"
	}
	return ""
}

// checkHeader holds a header against RFC 9110, section 5.
func checkHeader(name, value string) string {
	if !isToken(name) {
		return "this is not the name of a header; use letters, digits and '-'"
	}
	if strings.ContainsAny(value, "\r\n") {
		return "the value of a header must be one line; remove the line break, perhaps at the end of a variable"
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "the value of a header must hold no control characters; remove them"
	}
	return ""
}

func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !isWord(r) && !strings.ContainsRune("!#$%&'*+-.^`|~", r)
	})
}

// isControl tells of characters that a terminal obeys instead of showing them, those that turn the order of a line included.
func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// inputs reads what a VS Code file asks its user for.
func (r *entryReader) inputs(v *Value) []Input {
	v = optional(v)
	if v == nil {
		return nil
	}
	r.name, r.plain = "", true
	if v.kind != List {
		r.fail(v, "this must be a list of inputs, not %s", v.kind)
		return nil
	}
	var all []Input
	seen := map[string]bool{}
	for _, child := range v.children {
		r.failed = false
		input := r.input(child)
		if !r.failed && seen[input.ID] {
			r.fail(child.Member("id"), "another input has this id; rename one")
		}
		if !r.failed {
			seen[input.ID] = true
			all = append(all, input)
		}
	}
	return all
}

func (r *entryReader) input(v *Value) Input {
	if v.kind != Object {
		r.fail(v, "an input must be an object, not %s", v.kind)
		return Input{}
	}
	in := Input{
		ID: r.text(v.Member("id")), Type: r.text(v.Member("type")), Description: r.text(v.Member("description")),
		Default: r.text(v.Member("default")), Password: r.boolean(v.Member("password")), Raw: v.Raw(),
	}
	for _, option := range v.Member("options").Children() {
		value, label := option, option
		if option.kind == Object {
			value, label = option.Member("value"), option.Member("label")
		}
		if value == nil { // the label is the value
			value = label
		}
		if value.Kind() != Text {
			r.fail(option, "an option must be a text, or an object with a label and a value")
			continue
		}
		if label.Kind() != Text {
			label = value
		}
		in.Options, in.Labels = append(in.Options, value.text), append(in.Labels, label.text)
	}
	if in.ID == "" {
		r.fail(v, "an input needs an id; add one")
	}
	return in
}
