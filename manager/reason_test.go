package manager

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/transport/stdio"
)

func TestReason(t *testing.T) {
	web := Server{
		Transport: HTTP, URL: "https://user:pw@host.example/mcp?key=topsecret#x",
		Headers: map[string]string{"Authorization": "Bearer topsecret", "X": "abc"},
	}
	command := Server{Transport: Stdio, Command: "run", Args: []string{"--token", "topsecret"}, Env: map[string]string{"T": "topsecret"}}
	for _, tc := range []struct {
		name   string
		server Server
		err    error
		want   string
	}{
		{"nothing", web, nil, ""},
		{"the address", web, fmt.Errorf("Get %q: no", web.URL), `Get "https://host.example/mcp": no`},
		{"a header", web, errors.New("sent Bearer topsecret, and abc"), "sent ***, and abc"},
		{"the command line", command, errors.New(`connect to "run --token topsecret": start: it says topsecret`), "start: it says ***"},
		{"lines and escapes", command, errors.New("one\n\x1b[2J\ttwo"), "one [2J two"},
		{"an exit", command, fmt.Errorf("x: %w", &stdio.ExitError{Command: "run", Code: 2}), "the process of run ended (exit code 2)"},
		{"a signal", command, &stdio.ExitError{Command: "run", Code: -1, Signal: "killed", StderrTail: "a\nb\n"}, "the process of run ended (signal killed); its last words: a b"},
	} {
		if got := Reason(tc.server, tc.err); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	long := Reason(command, errors.New(strings.Repeat("é", 1000)))
	if len(long) > longestReason+3 || !strings.HasSuffix(long, "é...") {
		t.Errorf("a long reason has %d bytes and ends in %q", len(long), long[len(long)-8:])
	}
}
