package frontmatter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/frontmatter"
)

func TestJSON(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "name: pdf\ndescription: Fills in forms, and more", `{"name":"pdf","description":"Fills in forms, and more"}`},
		{"comments", "# first\na: b # why\n\n#c: d\ne: f#g", `{"a":"b","e":"f#g"}`},
		{"types", "a: 1\nb: -0.50\nc: true\nd: ~\ne:\nf: +7\ng: .5\nh: 007\ni: 1e3\nj: 12.",
			`{"a":1,"b":-0.50,"c":true,"d":null,"e":null,"f":7,"g":0.5,"h":7,"i":1e3,"j":12}`},
		{"words that look like types", "a: yes\nb: 1.2.3\nc: 2026-01-02\nd: 1_000\ne: nulls\nf: .",
			`{"a":"yes","b":"1.2.3","c":"2026-01-02","d":"1_000","e":"nulls","f":"."}`},
		{"large integers keep their digits", "a: 12345678901234567890123", `{"a":12345678901234567890123}`},
		{"quotes", "a: \"x: \\\"y\\\" \\u00e9\\uD83D\\uDE00\\x41 #z\"\nb: 'it''s: 1' # c\n\"c d\": 1\n'e': \"\"",
			`{"a":"x: \"y\" é😀A #z","b":"it's: 1","c d":1,"e":""}`},
		{"colons inside words", "a: http://example.com:80/x\nb: 10:30", `{"a":"http://example.com:80/x","b":"10:30"}`},
		{"words over lines", "a: one\n  two # c\nb: one\n\n  two\n  three\nc: d", `{"a":"one two","b":"one\ntwo three","c":"d"}`},
		{"words below their name", "a:\n  one\n  two\nb: c", `{"a":"one two","b":"c"}`},
		{"literal", "a: |\n  one\n   two\n\n  three\n\nb: |-\n  x\nc: |+\n  y\n\nd: e", `{"a":"one\n two\n\nthree\n","b":"x","c":"y\n\n","d":"e"}`},
		{"folded", "a: >\n  one\n  two\n\n  three\n   deep\n  four\nb: >-\n  x\n  y # no comment\nc: >+\n  z",
			`{"a":"one two\nthree\n deep\nfour\n","b":"x y # no comment","c":"z\n"}`},
		{"empty text", "a: |\nb: >-\n\nc: |+\n", `{"a":"","b":"","c":"\n"}`},
		{"lists", "a:\n- x\n- 1\nb:\n  - y\n  -\n  - - p\n    - q\nc: []", `{"a":["x",1],"b":["y",null,["p","q"]],"c":[]}`},
		{"mappings in lists", "a:\n  - b: 1\n    c: 2\n  - d:\n      e: f", `{"a":[{"b":1,"c":2},{"d":{"e":"f"}}]}`},
		{"nested", "metadata:\n  author: me\n  tags:\n  - a\n  version: \"1.0\"\nlicense: MIT", `{"metadata":{"author":"me","tags":["a"],"version":"1.0"},"license":"MIT"}`},
		{"on one line", `a: [x, "y, z", 'it''s', [1, -2], {b: c, "d":e, f: }] # c` + "\nb: {}\nc: {x: http://h/p, y: null,}",
			`{"a":["x","y, z","it's",[1,-2],{"b":"c","d":"e","f":null}],"b":{},"c":{"x":"http://h/p","y":null}}`},
		{"indented as a whole", "  a: 1\n  b: 2", `{"a":1,"b":2}`},
		{"nothing", "\n# c", `{}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, breaks := range []string{"\n", "\r\n"} {
				file := strings.ReplaceAll("---\n"+tc.in+"\n---\n# Body\n", "\n", breaks)
				got, err := frontmatter.JSON([]byte(file))
				if err != nil || string(got) != tc.want {
					t.Errorf("got  %s\nwant %s\nerror %v", got, tc.want, err)
				}
			}
		})
	}
}

func TestJSONRefuses(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"no mapping", "just words", "line 2: the front matter must be a list of names"},
		{"a list", "- a", "line 2: the front matter must be a list of names"},
		{"tab", "a:\n\tb: 1", "line 3: a tab cannot indent"},
		{"tab behind a dash", "a:\n-\tb", "line 3: a tab"},
		{"twice", "a: 1\na: 2", `line 3: "a" stands here a second time`},
		{"twice in braces", "a: {b: 1, b: 2}", `"b" stands here a second time`},
		{"colon in words", "description: Use when: always", "needs quotes"},
		{"colon in words below", "description: x\n  y: z", "needs quotes"},
		{"anchor", "a: &x 1", "anchors"},
		{"alias", "a: *x", "anchors"},
		{"tag", "a: !!str 1", "anchors"},
		{"alias in brackets", "a: [*x]", "anchors"},
		{"hexadecimal", "a: 0x1F", "JSON cannot say"},
		{"not a number", "a: .nan", "JSON cannot say"},
		{"number as a name", "1: a", "would be no text"},
		{"question mark", "? a", "question mark"},
		{"open quotes", "a: \"b\n  c\"", "not closed"},
		{"unknown escape", `a: "\q"`, "backslash"},
		{"half a pair", `a: "\uD83D"`, "backslash"},
		{"pair of two first halves", `a: "\uD83D\uD83D"`, "backslash"},
		{"open bracket", "a: [b,\n  c]", "does not end on its line"},
		{"words behind quotes", `a: "b" c`, "behind the end"},
		{"line behind quotes", "a: \"b\"\n  c", "has ended there"},
		{"name in brackets", "a: [b: c]", "needs braces"},
		{"indentation sign", "a: |2\n   b", "behind | or >"},
		{"text indented less", "a: |\n    b\n  c\n", "indented less"},
		{"wide blank line", "a: |\n     \n  b\n", "blank line"},
		{"list inside a value", "a: - b", "line of its own"},
		{"deeper name", "a: 1\nb:\n  c: 1\n    d: 2", "needs quotes"},
		{"deeper without reason", "a:\n  b: [1]\n    c: 2", "has ended there"},
		{"less than its list", "a:\n    - b\n  - c", "indented more"},
		{"text sign alone", "a:\n  |\n  b", "line of the name"},
		{"second document", "a: |\n  b\n--- c", "one document"},
		{"end of the document", "a: b\n...", "one document"},
		{"tab on a blank line", "a: b\n\t\n  c", "tab"},
		{"item at the top", "a: 1\n- b", "does not go on"},
		{"control character", "a: b\x01", "control character"},
		{"not UTF-8", "a: \xff", "not UTF-8"},
		{"too deep", "a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "deeper than 32"},
		{"too deep in lists", "a:\n" + strings.Repeat("- ", 40) + "x", "deeper than 32"},
		{"too long", "a: " + strings.Repeat("x", frontmatter.MaxBytes), "at most 65536"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := frontmatter.JSON([]byte("---\n" + tc.in + "\n---\n"))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %s and error %v, want one with %q", got, err, tc.want)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct{ name, in, matter, body, fault string }{
		{"whole", "---\na: 1\n---\nbody\n", "a: 1\n", "body\n", ""},
		{"byte order mark and CRLF", "\uFEFF---\r\na: 1\r\n--- \r\nbody", "a: 1\r\n", "body", ""},
		{"nothing behind", "---\na: 1\n---", "a: 1\n", "", ""},
		{"empty", "---\n---\nbody", "", "body", ""},
		{"dashes inside", "---\na: |\n  ---\n----\n---\n", "a: |\n  ---\n----\n", "", ""},
		{"none", "# Title\n", "", "", "must begin"},
		{"words behind the dashes", "--- a\n---\n", "", "", "must begin"},
		{"not closed", "---\na: 1\n", "", "", "no closing line"},
		{"one line", "---", "", "", "must begin"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			matter, body, err := frontmatter.Split([]byte(tc.in))
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("error %v, want one with %q", err, tc.fault)
				}
				return
			}
			if err != nil || string(matter) != tc.matter || string(body) != tc.body {
				t.Errorf("got %q and %q, error %v", matter, body, err)
			}
		})
	}
}

// FuzzJSON holds that whatever is taken is one JSON object without names that stand twice, and reads the same again.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		"---\na: [1, {b: \"c\"}]\nd: |\n  e\n\n f\n---\n", "---\n- a\n-\n---", "---\na:\n- b: >+\n\n   x\n\n  y: 'z'\n---\n",
		"---\n\"a\\ud83d\\ude00\": .5 # c\nb\n---\n", "\uFEFF---\r\nx: y\r\n---\r\n", "---\na: |\n \t\n\t\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := frontmatter.JSON(file)
		if err != nil {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(got, &object); err != nil {
			t.Fatalf("%q became %s: %v", file, got, err)
		}
		if again, err := frontmatter.JSON(file); err != nil || string(again) != string(got) {
			t.Fatalf("%q reads as %s and then as %s: %v", file, got, again, err)
		}
	})
}
