package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/manager"
)

// awaited is standard error that can be waited on.
type awaited struct {
	mu    sync.Mutex
	text  strings.Builder
	want  string
	after int           // times that it stands there already
	said  chan struct{} // closed once it stands there again
}

func (a *awaited) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text.Write(p)
	if a.said != nil && strings.Count(a.text.String(), a.want) > a.after {
		close(a.said)
		a.said = nil
	}
	return len(p), nil
}

func (a *awaited) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text.String()
}

// wait gives what is closed when a text is written once more.
func (a *awaited) wait(want string) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.want, a.after, a.said = want, strings.Count(a.text.String(), want), make(chan struct{})
	return a.said
}

// following is a gateway that was started from a file with an input, by a person who has answered it.
type following struct {
	file   string
	stderr *awaited
	hup    chan os.Signal
	gone   bool // the terminal, at the next signal
	asked  *strings.Builder
	code   chan int
}

func startFollowing(t *testing.T, text string, flags ...string) *following {
	t.Helper()
	return startFollowingIn(t, nil, text, flags...)
}

// startFollowingIn is startFollowing with variables of the environment.
func startFollowingIn(t *testing.T, env map[string]string, text string, flags ...string) *following {
	t.Helper()
	f := &following{file: filepath.Join(t.TempDir(), "mcp.json"), stderr: &awaited{}, hup: make(chan os.Signal), code: make(chan int, 1)}
	f.write(t, text)
	c, asked := talk("", "mcp\n")
	f.asked = asked
	e := &environment{
		stdout: new(bytes.Buffer), stderr: f.stderr, console: c, lookup: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
		hangups: func() (<-chan os.Signal, func()) { return f.hup, func() {} }, deserted: func() bool { return f.gone },
	}
	ready := f.stderr.wait("web: ready")
	args := append([]string{"gateway", "--config", f.file, "--listen", "127.0.0.1:0", "--no-watch"}, flags...)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { f.code <- run(ctx, args, e) }() // ends with cancel
	t.Cleanup(func() { cancel(); <-f.code })
	<-ready
	return f
}

func (f *following) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(f.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// again has the file read anew and waits for what is said of it.
func (f *following) again(want string) {
	said := f.stderr.wait(want)
	f.hup <- os.Interrupt // any will do
	<-said
}

// TestReloadDoesNotAsk holds that what was answered at the start still counts when the file is read anew, and that what nobody
// has answered leaves its server out, with the usual error, and refuses nothing else.
func TestReloadDoesNotAsk(t *testing.T) {
	ts := site(t)
	entry := func(name, input string) string {
		return `"` + name + `": {"url": "` + ts.URL + `/${input:` + input + `}"}`
	}
	inputs := `"inputs": [{"id": "where", "password": true}, {"id": "key"}]`
	f := startFollowing(t, `{"servers": {`+entry("web", "where")+`}, `+inputs+`}`)
	f.write(t, `{"servers": {`+entry("web", "where")+`, `+entry("more", "where")+`, `+entry("locked", "key")+`}, `+inputs+`}`)
	f.again("was read anew: added more")
	if got := f.stderr.String(); !strings.Contains(got, "servers.locked.url: server \"locked\": the input key has no value: give --input key=VALUE, set RIALTO_INPUT_KEY") {
		t.Errorf("standard error says %s", got)
	}
	if asked := f.asked.String(); strings.Count(asked, "where") != 1 || strings.Contains(asked, "key") {
		t.Errorf("asked: %q", asked)
	}
	f.write(t, `{"servers": {`+entry("locked", "key")+`, "bad": {"url": 7}}, `+inputs+`}`)
	f.again("was not taken into use")
	f.write(t, `{"gateway": {"requireAll": true}, "servers": {`+entry("web", "where")+`, `+entry("locked", "key")+`}, `+inputs+`}`)
	f.again("was not taken into use")
	if n := strings.Count(f.stderr.String(), "was read anew"); n != 1 {
		t.Errorf("read anew %d times:\n%s", n, f.stderr)
	}
}

// TestReloadAfterAnInputIsGone holds that a flag for an input that the file had at the start does not hold up anything.
func TestReloadAfterAnInputIsGone(t *testing.T) {
	ts := site(t)
	f := startFollowing(t, `{"servers": {"web": {"url": "`+ts.URL+`/${input:where}"}}, "inputs": [{"id": "where"}]}`, "--input", "where=mcp")
	f.write(t, `{"servers": {"more": {"url": "`+ts.URL+`/mcp"}}}`)
	f.again("was read anew: added more; removed web")
}

// TestAnAnswerThatIsNoChoiceAnyMore counts as none.
func TestAnAnswerThatIsNoChoiceAnyMore(t *testing.T) {
	in := &inputs{answered: map[string]string{"region": "eu"}}
	for _, tc := range []struct {
		options []string
		ok      bool
	}{{nil, true}, {[]string{"eu", "us"}, true}, {[]string{"us"}, false}} {
		value, err := in.ask(t.Context(), manager.Input{ID: "region", Options: tc.options})
		if (err == nil) != tc.ok || tc.ok && value != "eu" {
			t.Errorf("%q: %q, %v", tc.options, value, err)
		}
	}
}

// TestAClosedTerminal ends the gateway, which comes with the same signal that asks for a reload.
func TestAClosedTerminal(t *testing.T) {
	ts := site(t)
	f := startFollowing(t, `{"mcpServers": {"web": {"url": "`+ts.URL+`/mcp"}}}`)
	f.gone = true
	f.hup <- os.Interrupt
	code := <-f.code
	f.code <- code // for the end of the test
	if code != 0 || strings.Contains(f.stderr.String(), "anew") {
		t.Errorf("exit %d: %s", code, f.stderr)
	}
}
