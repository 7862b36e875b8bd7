package manager_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/manager"
)

const edited = `{
  // who we are
  "theme": {"dark": true, /* soon */ },
  "mcpServers": {
    "a": {"command": "a", "vendor": {"x": 1.0e0}}, // the first
    "b": {
      "command": "b",
    },
  },
  "empty": { /* nothing */ }
}
`

func TestEdits(t *testing.T) {
	for _, tc := range []struct {
		name     string
		put      string // "" removes
		path     []string
		from, to string // what becomes of the file
	}{
		{"replace", `["x"]`, []string{"mcpServers", "a", "command"}, `"command": "a"`, `"command": ["x"]`},
		{"a key in one line", `true`, []string{"mcpServers", "a", "disabled"}, `1.0e0}}`, `1.0e0}, "disabled": true}`},
		{"a key in lines", `true`, []string{"mcpServers", "b", "disabled"}, `"command": "b",`, "\"command\": \"b\",\n      \"disabled\": true,"},
		{"an entry", `{"url":"https://x.example/mcp"}`, []string{"mcpServers", "c"}, "    },\n  },", "    },\n    \"c\": {\"url\":\"https://x.example/mcp\"},\n  },"},
		{"objects that are not there", `1`, []string{"mcpServers", "b", "o", "p"}, `"command": "b",`, "\"command\": \"b\",\n      \"o\": {\"p\": 1},"},
		{"into an empty object", `1`, []string{"empty", "q\""}, `{ /* nothing */ }`, `{"q\"": 1 /* nothing */ }`},
		{"remove the first", "", []string{"mcpServers", "a"}, "\"a\": {\"command\": \"a\", \"vendor\": {\"x\": 1.0e0}}, // the first\n    \"b\"", `"b"`},
		{"remove the last", "", []string{"mcpServers", "b"}, ", // the first\n    \"b\": {\n      \"command\": \"b\",\n    },", `, // the first`},
		{"remove the only one", "", []string{"mcpServers", "b", "command"}, "{\n      \"command\": \"b\",\n    }", "{}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := manager.Read(strings.NewReader(edited), "f", manager.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(edited, tc.from) != 1 {
				t.Fatalf("%q stands %d times in the file", tc.from, strings.Count(edited, tc.from))
			}
			var got []byte
			if tc.put == "" {
				got, err = f.Remove(tc.path...)
			} else {
				got, err = f.Put(json.RawMessage(tc.put), tc.path...)
			}
			if want := strings.Replace(edited, tc.from, tc.to, 1); err != nil || string(got) != want {
				t.Errorf("error %v, got\n%s\nwant\n%s", err, got, want)
			}
			if string(f.Source) != edited {
				t.Error("the file itself was changed")
			}
		})
	}
}

// TestEditsKeepTheStyle holds where a comment, a comma and a line break stay, in files written in odd ways.
func TestEditsKeepTheStyle(t *testing.T) {
	for _, tc := range []struct{ name, in, put, removed string }{
		{"one line", `{"a": 1}`, `{"a": 1, "k": 0}`, `{}`},
		{"one line, trailing comma", `{"a": 1,}`, `{"a": 1, "k": 0,}`, `{}`},
		{"one line, comments", `{/*x*/ "a": 1 /*y*/}`, `{/*x*/ "a": 1, "k": 0 /*y*/}`, `{ /*y*/}`},
		{"a comment behind the last", "{\n  \"a\": 1 // a\n}", "{\n  \"a\": 1, // a\n  \"k\": 0\n}", "{}"},
		{"and a trailing comma", "{\n  \"a\": 1, // a\n}", "{\n  \"a\": 1, // a\n  \"k\": 0,\n}", "{}"},
		{"a comma behind a comment", "{\n  \"a\": 1 // a\n  ,}", "{\n  \"a\": 1 // a\n  ,\n  \"k\": 0,}", "{}"},
		{"comments above", "{\n  // all\n\n  // a\n  \"a\": 1\n}", "{\n  // all\n\n  // a\n  \"a\": 1,\n  \"k\": 0\n}", "{\n  // all\n\n}"},
		{"tabs, lines of Windows", "{\r\n\t\"b\": 1, // b\r\n\t\"a\": 1\r\n}\r\n", "{\r\n\t\"b\": 1, // b\r\n\t\"a\": 1,\r\n\t\"k\": 0\r\n}\r\n", "{\r\n\t\"b\": 1 // b\r\n}\r\n"},
		{"lines of an old Mac", "{\r\t\"a\": 1 // a\r}", "{\r\t\"a\": 1, // a\r\t\"k\": 0\r}", "{}"},
		{"byte order mark", "\ufeff{\"a\": 1}", "\ufeff{\"a\": 1, \"k\": 0}", "\ufeff{}"},
		{"the bracket behind a comment", "{ // all\n  \"a\": 1}", "{ // all\n  \"a\": 1,\n  \"k\": 0}", "{ // all\n}"},
		{"a comment over lines", "{\n  \"b\": 1, /* b\n  b */\n  \"a\": 1 /* a\n  a */\n}", "{\n  \"b\": 1, /* b\n  b */\n  \"a\": 1, /* a\n  a */\n  \"k\": 0\n}", "{\n  \"b\": 1 /* b\n  b */\n}"},
		{"commas in comments", "{\"b\": 1 /*,*/, /*,*/ \"a\": 1 /*,*/}", "{\"b\": 1 /*,*/, /*,*/ \"a\": 1, \"k\": 0 /*,*/}", "{\"b\": 1 /*,*/ /*,*/}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := manager.Read(strings.NewReader(tc.in), "f", manager.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := f.Put(json.RawMessage("0"), "k"); err != nil || string(got) != tc.put {
				t.Errorf("put: error %v, got\n%q\nwant\n%q", err, got, tc.put)
			}
			if got, err := f.Remove("a"); err != nil || string(got) != tc.removed {
				t.Errorf("remove: error %v, got\n%q\nwant\n%q", err, got, tc.removed)
			}
		})
	}
}

func TestEditsThatCannotBe(t *testing.T) {
	f, err := manager.Read(strings.NewReader(edited), "f", manager.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() ([]byte, error){
		"no JSON":           func() ([]byte, error) { return f.Put(json.RawMessage(`{`), "x") },
		"no path":           func() ([]byte, error) { return f.Put(json.RawMessage(`{}`)) },
		"through a text":    func() ([]byte, error) { return f.Put(json.RawMessage(`1`), "mcpServers", "a", "command", "x") },
		"remove nothing":    func() ([]byte, error) { return f.Remove("mcpServers", "nobody") },
		"remove everything": func() ([]byte, error) { return f.Remove() },
	} {
		if got, err := try(); err == nil {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
