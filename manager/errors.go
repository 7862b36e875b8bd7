package manager

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxErrors bounds the errors one file reports; the rest are counted.
const maxErrors = 20

// ConfigError is one thing wrong with a configuration file.
type ConfigError struct {
	File   string // name of the file as it was given
	Line   int    // from 1; zero when the error concerns the whole file
	Column int    // in characters, from 1; zero when the error concerns the whole file
	Key    string // dotted path, such as mcpServers.github.env.TOKEN; empty at the root
	Text   string // what is wrong; what to do

	// Store is the scheme of the store that has not given the value of a reference: the file itself may be right. Empty for
	// all other mistakes. See [ReadOptions].Secrets.
	Store string

	// StoreDown says of such a mistake that the store could not be asked, so that it may have the value all the same.
	StoreDown bool
}

// Error gives "file:line:column: key: what is wrong; what to do", without the parts that are not known.
func (e *ConfigError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	b.WriteString(": " + e.Text)
	return b.String()
}

// ConfigErrors is everything wrong with one file, in the order of the file, at most 20 errors. The zero value is
// ready to use. It must not be used concurrently.
type ConfigErrors struct {
	List []*ConfigError
	More int // errors beyond those in List
}

// Add reports that v is wrong. The text must hold no value of the file that could be a secret.
func (e *ConfigErrors) Add(v *Value, format string, args ...any) {
	if len(e.List) == maxErrors {
		e.More++
		return
	}
	line, column := v.Position()
	text := fmt.Sprintf(format, args...)
	e.List = append(e.List, &ConfigError{File: v.doc.name, Line: line, Column: column, Key: v.Path(), Text: text})
}

// Join adds the errors of another list about the same file.
func (e *ConfigErrors) Join(other *ConfigErrors) {
	n := min(len(other.List), maxErrors-len(e.List))
	e.List = append(e.List, other.List[:n]...)
	e.More += len(other.List) - n + other.More
}

// Empty tells whether nothing was reported.
func (e *ConfigErrors) Empty() bool { return len(e.List) == 0 }

// Err sorts the errors by position and returns e, or nil when nothing was reported.
func (e *ConfigErrors) Err() error {
	if e.Empty() {
		return nil
	}
	slices.SortStableFunc(e.List, func(a, b *ConfigError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return e
}

// Error gives one line for each error.
func (e *ConfigErrors) Error() string {
	lines := make([]string, 0, len(e.List)+1)
	for _, one := range e.List {
		lines = append(lines, one.Error())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a [*ConfigError].
func (e *ConfigErrors) Unwrap() []error {
	all := make([]error, len(e.List))
	for i, one := range e.List {
		all[i] = one
	}
	return all
}
