package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/manager"
)

// talk is a console whose person types these lines, hidden ones in their order.
func talk(lines, hidden string) (*console, *strings.Builder) {
	var out strings.Builder
	secrets := strings.NewReader(hidden)
	return &console{in: strings.NewReader(lines), out: &out, secret: func(context.Context) (string, error) { return readLine(secrets) }}, &out
}

func TestConsole(t *testing.T) {
	pick := manager.Input{ID: "region", Type: "pickString", Description: "Which region?", Options: []string{"eu", "us"}, Labels: []string{"eu", "The US"}, Default: "eu"}
	const list = "Which region? (region)\n  1  eu\n  2  The US\n"
	for _, tc := range []struct {
		name          string
		in            manager.Input
		lines, hidden string
		value         string
		ok            bool
		shown         string
	}{
		{"a text", manager.Input{ID: "name", Description: "Who?"}, "Ada\r\nrest\n", "", "Ada", true, "Who? (name): "},
		{"a text with a default", manager.Input{ID: "name", Default: "Ada"}, "\n", "", "Ada", true, "Input (name) [Ada]: "},
		{"a secret", manager.Input{ID: "key", Password: true, Default: "topsecret"}, "", "hush\n", "hush", true, "Input (key, not shown): \n"},
		{"by number", pick, "2\n", "", "us", true, list + "Number [eu]: "},
		{"by value", pick, "us\n", "", "us", true, list + "Number [eu]: "},
		{"by label", pick, "The US\n", "", "us", true, list + "Number [eu]: "},
		{"by default", pick, "\n", "", "eu", true, list + "Number [eu]: "},
		{"after a mistake", pick, "3\n1\n", "", "eu", true, list + "Number [eu]: That is none of them.\nNumber [eu]: "},
		{"never", pick, "3\n-1\nasia\n1\n", "", "", false, list + strings.Repeat("Number [eu]: That is none of them.\n", 3)},
		{"at the end", pick, "", "", "", false, list + "Number [eu]: \n"},
		{"a description that would move the cursor", manager.Input{ID: "i", Description: "\x1b[2JHi"}, "x\n", "", "x", true, "[2JHi (i): "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, out := talk(tc.lines, tc.hidden)
			value, ok, err := c.ask(t.Context(), tc.in)
			if value != tc.value || ok != tc.ok || err != nil || out.String() != tc.shown {
				t.Errorf("got %q, %v, %v and %q", value, ok, err, out)
			}
		})
	}
}

// TestAnInterruptedQuestion ends with the program, though nobody has answered.
func TestAnInterruptedQuestion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	nobody, typed := io.Pipe()
	defer typed.Close()
	c := &console{in: nobody, out: writerFunc(func([]byte) { cancel() })}
	if _, ok, err := c.ask(ctx, manager.Input{ID: "i"}); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", ok, err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// TestWhereInputsComeFrom: from a flag, else from the environment, else from the person; and only for the entry that is read.
func TestWhereInputsComeFrom(t *testing.T) {
	ts := site(t)
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"servers": {"web": {"url": "` + ts.URL + `/${input:my.path}"}, "other": {"command": "${input:unused}"}},
		"inputs": [{"id": "my.path", "password": true}, {"id": "unused"}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, flag, variable, hidden, shown string
	}{
		{"a flag", "mcp", "wrong", "", ""},
		{"the environment", "", "mcp", "wrong\n", ""},
		{"the person", "", "", "mcp\n", "Input (my.path, not shown): \n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			c, out := talk("", tc.hidden)
			e := &environment{stdout: &stdout, stderr: &stderr, console: c, lookup: func(name string) (string, bool) {
				return tc.variable, name == "RIALTO_INPUT_MY_PATH" && tc.variable != ""
			}}
			args := []string{"tools", "web", "--config", file}
			if tc.flag != "" {
				args = append(args, "--input", "my.path="+tc.flag)
			}
			if code := run(t.Context(), args, e); code != 0 || !strings.Contains(stdout.String(), "greet") && !strings.Contains(stdout.String(), "echo") || out.String() != tc.shown {
				t.Errorf("exit %d, standard output %q, standard error %q, asked %q", code, &stdout, &stderr, out)
			}
		})
	}
}

// TestGatewayLeavesOutWhatHasNoInput serves the other entries, and names the ways to give the input.
func TestGatewayLeavesOutWhatHasNoInput(t *testing.T) {
	ts := site(t)
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"servers": {"web": {"url": "` + ts.URL + `/mcp"}, "key": {"command": "x", "args": ["${input:api-key}"]}}, "inputs": [{"id": "api-key"}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var stderr watched
	stderr.until, stderr.then = "web: ready", cancel
	e := &environment{stdout: new(bytes.Buffer), stderr: &stderr, lookup: func(string) (string, bool) { return "", false }}
	code := run(ctx, []string{"gateway", "--config", file, "--listen", "127.0.0.1:0"}, e)
	for _, want := range []string{"web: ready", "servers.key.args[0]", "give --input api-key=VALUE, set RIALTO_INPUT_API_KEY, or start rialto on a terminal, where it asks"} {
		if !strings.Contains(stderr.b.String(), want) {
			t.Errorf("exit %d, standard error lacks %q:\n%s", code, want, &stderr.b)
		}
	}
	if code != 0 {
		t.Errorf("exit %d", code)
	}
}
