package manager

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "1", "EMPTY": "", "REF": "${A}", "B_2": "two"}
	for _, tc := range []struct{ in, want string }{
		{"", ""}, {"plain $A {A} $", "plain $A {A} $"},
		{"${A}", "1"}, {"x${A}y${B_2}z", "x1ytwoz"}, {"${env:A}", "1"},
		{"${NONE:-d}", "d"}, {"${NONE:-}", ""}, {"${A:-d}", "1"}, {"${EMPTY:-d}", "d"}, {"${EMPTY}", ""},
		{"${env:NONE:-http://x}", "http://x"}, {"${NONE:-a:-b}", "a:-b"},
		{"${REF}", "${A}"},
		{"$${A} ${A}", "${A} 1"}, {"$$${A}", "$${A}"},
		{"open ${A", "open ${A"},
		{"${NONE:-${A}}", "1"}, {"${NONE:-${NOT:-${B_2}}}!", "two!"}, {"${NONE:-x${A}y${env:B_2}z}", "x1ytwoz"}, {"${A:-${NONE}}", "1"},
		{"${NONE:-$${A}", "${A"}, {"${NONE:-${REF}}", "${A}"}, {"{${A}}", "{1}"}, {"${NONE:-{}}", "{}"},
	} {
		x := &expander{opts: ReadOptions{Lookup: lookupIn(env)}, left: maxExpandedAll}
		got, fault := x.expand(tc.in)
		if got != tc.want || fault != "" {
			t.Errorf("%s: got %q, %q; want %q", tc.in, got, fault, tc.want)
		}
	}
}

func TestExpandFaults(t *testing.T) {
	const open = "a ${ in this text is never closed; end it with }, or write $${ for the characters themselves"
	const unknown = "this ${...} is none of ${VAR}, ${VAR:-default}, ${env:VAR}; for the characters themselves write $${"
	for _, tc := range []struct{ in, want string }{
		{"${NONE}", "the variable NONE is not set; set it, or write ${NONE:-default}"},
		{"${env:NONE}", "the variable NONE is not set; set it, or write ${NONE:-default}"},
		{"${}", unknown}, {"${1A}", unknown}, {"${A?secret}", unknown}, {"${command:secret}", unknown}, {"${" + strings.Repeat("N", 200) + "}", unknown},
		{"${A ${secret}", open}, {"${NONE:-${secret}", open},
		{"${NONE:-${NOT}}", "the variable NOT is not set; set it, or write ${NOT:-default}"},
		{strings.Repeat("${N:-", 10) + strings.Repeat("}", 10), "defaults stand in each other more than 8 deep; flatten them"},
		{"${workspaceFolder}/x", "no workspace is known here, so ${workspaceFolder} has no value; name the folder when the file is read, or write its path"},
		{"${userHome}", "the variable HOME is not set, and ${userHome} stands for it; set it, or write the path"},
		{"${config:secret}", unknown},
		{"${input:in put}", "the input ... has no value, since nobody is asked for inputs here; write ${env:VAR} instead"},
	} {
		x := &expander{opts: ReadOptions{Lookup: lookupIn(nil)}, left: maxExpandedAll}
		if runtime.GOOS == "windows" {
			tc.want = strings.ReplaceAll(tc.want, "HOME", "USERPROFILE")
		}
		if got, fault := x.expand(tc.in); fault != tc.want || got != "" {
			t.Errorf("%s: got %q, %q; want %q", tc.in, got, fault, tc.want)
		}
	}
}

// TestPredefined puts in what VS Code and Cursor know by themselves.
func TestPredefined(t *testing.T) {
	env := map[string]string{"HOME": "/home/ada", "USERPROFILE": "/home/ada", "workspaceFolder": "of the environment"}
	for _, tc := range []struct{ in, want string }{
		{"${workspaceFolder}/run.sh", "/src/desk/run.sh"}, {"${workspaceFolderBasename}", "desk"}, {"${workspaceFolder:desk}", "/src/desk"},
		{"${userHome}/.key", "/home/ada/.key"}, {"a${pathSeparator}b${/}c", filepath.Join("a", "b", "c")},
		{"${env:workspaceFolder}", "of the environment"}, {"${workspaceFolder:-x}", "/src/desk"}, {"$${workspaceFolder}", "${workspaceFolder}"},
	} {
		x := &expander{opts: ReadOptions{Lookup: lookupIn(env), Workspace: filepath.FromSlash("/src/desk")}, left: maxExpandedAll}
		if got, fault := x.expand(tc.in); filepath.ToSlash(got) != filepath.ToSlash(tc.want) || fault != "" {
			t.Errorf("%s: got %q, %q; want %q", tc.in, got, fault, tc.want)
		}
	}
	x := &expander{opts: ReadOptions{Lookup: lookupIn(nil), Workspace: "/src/desk"}, left: maxExpandedAll}
	if got, fault := x.expand("${workspaceFolder:other}"); !strings.Contains(fault, "names another folder") {
		t.Errorf("another folder: %q, %q", got, fault)
	}
	x.opts.Workspace = ""
	if got, fault := x.expand("${workspaceFolder:-.}${userHome:-~}"); got != ".~" || fault != "" {
		t.Errorf("with defaults: %q, %q", got, fault)
	}
}

func TestWorkspaceOf(t *testing.T) {
	for path, want := range map[string]string{
		"/src/desk/.vscode/mcp.json": "/src/desk", "/src/desk/.cursor/mcp.json": "/src/desk", "/src/desk/.mcp.json": "/src/desk",
		"/src/desk/x/../mcp.json": "/src/desk", "/mcp.json": "/",
	} {
		root, err := filepath.Abs(filepath.FromSlash("/"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := WorkspaceOf(filepath.Join(root, path))
		if err != nil || got != filepath.Join(root, want) {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	here, err := os.Getwd()
	if got, err2 := WorkspaceOf("mcp.json"); err != nil || err2 != nil || got != here {
		t.Errorf("a relative path: %q, %v, want %q", got, err2, here)
	}
}

func TestExpansionIsBounded(t *testing.T) {
	env := map[string]string{"BIG": strings.Repeat("x", 100<<10)}
	_, err := readEntry(t, `{"command":"${BIG}${BIG}"}`, ReadOptions{Lookup: lookupIn(env)})
	if err == nil || !strings.Contains(err.Error(), "longer than 131072 bytes") {
		t.Errorf("one text: %v", err)
	}
	args := strings.Repeat(`"${BIG}",`, 100)
	_, err = readEntry(t, `{"command":"x","args":[`+args+`]}`, ReadOptions{Lookup: lookupIn(env)})
	if err == nil || !strings.Contains(err.Error(), "the texts of this file are longer than") || len(err.Error()) > 10_000 {
		t.Errorf("all texts: %v", err)
	}
}

// Every field that may hold variables does, and the others do not.
func TestWhatIsExpanded(t *testing.T) {
	opts := ReadOptions{Lookup: lookupIn(map[string]string{"V": "v", "URL": "http://h/sse"})}
	s, err := readEntry(t, `{"command":"${V}","args":["${V}"],"env":{"${V}":"${V}"},"envFile":"${V}","cwd":"${V}","description":"${V}","disabledTools":["${V}"]}`, opts)
	if err != nil {
		t.Fatal(err)
	}
	if s.Command+s.Args[0]+s.EnvFile+s.Dir+s.Env["${V}"] != "vvvvv" || s.Description+s.DisabledTools[0] != "${V}${V}" || !strings.Contains(string(s.Raw), `"command":"${V}"`) {
		t.Errorf("got %q %q %v %q %q %q %q", s.Command, s.Args, s.Env, s.EnvFile, s.Dir, s.Description, s.DisabledTools)
	}
	s, err = readEntry(t, `{"url":"${URL}","headers":{"A":"Bearer ${V}"}}`, opts)
	if err != nil || s.URL != "http://h/sse" || s.Transport != SSE || s.Headers["A"] != "Bearer v" {
		t.Errorf("got %q %q %v, %v", s.URL, s.Transport, s.Headers, err)
	}
	s, err = readEntry(t, `{"url":"${NONE}","headers":{"A":"${NONE}"},"disabled":true}`, opts)
	if err != nil || !s.Disabled || s.URL != "${NONE}" {
		t.Errorf("disabled: %q, %v", s.URL, err)
	}
	s, err = readEntry(t, `{"url":"${NONE}"}`, ReadOptions{})
	if err != nil || s.URL != "${NONE}" {
		t.Errorf("without a lookup: %q, %v", s.URL, err)
	}
}

// TestAskForInputs holds that the user is asked once for each input that is in use, and for no other.
func TestAskForInputs(t *testing.T) {
	const text = `{"inputs": [
		{"id": "key", "type": "promptString", "description": "Which key?", "password": true},
		{"id": "region", "type": "pickString", "options": ["eu", "us"], "default": "eu"},
		{"id": "unused", "type": "promptString"}, {"id": "refused", "type": "promptString"}],
	"servers": {
		"a": {"type": "stdio", "command": "a", "args": ["${input:key}", "${input:region}"], "env": {"K": "${input:key}"}},
		"b": {"type": "stdio", "command": "b", "args": ["${input:refused}"]},
		"c": {"type": "stdio", "command": "c", "args": ["${input:nobody}"]},
		"d": {"type": "stdio", "command": "d", "args": ["${input:unused}"], "disabled": true}}}`
	for answer, wrong := range map[string]string{"us": "", "asia": "the input region must be one of those to pick from"} {
		asked := map[string]int{}
		ask := func(in Input) (string, error) {
			asked[in.ID]++
			switch in.ID {
			case "refused":
				return "", errors.New("hush: the user has gone away")
			case "region":
				return answer, nil
			}
			return "topsecret", nil
		}
		f, err := Read(strings.NewReader(text), "f", ReadOptions{Ask: ask, Lookup: func(string) (string, bool) { return "", false }})
		if err == nil || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "secret") {
			t.Fatalf("got %v", err)
		}
		for _, want := range []string{"refused was not given", "nobody is not among the inputs", wrong} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		}
		if a, ok := f.Server("a"); wrong == "" && (!ok || a.Args[0] != "topsecret" || a.Args[1] != "us" || a.Env["K"] != "topsecret") {
			t.Errorf("got %#v, %v", a, ok)
		}
		if fmt.Sprint(asked) != "map[key:1 refused:1 region:1]" {
			t.Errorf("asked for %v", asked)
		}
	}
}

// TestWhyAnInputIsMissing holds that the text of a NoInputError is shown, and that values given otherwise are held against the
// list to pick from.
func TestWhyAnInputIsMissing(t *testing.T) {
	const text = `{"inputs": [{"id": "region", "type": "pickString", "options": ["eu", {"label": "The US", "value": "us"}]}],
		"mcpServers": {"a": {"command": "a", "args": ["${input:region}"]}, "b": {"command": "b", "args": ["${TOKEN:-${input:region}}"]}}}`
	ask := func(Input) (string, error) { return "", fmt.Errorf("wrapped: %w", &NoInputError{"set REGION"}) }
	opts := ReadOptions{Lookup: lookupIn(map[string]string{"TOKEN": "t"}), Ask: ask}
	f, err := Read(strings.NewReader(text), "f", opts)
	if want := `f:2:49: mcpServers.a.args[0]: server "a": the input region has no value: set REGION`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if b, ok := f.Server("b"); !ok || b.Args[0] != "t" {
		t.Errorf("an input that is not needed: %#v", b)
	}
	for value, want := range map[string]string{"us": "", "The US": "the input region must be one of those to pick from"} {
		opts.Input = func(string) (string, bool) { return value, true }
		_, err := Read(strings.NewReader(text), "f", opts)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", value, err, want)
		}
	}
}

// TestOnly reads one entry of a file: nobody is asked for the inputs of the others, and their mistakes are not told.
func TestOnly(t *testing.T) {
	const text = `{"inputs": [{"id": "k"}], "servers": {"a": {"command": "a"}, "b": {"command": "${input:k}"}, "c": {}}}`
	ask := func(Input) (string, error) { t.Error("asked"); return "", nil }
	f, err := Read(strings.NewReader(text), "f", ReadOptions{Lookup: lookupIn(nil), Ask: ask, Only: []string{"a"}})
	if err != nil || len(f.Servers) != 1 || strings.Join(f.Names, " ") != "a b c" {
		t.Errorf("got %v, %v", f, err)
	}
}

// A program that keeps settings of its own in the file has variables in them as entries have.
func TestExpandASection(t *testing.T) {
	opts := ReadOptions{Lookup: lookupIn(map[string]string{"KEY": "hush", "ZERO": "a\x00b"}), Sections: []string{"mine"},
		Input: func(id string) (string, bool) { return "given", id == "key" }}
	f, err := Read(strings.NewReader(`{"mine": {"key": "k-${KEY}"}, "servers": {}, "inputs": [{"id": "key", "type": "promptString"}]}`), "f", opts)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		f.Root.Member("mine").Member("key").Text(): "k-hush <nil>", "${input:key}": "given <nil>", "${NONE:-x}": "x <nil>",
		"${NONE}": " the variable NONE is not set; set it, or write ${NONE:-default}",
		"${ZERO}": " the text holds a NUL character; remove it",
	} {
		out, err := f.Expand(text, opts)
		if got := fmt.Sprintf("%s %v", out, err); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if out, err := f.Expand("${KEY}", ReadOptions{}); out != "${KEY}" || err != nil {
		t.Errorf("a program that shows files: got %q, %v", out, err)
	}
}
