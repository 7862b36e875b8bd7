package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCoerce(t *testing.T) {
	for _, tc := range []struct{ property, text, want string }{
		{`{"type":"string"}`, "5", `"5"`},
		{`{"type":"string"}`, `say "hi"`, `"say \"hi\""`},
		{`{"type":"integer"}`, "12345678901234567890", "12345678901234567890"},
		{`{"type":"integer"}`, "-3", "-3"},
		{`{"type":"integer"}`, "1.5", ""},
		{`{"type":"integer"}`, "01", ""},
		{`{"type":"number"}`, "1e3", "1e3"},
		{`{"type":"number"}`, "null", ""},
		{`{"type":"number"}`, "", ""},
		{`{"type":"boolean"}`, "true", "true"},
		{`{"type":"boolean"}`, "yes", ""},
		{`{"type":"array"}`, `["a"]`, `["a"]`},
		{`{"type":"array"}`, `a,b`, ""},
		{`{"type":"object"}`, `{"a":1}`, `{"a":1}`},
		{`{"type":["string","null"]}`, "null", "null"},
		{`{"type":["integer","string"]}`, "7", "7"},
		{`{"type":["integer","string"]}`, "seven", `"seven"`},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, "7", "7"},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, "x", ""},
		{`{"enum":[1,2]}`, "2", "2"},
		{`{"enum":["1","2"]}`, "2", `"2"`},
		{`{}`, "2", `"2"`},
		{`true`, "2", `"2"`},
		{``, "2", `"2"`},
	} {
		got, err := coerce("x", tc.text, json.RawMessage(tc.property))
		if (err != nil) != (tc.want == "") || string(got) != tc.want {
			t.Errorf("%q by %s: got %s, %v; want %s", tc.text, tc.property, got, err, tc.want)
		}
	}
}

func TestToolArguments(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"a":{"type":"integer"},"b":{}}}`)
	for _, tc := range []struct{ input, words, want string }{
		{"", "", `{}`},
		{"", "a=1 b=x=y other=z", `{"a":1,"b":"x=y","other":"z"}`},
		{"", "a=1 a=2", `{"a":2}`},
		{` {"n":1.0e0} `, "a=1", `{"n":1.0e0,"a":1}`},
		{`{"a":7}`, `a:="text"`, `{"a":"text"}`},
		{"", "novalue", ""},
		{"", "=x", ""},
		{"", ":=1", ""},
		{`[]`, "", ""},
		{`{"a"`, "", ""},
	} {
		got, err := toolArguments(schema, strings.Fields(tc.words), tc.input)
		if (err != nil) != (tc.want == "") || string(got) != tc.want {
			t.Errorf("%s and %q: got %s, %v; want %s", tc.input, tc.words, got, err, tc.want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":            "plain\n\ttext",
		"\x1b[31mred\x1b[0m\r\a":   "[31mred[0m",
		"right\u202eleft\u0085end": "rightleftend",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWordsBehindTheCommand(t *testing.T) {
	for _, tc := range []struct {
		job  job
		want []string
	}{
		{&callCommand{targeted: targeted{Target: "echo"}, Tool: "a=1", Arguments: []string{"b=2"}}, []string{"echo", "a=1", "b=2"}},
		{&callCommand{targeted: targeted{Target: "echo"}}, []string{"echo"}},
		{&promptCommand{targeted: targeted{Target: "greet"}, Name: "name=x"}, []string{"greet", "name=x"}},
		{&readCommand{targeted: targeted{Target: "demo://x"}}, []string{"demo://x"}},
	} {
		tc.job.shift()
		var got []string
		switch j := tc.job.(type) {
		case *callCommand:
			got = append([]string{j.Tool}, j.Arguments...)
		case *promptCommand:
			got = append([]string{j.Name}, j.Arguments...)
		case *readCommand:
			got = []string{j.URI}
		}
		if strings.Join(got, " ") != strings.Join(tc.want, " ") || tc.job.target().Target != "" {
			t.Errorf("got %q and target %q, want %q", got, tc.job.target().Target, tc.want)
		}
	}
}
