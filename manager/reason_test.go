package manager

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		{"the parts of an address", web, errors.New(`Get "https://user:***@host.example/mcp?key=topsecret": no topsecret`), `Get "https://user:***@host.example/mcp?key=***": no ***`},
		{"the token of a header", web, errors.New("the token topsecret is not valid"), "the token *** is not valid"},
		{"a path with a key", Server{Transport: HTTP, URL: "https://h.example/s/abcdefghij0123456789/mcp"}, errors.New("Post https://h.example/s/abcdefghij0123456789/mcp: abcdefghij0123456789"), "Post https://h.example/s/***/mcp: ***"},
		{"arguments", Server{Transport: Stdio, Command: "run", Args: []string{"--api-key", "hushhush", "--url=https://h/?k=quietquiet", "PASSWORD=silent1", "-v", "server.js"}},
			errors.New("hushhush quietquiet silent1 server.js"), "*** *** *** server.js"},
		{"one secret is the beginning of another", Server{Transport: Stdio, Env: map[string]string{"A": "topsecret", "B": "topsecret-and-more"}}, errors.New("topsecret-and-more"), "***"},
		{"a secret of several lines", Server{Transport: Stdio, Env: map[string]string{"KEY": "BEGIN\nabcdefgh\nEND"}},
			&stdio.ExitError{Command: "run", Code: 1, StderrTail: "bad key:\nBEGIN\nabcdefgh\nEND"}, "the process of run ended (exit code 1); its last words: bad key: ***"},
		{"a secret where the tail is cut", command, &stdio.ExitError{Command: "run", Code: 1, StderrTail: "topsecret" + strings.Repeat(".", longestTail-3)},
			"the process of run ended (exit code 1); its last words: ***" + strings.Repeat(".", longestTail-3)},
		{"the secret of a client", Server{Transport: HTTP, URL: "https://h/", OAuth: &OAuth{ClientID: "c", ClientSecret: "topsecret"}}, errors.New("topsecret"), "***"},
		{"what a terminal obeys", command, errors.New("a\u009b2Jb\u202ec\xffd\u2028e"), "a 2Jb c\ufffdd e"},
		{"an exit", command, fmt.Errorf("x: %w", &stdio.ExitError{Command: "run", Code: 2}), "the process of run ended (exit code 2)"},
		{"a signal", command, &stdio.ExitError{Command: "run", Code: -1, Signal: "killed", StderrTail: "a\nb\n"}, "the process of run ended (signal killed); its last words: a b"},
	} {
		if got := Reason(tc.server, tc.err); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	path := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(path, []byte("T=topsecret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Reason(Server{Transport: Stdio, EnvFile: path}, errors.New("it says topsecret")); got != "it says ***" {
		t.Errorf("a variable of the envFile: %q", got)
	}
	long := Reason(command, errors.New(strings.Repeat("é", 1000)))
	if len(long) > longestReason+3 || !strings.HasSuffix(long, "é...") {
		t.Errorf("a long reason has %d bytes and ends in %q", len(long), long[len(long)-8:])
	}
}

// TestReasonHidesWhatWasPutIn holds that values of variables and inputs are hidden wherever they were put in, paths apart.
func TestReasonHidesWhatWasPutIn(t *testing.T) {
	env := map[string]string{"HOME": "/home/ada", "ONE": "value-1", "TWO": "value-2", "DIR": "/somewhere"}
	s, err := readEntry(t, `{"command":"${DIR}/run","args":["${HOME}/x","${ONE}","a${env:TWO}b","${NONE:-${input:three}}"]}`, ReadOptions{
		Lookup: lookupIn(env), Input: func(string) (string, bool) { return "value-3", true },
	})
	if err != nil {
		t.Fatal(err)
	}
	got := Reason(s, errors.New("/somewhere/run /home/ada/x value-1 value-2 value-3"))
	if want := "/somewhere/run /home/ada/x *** *** ***"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPublicURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@h.example:8/mcp?k=v#f": "https://h.example:8/mcp", "https://h.example": "https://h.example", "https://h.example/a%2Fb": "https://h.example/a%2Fb",
		"https://h.example/s/sk-0123456789abcdefghij/mcp": "https://h.example/s/***/mcp", "unix:///run/x.sock#/mcp": "unix:///run/x.sock#/mcp",
		"http://h/%zz": "(an address that cannot be read)",
	} {
		if got := PublicURL(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
