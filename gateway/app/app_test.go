package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/demo"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// lines is standard error that can be waited on.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// wait waits until a text has been written, and gives the line it stands in.
func (l *lines) wait(t *testing.T, want string) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for line := range strings.Lines(l.String()) {
			if strings.Contains(line, want) {
				return strings.TrimSpace(line)
			}
		}
	}
	t.Fatalf("%q does not come; so far:\n%s", want, l)
	return ""
}

// running is a gateway under test.
type running struct {
	err  *lines
	url  string
	stop context.CancelFunc
	done chan error
}

func start(t *testing.T, conf *config.Config) *running {
	t.Helper()
	return launch(t, Options{Config: conf})
}

// launch runs a gateway on a free port.
func launch(t *testing.T, opts Options) *running {
	t.Helper()
	opts.Listen = "127.0.0.1:0"
	return launchAsIs(t, opts)
}

// launchAsIs runs one where its options say.
func launchAsIs(t *testing.T, opts Options) *running {
	t.Helper()
	r := &running{err: &lines{}, done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() { // ends with stop
		opts.Stderr, opts.Version = r.err, "test"
		r.done <- Run(ctx, opts)
	}()
	t.Cleanup(cancel)
	line := r.err.wait(t, "listening on ")
	_, r.url, _ = strings.Cut(line, "listening on ")
	return r
}

// end stops it and demands a clean end in time.
func (r *running) end(t *testing.T) {
	t.Helper()
	begun := time.Now()
	r.stop()
	select {
	case err := <-r.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("it does not stop")
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("stopping took %s", took)
	}
}

func read(t *testing.T, text string) *config.Config {
	t.Helper()
	conf, err := config.Read(strings.NewReader(text), "mcp.json", config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

func TestDemonstration(t *testing.T) {
	r := start(t, nil)
	r.err.wait(t, "built-in demonstration server")
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		c, err := client.DialHTTP(t.Context(), r.url, client.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		result, err := c.CallTool(t.Context(), "add", map[string]int{"a": 2, "b": 3})
		if err != nil || string(result.StructuredContent) != `{"sum":5}` {
			t.Errorf("got %+v, %v", result, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	r.end(t)
}

func TestStopWithOpenStreams(t *testing.T) {
	r := start(t, nil)
	c, err := client.DialHTTP(t.Context(), r.url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // the server is gone by then
	stop := c.OnToolsChange(func() {})
	defer stop()
	counting := make(chan error, 1)
	first := make(chan struct{})
	var once sync.Once
	go func() { // ends with the gateway
		_, err := c.CallTool(context.Background(), "count", map[string]int{"to": 100, "pause": 1000},
			client.CallOptions{OnProgress: func(mcp.ProgressParams) { once.Do(func() { close(first) }) }})
		counting <- err
	}()
	<-first
	r.end(t)
	select {
	case err := <-counting:
		if err == nil {
			t.Error("a call that was cut has succeeded")
		}
	case <-time.After(5 * time.Second):
		t.Error("the call still waits")
	}
}

func TestServers(t *testing.T) {
	s := demo.Server("1", server.Options{Versions: mcp.LegacyVersions()})
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	defer func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	r := start(t, read(t, `{
		"gateway": {"prefix": "always"},
		"mcpServers": {
			"one": {"url": "`+ts.URL+`"},
			"off": {"url": "http://x/", "disabled": true},
			"gone": {"command": "no-such-program-anywhere"}
		}
	}`))
	r.err.wait(t, "one: ready, 4 tools, 1 resource, 1 template, 1 prompt (revision 2025-11-25")
	r.err.wait(t, `gone: failed: the program "no-such-program-anywhere" was not found in PATH; trying again until it works`)
	r.err.wait(t, "off: disabled")
	c, err := client.DialHTTP(t.Context(), r.url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.CallTool(t.Context(), "one__echo", map[string]string{"text": "through"})
	if err != nil || result.Text() != "through" {
		t.Errorf("got %+v, %v", result, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	checkHealth(t, r)
	r.end(t)
}

func checkHealth(t *testing.T, r *running) {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(r.url, "/mcp") + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	var health struct {
		Status  string
		Servers []struct{ Name, State string }
	}
	if err := json.Unmarshal(body, &health); err != nil {
		t.Fatal(err)
	}
	if health.Status != "ok" || len(health.Servers) != 2 || health.Servers[0].State != "ready" || health.Servers[1].State == "ready" {
		t.Errorf("health is %s", body)
	}
}

// TestStopWithStubbornChild holds that a process that neither ends with its input nor when it is asked does not hold the
// gateway up for long.
func TestStopWithStubbornChild(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell to make a process that ignores signals")
	}
	r := start(t, read(t, `{"mcpServers": {"stubborn": {"command": "sh", "args": ["-c", "trap '' TERM; while :; do sleep 1; done"]}}}`))
	r.end(t)
}

func TestWarnsWhenThereIsNoServer(t *testing.T) {
	for _, text := range []string{`{}`, `{"mcpServers":{}}`, `{"mcpServers":{"a":{"command":"a","disabled":true}}}`} {
		r := start(t, read(t, text))
		r.err.wait(t, "no server to connect to")
		r.end(t)
	}
}

func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }() // nothing was sent
	address := taken.Addr().String()
	err = Run(t.Context(), Options{Listen: address, Stderr: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "listen on "+address) || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("got %v", err)
	}
}

func TestRequireAll(t *testing.T) {
	conf := read(t, `{"gateway": {"requireAll": true}, "mcpServers": {"gone": {"command": "no-such-program-anywhere"}}}`)
	err := Run(t.Context(), Options{Config: conf, Listen: "127.0.0.1:0", Stderr: io.Discard})
	if err == nil || !strings.Contains(err.Error(), `server "gone" cannot be reached`) {
		t.Errorf("got %v", err)
	}
}

// TestOthersOnTheNetwork holds that nobody opens the servers to the network by accident: without a word about who may call, an
// address that other machines can reach is refused. Who insists is warned.
func TestOthersOnTheNetwork(t *testing.T) {
	const refused = "listen on 0.0.0.0:0: others on the network could use every server here, since nobody is asked who calls; " +
		"say who may call with gateway.auth in the configuration, listen on 127.0.0.1, or let everybody in with --insecure"
	auth := `{"gateway": {"auth": {"tokens": [{"name": "ann", "token": "0123456789abcdef"}]}}}`
	for _, c := range []struct {
		name string
		opts Options
		want []string // lines; the first alone where it is an error
		not  string
	}{
		{"the demonstration", Options{}, []string{refused}, ""},
		{"a file", Options{Config: read(t, `{}`)}, []string{refused}, ""},
		{"with the flag", Options{Insecure: true}, []string{"everybody may call", "the Host header is not checked"}, "who may call:"},
		{"with the setting", Options{Config: read(t, `{"gateway": {"insecure": true, "allowedHosts": ["mcp.example"]}}`)}, []string{"everybody may call"}, "the Host header"},
		{"with tokens", Options{Config: read(t, auth)}, []string{"who may call: 1 token of the configuration", "the Host header is not checked"}, "everybody may call"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out lines
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			opts := c.opts
			opts.Listen, opts.Stderr = "0.0.0.0:0", &out
			go func() { done <- Run(ctx, opts) }() // ends with cancel
			if c.want[0] == refused {
				if err := <-done; err == nil || err.Error() != refused {
					t.Errorf("got %v", err)
				}
				return
			}
			for _, want := range c.want {
				out.wait(t, want)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if c.not != "" && strings.Contains(out.String(), c.not) {
				t.Errorf("it says %s", &out)
			}
		})
	}
}

// TestStdio holds that what was read before the input ended is answered, and that the end of input ends the gateway.
func TestStdio(t *testing.T) {
	near, far := transport.Pair(0)
	var out lines
	done := make(chan error, 1)
	go func() { done <- Run(context.Background(), Options{Stdio: far, Stderr: &out, Version: "test"}) }() // ends with near
	c, err := client.Connect(t.Context(), near, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := c.CallTool(t.Context(), "echo", map[string]string{"text": "hi"}); err != nil || result.Text() != "hi" {
		t.Errorf("got %+v, %v", result, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the end of input does not end it")
	}
	if !strings.Contains(out.String(), "serving on standard input and output") {
		t.Errorf("standard error says %q", &out)
	}
}
