package manager

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	maxExpanded    = 128 << 10 // bytes of one text; an argument of a program cannot be longer on Linux
	maxExpandedAll = 8 << 20   // bytes of all texts of a file
	maxDefaults    = 8         // defaults within defaults
)

// expander puts variables into the texts of one file.
type expander struct {
	opts ReadOptions
	left int // bytes that may still be made

	inputs []Input           // that may be asked for
	given  map[string]string // what the user has answered, by id
	failed map[string]string // why there is no answer, by id

	secrets []string // values put into the entry at work that may be secret
	stored  []string // those of stores among them

	stores  *stores // what stores have given
	collect bool    // stores are not asked yet: what they are to be asked for is noted
	within  bool    // the text at work is a reference to a store
	written bool    // references stand in texts as they are written
	lacking string  // the store that has not given a value, by its scheme
	down    bool    // it could not be asked
}

// Expand gives a text of a section of the caller's own (see [ReadOptions].Sections) with its variables put in, as the texts of
// entries have them. opts are those that the file was read with; nobody is asked again whose answers Ask remembers. The error
// says what is wrong and what to do, and tells no value.
func (f *File) Expand(text string, opts ReadOptions) (string, error) {
	out, fault := f.expander(opts).expand(text)
	switch {
	case fault != "":
		return "", errors.New(fault)
	case strings.ContainsRune(out, 0):
		return "", errors.New("the text holds a NUL character; remove it")
	}
	return out, nil
}

func (f *File) expander(opts ReadOptions) *expander {
	x := &expander{opts: opts, left: maxExpandedAll, inputs: f.Inputs, stores: f.stores}
	if x.stores == nil { // the file was not read
		x.stores = newStores()
	}
	return x
}

// expand gives text with its variables put in, or says what is wrong without telling any value.
func (x *expander) expand(text string) (out, fault string) {
	if x.opts.Lookup == nil {
		return text, ""
	}
	return x.expandAt(text, 0)
}

// expandAt is expand for a text that stands in depth defaults of others.
func (x *expander) expandAt(text string, depth int) (out, fault string) {
	if !strings.Contains(text, "${") {
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
		end := closing(text, i)
		if end < 0 && strings.IndexByte(text[i:], '}') < 0 {
			break // a lone ${ is text, as in every host
		}
		if end < 0 {
			return "", "a ${ in this text is never closed; end it with }, or write $${ for the characters themselves"
		}
		value, fault := x.reference(text[i+2:end], depth)
		if fault != "" {
			return "", fault
		}
		b.WriteString(text[:i] + value)
		text = text[end+1:]
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

// closing gives the offset of the brace that closes the ${ at i, past those that it holds; -1 when there is none.
func closing(text string, i int) int {
	for open := 0; i < len(text); i++ {
		switch {
		case text[i] == '}':
			if open--; open == 0 {
				return i
			}
		case text[i] != '$' || i+1 == len(text) || text[i+1] != '{':
		case open == 0 || text[i-1] != '$': // $${ opens nothing
			open++
		}
	}
	return -1
}

// reference gives the value for what stands between the braces. Only a default may hold variables itself: a value is put in
// as it is.
func (x *expander) reference(body string, depth int) (value, fault string) {
	if id, ok := strings.CutPrefix(body, "input:"); ok {
		return x.input(id)
	}
	if scheme, ref, ok := x.store(body); ok {
		return x.secret(scheme, ref, depth)
	}
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(body, "env:"), ":-")
	value, fault, ok := "", "", false
	if !strings.HasPrefix(body, "env:") {
		value, fault, ok = x.predefined(name)
	}
	switch {
	case ok && (fault == "" || !hasFallback):
		return value, fault
	case ok:
	case !isVariable(name):
		return "", "this ${...} is none of ${VAR}, ${VAR:-default}, ${env:VAR}" + x.known() + "; for the characters themselves write $${"
	default:
		value, ok = x.opts.Lookup(name)
	}
	switch {
	case hasFallback && value == "" && depth == maxDefaults:
		return "", fmt.Sprintf("defaults stand in each other more than %d deep; flatten them", maxDefaults)
	case hasFallback && value == "":
		return x.expandAt(fallback, depth+1)
	case ok:
		if !slices.Contains(harmless, name) {
			x.secrets = append(x.secrets, value)
		}
		return value, ""
	}
	return "", fmt.Sprintf("the variable %s is not set; set it, or write ${%s:-default}", name, name)
}

// harmless variables hold no secrets: hiding the home folder wherever it stands would only garble what went wrong.
var harmless = []string{"HOME", "USERPROFILE", "USER", "USERNAME", "LOGNAME", "PWD", "TMPDIR", "TEMP", "TMP", "SHELL", "LANG"}

// predefined gives the variables that VS Code and Cursor know without an environment; ok tells that name is one of them.
func (x *expander) predefined(name string) (value, fault string, ok bool) {
	plain, folder, scoped := strings.Cut(name, ":")
	switch {
	case name == "/", name == "pathSeparator":
		return string(filepath.Separator), "", true
	case name == "userHome":
		home := "HOME"
		if runtime.GOOS == "windows" {
			home = "USERPROFILE"
		}
		if value, _ = x.opts.Lookup(home); value == "" {
			return "", fmt.Sprintf("the variable %s is not set, and ${userHome} stands for it; set it, or write the path", home), true
		}
		return value, "", true
	case plain != "workspaceFolder" && plain != "workspaceFolderBasename":
		return "", "", false
	case x.opts.Workspace == "":
		return "", fmt.Sprintf("no workspace is known here, so ${%s} has no value; name the folder when the file is read, or write its path", plain), true
	}
	base := filepath.Base(x.opts.Workspace)
	if scoped && folder != base { // of several folders in one window
		return "", fmt.Sprintf("this ${%s:...} names another folder than that of the workspace, and only that one is known; write its path", plain), true
	}
	if plain == "workspaceFolderBasename" {
		return base, "", true
	}
	return x.opts.Workspace, "", true
}

func (x *expander) input(id string) (value, fault string) {
	shown := id
	if !isVariable(strings.NewReplacer("-", "_", ".", "_").Replace(id)) {
		shown = "..."
	}
	var in *Input
	if at := slices.IndexFunc(x.inputs, func(in Input) bool { return in.ID == id }); at >= 0 {
		in = &x.inputs[at]
	}
	value, ok := "", false
	if x.opts.Input != nil {
		value, ok = x.opts.Input(id)
	}
	switch {
	case ok:
	case x.opts.Ask == nil:
		return "", fmt.Sprintf("the input %s has no value, since nobody is asked for inputs here; write ${env:VAR} instead", shown)
	case in == nil:
		return "", fmt.Sprintf("the input %s is not among the inputs of this file; add it, or write ${env:VAR} instead", shown)
	default:
		if value, fault = x.ask(*in, shown); fault != "" {
			return "", fault
		}
	}
	if in != nil && in.Type == "pickString" && len(in.Options) > 0 && !slices.Contains(in.Options, value) {
		return "", fmt.Sprintf("the input %s must be one of those to pick from", shown)
	}
	x.secrets = append(x.secrets, value)
	return value, ""
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
	var why *NoInputError
	switch {
	case errors.As(err, &why):
		value, fault = "", fmt.Sprintf("the input %s has no value: %s", shown, why.Text)
	case err != nil:
		value, fault = "", fmt.Sprintf("the input %s was not given; start again and answer, or write ${env:VAR} instead", shown)
	}
	x.given[in.ID], x.failed[in.ID] = value, fault
	return value, fault
}

// NoInputError is an error of [ReadOptions].Ask whose text may be shown, as that of any other error is not: it says how an
// input can be given.
type NoInputError struct{ Text string }

// Error gives the text.
func (e *NoInputError) Error() string { return e.Text }

const longestVariable = 128

func isVariable(name string) bool {
	if name == "" || len(name) > longestVariable || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !isWord(r) })
}
