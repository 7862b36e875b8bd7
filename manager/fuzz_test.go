package manager

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// What is read can be written: raw values are valid JSON, positions lie in the file, and an error is never silent.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"mcpServers":{"a":{"command":"${A}","args":["x",],"env":{"K":"v"}}}} // end`,
		`{"servers":{"a":{"type":"http","url":"http://h/"}},"inputs":[{"id":"i"}]}`,
		`{"a":{"url":"https://h/sse","timeout":"3s","headers":{"A":"b"}}, /* c */ "b":{}}`,
		"\ufeff{\"a\":[,],\"a\":\"\\\"//\"}", `{"mcpServers":`, `[[[`, "{\"\xff\":1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		file, err := Read(bytes.NewReader(in), "f", ReadOptions{Lookup: func(name string) (string, bool) { return name, len(name)%2 == 0 }})
		if file == nil && err == nil {
			t.Fatal("neither a file nor an error")
		}
		if all, ok := errors.AsType[*ConfigErrors](err); err != nil && (!ok || len(all.List) == 0) {
			t.Fatalf("error without content: %v", err)
		}
		if file == nil {
			return
		}
		if !jsontext.Value(file.Root.Raw()).IsValid() {
			t.Fatalf("the root is not JSON: %s", file.Root.Raw())
		}
		for _, s := range file.Servers {
			if !json.Valid(s.Raw) || s.Name == "" || s.Transport == "" {
				t.Fatalf("entry %q: %s", s.Name, s.Raw)
			}
			if line, column := s.Value.Position(); line < 1 || column < 1 || line > 1+bytes.Count(in, []byte("\n")) {
				t.Fatalf("entry %q at %d:%d", s.Name, line, column)
			}
		}
	})
}

// Plain JSON stays as it is, and nothing moves.
func FuzzStandardize(f *testing.F) {
	for _, seed := range []string{`{"a": [1, 2], "b": "//, ] /* */"}`, `[1,/*,*/]`, `{"a":1,// x` + "\n}", `"\\"`, `[,]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, unclosed := standardize([]byte(in))
		if len(out) != len(in) || strings.Count(string(out), "\n") != strings.Count(in, "\n") {
			t.Fatalf("something moved: %q", out)
		}
		if jsontext.Value(in).IsValid() && (unclosed >= 0 || string(out) != in) {
			t.Fatalf("plain JSON was changed: %q", out)
		}
	})
}

func TestStandardize(t *testing.T) {
	for in, want := range map[string]string{
		"[1,]":               "[1 ]",
		"[1, /* c */ ]":      "[1          ]",
		"{\"a\":1,\n// ü\n}": "{\"a\":1 \n     \n}",
		"[,]":                "[,]",
		"[1,,]":              "[1,,]",
		"{\"a\":,}":          "{\"a\":,}",
		`["//,]"]`:           `["//,]"]`,
		`["\",]"]`:           `["\",]"]`,
		"/*\n*/1":            "  \n  1",
		"1/":                 "1/",
	} {
		if got, _ := standardize([]byte(in)); string(got) != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
