package schema

import (
	"strconv"
	"strings"
)

// Violation is one rule of a schema that a value breaks.
type Violation struct {
	// Path is a JSON pointer into the value; "" is the value itself. A long one is shortened.
	Path string
	// Rule is the keyword, or "json", "limit" or "range" for what lies outside the schema language.
	Rule string
	// Message is one line that says what is wanted. It holds nothing of the value.
	Message string

	got string // a short excerpt of the value, "" when there is none
}

func (v Violation) line(withValue bool) string {
	var b strings.Builder
	if v.Path != "" {
		b.WriteString(v.Path)
		b.WriteString(": ")
	}
	b.WriteString(v.Message)
	if withValue && v.got != "" {
		b.WriteString(", got ")
		b.WriteString(v.got)
	}
	return b.String()
}

// maxViolations bounds how many violations one error keeps.
const maxViolations = 16

// ValidationError lists why a value does not fit. It has at least one violation and at most 16, sorted by path.
type ValidationError struct {
	Violations []Violation
	// More counts the violations left out.
	More int
}

// Error is one line for the peer that sent the value. It quotes at most a few words of the value.
func (e *ValidationError) Error() string { return e.text(true) }

// WithoutValue is Error without any part of the value but the names in its paths: for logs.
func (e *ValidationError) WithoutValue() string { return e.text(false) }

func (e *ValidationError) text(withValue bool) string {
	lines := make([]string, 0, len(e.Violations)+1)
	for _, v := range e.Violations {
		lines = append(lines, v.line(withValue))
	}
	if e.More > 0 {
		lines = append(lines, "and "+strconv.Itoa(e.More)+" more")
	}
	return strings.Join(lines, "; ")
}

func violation(path, rule, message string) *ValidationError {
	return &ValidationError{Violations: []Violation{{Path: excerpt(path, maxPath), Rule: rule, Message: message}}}
}
