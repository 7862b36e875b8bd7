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
		{"remove the last", "", []string{"mcpServers", "b"}, ", // the first\n    \"b\": {\n      \"command\": \"b\",\n    },", `,`},
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
