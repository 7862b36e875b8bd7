package manager

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxExpanded    = 128 << 10 // bytes of one text; an argument of a program cannot be longer on Linux
	maxExpandedAll = 8 << 20   // bytes of all texts of a file
)

// expander puts variables into the texts of one file.
type expander struct {
	opts ReadOptions
	left int // bytes that may still be made

	inputs []Input           // that may be asked for
	given  map[string]string // what the user has answered, by id
	failed map[string]string // why there is no answer, by id
}

// expand gives text with its variables put in, or says what is wrong without telling any value.
func (x *expander) expand(text string) (out, fault string) {
	if x.opts.Lookup == nil || !strings.Contains(text, "${") {
		return text, ""
	}
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			break
		}
		if i > 0 && text[i-1] == '$' { // $${ is a literal ${
			b.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			break // a lone ${ is text, as in every host
		}
		value, fault := x.reference(text[i+2 : i+end])
		if fault != "" {
			return "", fault
		}
		b.WriteString(text[:i] + value)
		text = text[i+end+1:]
		if b.Len() > maxExpanded {
			break
		}
	}
	b.WriteString(text)
	if b.Len() > maxExpanded {
		return "", fmt.Sprintf("the text is longer than %d bytes once its variables are put in; shorten them", maxExpanded)
	}
	if x.left -= b.Len(); x.left < 0 {
		return "", fmt.Sprintf("the texts of this file are longer than %d bytes once their variables are put in; shorten them", maxExpandedAll)
	}
	return b.String(), ""
}

// reference gives the value for what stands between the braces.
func (x *expander) reference(body string) (value, fault string) {
	if id, ok := strings.CutPrefix(body, "input:"); ok {
		return x.input(id)
	}
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(body, "env:"), ":-")
	if !isVariable(name) {
		return "", "this ${...} is none of ${VAR}, ${VAR:-default}, ${env:VAR}; for the characters themselves write $${"
	}
	value, ok := x.opts.Lookup(name)
	switch {
	case hasFallback && value == "":
		return fallback, ""
	case ok:
		return value, ""
	}
	return "", fmt.Sprintf("the variable %s is not set; set it, or write ${%s:-default}", name, name)
}

func (x *expander) input(id string) (value, fault string) {
	if x.opts.Input != nil {
		if value, ok := x.opts.Input(id); ok {
			return value, ""
		}
	}
	shown := id
	if !isVariable(strings.NewReplacer("-", "_", ".", "_").Replace(id)) {
		shown = "..."
	}
	at := slices.IndexFunc(x.inputs, func(in Input) bool { return in.ID == id })
	switch {
	case x.opts.Ask == nil:
		return "", fmt.Sprintf("the input %s has no value, since nobody is asked for inputs here; write ${env:VAR} instead", shown)
	case at < 0:
		return "", fmt.Sprintf("the input %s is not among the inputs of this file; add it, or write ${env:VAR} instead", shown)
	}
	return x.ask(x.inputs[at], shown)
}

// ask asks for an input, once. The answer may be secret, so nothing of it is told.
func (x *expander) ask(in Input, shown string) (value, fault string) {
	if value, ok := x.given[in.ID]; ok {
		return value, x.failed[in.ID]
	}
	if x.given == nil {
		x.given, x.failed = make(map[string]string), make(map[string]string)
	}
	value, err := x.opts.Ask(in)
	switch {
	case err != nil:
		value, fault = "", fmt.Sprintf("the input %s was not given; start again and answer, or write ${env:VAR} instead", shown)
	case in.Type == "pickString" && len(in.Options) > 0 && !slices.Contains(in.Options, value):
		value, fault = "", fmt.Sprintf("the input %s must be one of those to pick from", shown)
	}
	x.given[in.ID], x.failed[in.ID] = value, fault
	return value, fault
}

const longestVariable = 128

func isVariable(name string) bool {
	if name == "" || len(name) > longestVariable || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !isWord(r) })
}
