package manager

import (
	"fmt"
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
	if !isVariable(strings.NewReplacer("-", "_", ".", "_").Replace(id)) {
		id = "..."
	}
	return "", fmt.Sprintf("the input %s has no value, since nobody is asked for inputs here; write ${env:VAR} instead", id)
}

const longestVariable = 128

func isVariable(name string) bool {
	if name == "" || len(name) > longestVariable || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !isWord(r) })
}
