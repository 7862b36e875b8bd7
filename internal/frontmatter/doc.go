// Package frontmatter reads the block of YAML that a SKILL.md begins with, as JSON.
//
// It takes the YAML that such files are written in: mappings and lists, plain and quoted words, block text (| and >), and
// short lists and mappings on one line ([a, b] and {a: b}), with the types of YAML 1.2's core schema. What goes beyond that
// (anchors, aliases, tags, several documents, quoted words over several lines) is refused with the number of its line, and
// never read differently from how a whole YAML reader would: two sides that compare what they read must agree.
//
// The input comes from a peer or from a file. All functions may be called concurrently.
package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// MaxBytes bounds the block between the two lines of dashes.
	MaxBytes = 64 << 10

	maxDepth = 32 // of mappings and lists in each other
)

// Error says where the block cannot be read.
type Error struct {
	Line int // of the file, counted from 1
	Text string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

func faultf(line int, format string, args ...any) error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

// Split cuts a file into its front matter, without the lines of dashes, and the rest. A byte order mark in front is left
// out. Both are parts of file.
func Split(file []byte) (matter, body []byte, err error) {
	rest := bytes.TrimPrefix(file, []byte("\uFEFF"))
	first, rest, found := bytes.Cut(rest, []byte("\n"))
	if !found || string(bytes.TrimSuffix(first, []byte("\r"))) != "---" {
		return nil, nil, faultf(1, "the file must begin with a line of three dashes, and the front matter follows it")
	}
	for at := 0; at <= len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" && bytes.HasPrefix(line, []byte("---")) {
			return rest[:at], rest[min(at+len(line)+1, len(rest)):], nil
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return nil, nil, errors.New("the front matter has no closing line of three dashes")
}

// JSON reads the front matter of a file as a JSON object, its members in the order they were written in.
func JSON(file []byte) (json.RawMessage, error) {
	matter, _, err := Split(file)
	if err != nil {
		return nil, err
	}
	if len(matter) > MaxBytes {
		return nil, fmt.Errorf("the front matter has %d bytes, at most %d are allowed", len(matter), MaxBytes)
	}
	if !utf8.Valid(matter) {
		return nil, errors.New("the front matter is not UTF-8")
	}
	p := &parser{}
	for i, raw := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(matter), "\r\n", "\n"), "\n"), "\n") {
		if at := strings.IndexFunc(raw, isControl); at >= 0 {
			return nil, faultf(i+2, "a control character stands in the text")
		}
		if raw == "..." || strings.HasPrefix(raw, "... ") || strings.HasPrefix(raw, "--- ") || strings.HasPrefix(raw, "---\t") {
			return nil, faultf(i+2, "the front matter is one document; indent a line that begins with %q", raw[:3])
		}
		text := strings.TrimLeft(raw, " ")
		p.lines = append(p.lines, line{no: i + 2, indent: len(raw) - len(text), text: strings.TrimRight(text, " \t"), raw: raw})
	}
	return p.document()
}

func isControl(r rune) bool {
	return r < ' ' && r != '\t' || r == 0x7F || r == '\uFEFF' || r == '\u0085'
}
