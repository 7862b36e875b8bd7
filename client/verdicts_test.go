package client_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// TestVerdicts: a legacy server is probed once by all connections that share a store, in this program and the next.
func TestVerdicts(t *testing.T) {
	noLeak(t)
	file := filepath.Join(t.TempDir(), "verdicts.json")
	s := serve(t, reactions{"server/discover": answer(400, "text/plain", "no"), "initialize": answer(200, jsonType, initializOK)})
	probes := func() int { return strings.Count(s.sent(), "server/discover") }
	faults := make(chan error, 10)
	open := func(v *client.Verdicts) {
		c, err := client.DialHTTP(t.Context(), s.URL+"/mcp?key=hush-hush", client.Options{Verdicts: v, OnError: func(err error) { faults <- err }})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	told := func(want string) { // reports come on a goroutine of their own
		t.Helper()
		if err := <-faults; !strings.Contains(err.Error(), want) {
			t.Errorf("told %v, want %q", err, want)
		}
	}
	shared := &client.Verdicts{File: file}
	open(shared)
	open(shared)
	open(&client.Verdicts{File: file})
	if probes() != 1 {
		t.Errorf("probed %d times", probes())
	}
	raw, err := os.ReadFile(file)
	info, bad := os.Stat(file)
	if err != nil || bad != nil || strings.Contains(string(raw), "hush") || strings.Contains(string(raw), "127.0.0.1") {
		t.Errorf("%s, %v, %v", raw, err, bad)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	open(&client.Verdicts{File: file, MaxAge: time.Nanosecond})
	if probes() != 2 {
		t.Errorf("an old verdict was believed: %d probes", probes())
	}
	open(&client.Verdicts{File: file, MaxAge: -1})
	if probes() != 2 {
		t.Errorf("%d probes without a limit", probes())
	}
	open(nil)
	if probes() != 3 {
		t.Errorf("%d probes without a store", probes())
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	open(&client.Verdicts{File: file})
	if told("others can read"); probes() != 4 {
		t.Errorf("%d probes", probes())
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(&client.Verdicts{File: file})
	if told("cannot be read"); probes() != 5 {
		t.Errorf("%d probes", probes())
	}
	if open(&client.Verdicts{File: file}); probes() != 5 {
		t.Errorf("the file was not written anew: %d probes", probes())
	}
	if n := len(faults); n != 0 {
		t.Errorf("%d faults more", n)
	}
}

// A server that has become modern is found out, and the store forgets what it was.
func TestVerdictsOfAChangedServer(t *testing.T) {
	v := &client.Verdicts{}
	old := reactions{"server/discover": answer(400, "text/plain", "no"), "initialize": answer(200, jsonType, initializOK)}
	s := serve(t, old)
	open := func() string {
		c, err := client.DialHTTP(t.Context(), s.URL, client.Options{Verdicts: v})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ProtocolVersion()
	}
	if got := open(); got != "2025-06-18" {
		t.Errorf("opened %s", got)
	}
	s.mu.Lock()
	old["server/discover"], old["initialize"] = answer(200, jsonType, discoverOK), answer(404, jsonType, rpcError(-32601))
	s.mu.Unlock()
	for range 2 {
		if got := open(); got != "2026-07-28" {
			t.Errorf("opened %s", got)
		}
	}
	if n := strings.Count(s.sent(), "initialize "); n != 2 { // the first opening, and the one that was mistaken
		t.Errorf("sent %s", s.sent())
	}
}
