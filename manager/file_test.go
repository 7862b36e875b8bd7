package manager

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := env[name]; return value, ok }
}

func TestShapes(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		shape    Shape
		servers  string
	}{
		{"mcpServers", `{"mcpServers":{"b":{"command":"x"},"a":{"command":"y"}}}`, ShapeMCPServers, "b a"},
		{"servers of VS Code", `{"servers":{"a":{"type":"stdio","command":"x"}},"inputs":[]}`, ShapeServers, "a"},
		{"root map", `{"z":{"command":"x"},"$schema":"s","a":{"url":"http://h/"}}`, ShapeRoot, "z a"},
		{"root map with a server called servers", `{"servers":{"command":"x"}}`, ShapeRoot, "servers"},
		{"root map with a section of the caller", `{"mine":{"listen":"x"},"a":{"command":"x"}}`, ShapeRoot, "a"},
		{"mcpServers beside other settings", `{"theme":"dark","window":{"url":"x"},"mcpServers":{}}`, ShapeMCPServers, ""},
		{"root map of addresses under other names", `{"a":{"httpUrl":"http://h/"},"b":{"serverUrl":"http://h/"}}`, ShapeRoot, "a b"},
		{"no servers", `{"theme":"dark"}`, ShapeNone, ""},
		{"byte order mark", "\ufeff" + `{"mcpServers":{"a":{"command":"x"}}}`, ShapeMCPServers, "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Read(strings.NewReader(tc.in), "f", ReadOptions{Sections: []string{"mine"}})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range f.Servers {
				names = append(names, s.Name)
			}
			if got := strings.Join(names, " "); got != tc.servers || got != strings.Join(f.Names, " ") || f.Shape != tc.shape {
				t.Errorf("got %q in shape %q, want %q in %q", got, f.Shape, tc.servers, tc.shape)
			}
		})
	}
}

// A file that is wrong as a whole gives no File.
func TestWholeFileRefused(t *testing.T) {
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, tc := range []struct{ name, in, want string }{
		{"empty", " \n// nothing\n", `f:1:1: the file holds no JSON; write at least {"mcpServers": {}}`},
		{"list", `[]`, `f:1:1: the file must be an object such as {"mcpServers": {}}, not a list`},
		{"no comma", "{\n \"mcpServers\": {\n  \"a\": {\"command\": \"x\" \"args\": []}}}", "f:3:24: mcpServers.a: this is not JSON; look for a missing comma, colon, quote or bracket here or just before"},
		{"no quotes", `{"mcpServers":{"a":{"env":{"K":sk-secret}}}}`, "f:1:32: mcpServers.a.env.K: this is not JSON; look for a missing comma, colon, quote or bracket here or just before"},
		{"ends early", "{\"mcpServers\":\n{", "f:2:2: mcpServers: the file ends too early; close the open bracket or quote"},
		{"open comment", "{} /* x", "f:1:4: this comment is never closed; end it with */"},
		{"rest", "{} {}", "f:1:4: there is something behind the end of the JSON value; remove it"},
		{"a comma at the end", "{},", "f:1:3: there is something behind the end of the JSON value; remove it"},
		{"lone comma", `{"a":[,]}`, "f:1:7: a[0]: this is not JSON; look for a missing comma, colon, quote or bracket here or just before"},
		{"two commas", `{"a":[1,,]}`, "f:1:9: a[1]: this is not JSON; look for a missing comma, colon, quote or bracket here or just before"},
		{"not UTF-8", "{\"a\":\"\xff\"}", "f:1:7: a: this is not UTF-8; save the file in that encoding"},
		{"deep", `{"a":` + deep + `}`, "f:1:133: a" + strings.Repeat("[0]", 127) + ": the nesting is deeper than 128 levels; flatten it"},
		{"duplicates", "{\"mcpServers\":{\"a\":{},\n\"a\":{\"url\":\"x\",\"url\":\"y\"}}}",
			"f:2:1: mcpServers.a: this key stands twice in the same object; keep one\nf:2:16: mcpServers.a.url: this key stands twice in the same object; keep one"},
		{"duplicate by escape", `{"é":1,"\u00e9":2}`, "f:1:8: \"é\": this key stands twice in the same object; keep one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Read(strings.NewReader(tc.in), "f", ReadOptions{})
			if f != nil || err == nil || err.Error() != tc.want {
				t.Errorf("got %v and\n%v\nwant\n%s", f, err, tc.want)
			}
		})
	}
}

func TestPartlyWrong(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"both keys", `{"mcpServers":{},"servers":{}}`, "f:1:28: servers: this file has both mcpServers and servers; keep one of them"},
		{"misspelt key", `{"mcpservers":{}}`, "f:1:15: mcpservers: servers are not read from here; the key is written mcpServers"},
		{"misspelt key, other way", `{"mcp_servers":{}}`, "f:1:16: mcp_servers: servers are not read from here; the key is written mcpServers"},
		{"servers as a list", `{"mcpServers":[]}`, "f:1:15: mcpServers: this must be an object with one member for each server, not a list"},
		{"column counts characters", `{"é":"ü", "mcpServers":null}`, "f:1:24: mcpServers: this must be an object with one member for each server, not null"},
		{"inputs of one name", `{"servers":{},"inputs":[{"id":"a"},{"id":"a"}]}`, "f:1:42: inputs[1].id: another input has this id; rename one"},
		{"an option of another kind", `{"servers":{},"inputs":[{"id":"a","options":[7]}]}`,
			"f:1:46: inputs[0].options[0]: an option must be a text, or an object with a label and a value"},
		{"input without id", `{"servers":{},"inputs":[{"type":"promptString"},3]}`,
			"f:1:25: inputs[0]: an input needs an id; add one\nf:1:49: inputs[1]: an input must be an object, not a number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Read(strings.NewReader(tc.in), "f", ReadOptions{})
			if f == nil || err == nil || err.Error() != tc.want {
				t.Errorf("got %v and\n%v\nwant\n%s", f, err, tc.want)
			}
		})
	}
}

func TestInputs(t *testing.T) {
	const in = `{"servers":{"a":{"command":"x","env":{"K":"${input:my-key}"}}},
		"inputs":[{"id":"my-key","type":"promptString","description":"Key","password":true,"x":1},
			{"id":"env","type":"pickString","options":["a","b",{"label":"c"},{"label":"Dee","value":"d"}],"default":"a"}]}`
	f, err := Read(strings.NewReader(in), "f", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first, second := f.Inputs[0], f.Inputs[1]
	if first.ID != "my-key" || !first.Password || first.Description != "Key" || !strings.Contains(string(first.Raw), `"x":1`) {
		t.Errorf("first input: %+v", first)
	}
	if second.Default != "a" || !slices.Equal(second.Options, []string{"a", "b", "c", "d"}) || !slices.Equal(second.Labels, []string{"a", "b", "c", "Dee"}) {
		t.Errorf("second input: %+v", second)
	}

	_, err = Read(strings.NewReader(in), "f", ReadOptions{Lookup: lookupIn(nil)})
	want := `f:1:43: servers.a.env.K: server "a": the input my-key has no value, since nobody is asked for inputs here; write ${env:VAR} instead`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	f, err = Read(strings.NewReader(in), "f", ReadOptions{Lookup: lookupIn(nil), Input: lookupIn(map[string]string{"my-key": "v"})})
	if err != nil || f.Servers[0].Env["K"] != "v" {
		t.Errorf("with an answer: %v, %v", f.Servers, err)
	}
}

// A line comment ends at a lone carriage return as well, as in editors.
func TestLinesOfAnOldMac(t *testing.T) {
	f, err := Read(strings.NewReader("{ // the servers\r\"mcpServers\": {\"a\": {\"command\": \"x\"}} // end\r}"), "f", ReadOptions{})
	if err != nil || len(f.Servers) != 1 {
		t.Errorf("got %v, %v", f, err)
	}
}

func TestSizeLimit(t *testing.T) {
	in := `{"mcpServers":{}}`
	if _, err := Read(strings.NewReader(in), "f", ReadOptions{MaxBytes: int64(len(in))}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := Read(strings.NewReader(in), "f", ReadOptions{MaxBytes: math.MaxInt64}); err != nil {
		t.Errorf("at the largest limit: %v", err)
	}
	_, err := Read(strings.NewReader(in+" "), "f", ReadOptions{MaxBytes: int64(len(in))})
	if want := "f: the file is larger than 17 bytes; split it, or raise ReadOptions.MaxBytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	big := in + strings.Repeat(" ", DefaultMaxBytes)
	if _, err := Read(strings.NewReader(big), "f", ReadOptions{}); err == nil {
		t.Error("the default limit does not hold")
	}
	if _, err := Read(strings.NewReader(big), "f", ReadOptions{MaxBytes: -1}); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

func TestErrorsAreCapped(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "%q:{},", fmt.Sprint("s", i))
	}
	_, err := Read(strings.NewReader(`{"mcpServers":{`+b.String()+`}}`), "f", ReadOptions{})
	all, ok := errors.AsType[*ConfigErrors](err)
	if !ok || len(all.List) != 20 || all.More != 10 || !strings.HasSuffix(err.Error(), "\nand 10 more") {
		t.Errorf("got %v", err)
	}
	if one, ok := errors.AsType[*ConfigError](err); !ok || one.Line != 1 || one.Key != "mcpServers.s0" {
		t.Errorf("first error: %v", one)
	}
}

func TestJoin(t *testing.T) {
	var a, b ConfigErrors
	for i := range 15 {
		a.List = append(a.List, &ConfigError{File: "f", Line: 30 - i, Column: 1, Text: "x"})
		b.List = append(b.List, &ConfigError{File: "f", Line: 15 - i, Column: 1, Text: "y"})
	}
	b.More = 2
	a.Join(&b)
	if len(a.List) != 20 || a.More != 12 {
		t.Errorf("%d errors and %d more", len(a.List), a.More)
	}
	if err := a.Err(); !strings.HasPrefix(err.Error(), "f:11:1: y\n") {
		t.Errorf("not in the order of the file: %v", err)
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	if _, err := ReadFile(path, ReadOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"mcpServers":{"a":{"command":"x"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFile(path, ReadOptions{})
	if err != nil || f.Name != path {
		t.Fatalf("%v, %v", f, err)
	}
	if s, ok := f.Server("a"); !ok || s.Command != "x" {
		t.Errorf("Server(a) = %v, %v", s, ok)
	}
	if _, ok := f.Server("b"); ok {
		t.Error("Server(b) is there")
	}
	if _, err := ReadFile(t.TempDir(), ReadOptions{}); err == nil {
		t.Error("a folder was read")
	}
}
