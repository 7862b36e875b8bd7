package app

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
)

// waitLines waits until a file has so many lines, and gives them.
func waitLines(t *testing.T, path string, n int) []map[string]any {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		data, err := os.ReadFile(path)
		var out []map[string]any
		for line := range strings.Lines(string(data)) {
			var l map[string]any
			check(t, json.Unmarshal([]byte(line), &l))
			out = append(out, l)
		}
		if len(out) == n {
			return out
		}
		if len(out) > n || time.Now().After(deadline) {
			t.Fatalf("%d lines, want %d (%v):\n%s", len(out), n, err, data)
		}
	}
}

// TestAudit holds that the file that the configuration names has a line for each request, that it is begun anew at a reload
// once it has been renamed, and that the log can be turned off while the gateway runs.
func TestAudit(t *testing.T) {
	url, _, _ := gated(t, "one")
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	section := `"audit": {"file": "` + filepath.ToSlash(path) + `"}`
	g := follow(t, file(section, "a", url))
	g.err.wait(t, "a: ready")
	c, err := client.DialHTTP(t.Context(), g.url, client.Options{})
	check(t, err)
	defer func() { _ = c.Close() }() // the gateway may be gone by then
	call := func() {
		t.Helper()
		if _, err := c.CallTool(t.Context(), "one", nil); err != nil {
			t.Fatal(err)
		}
	}
	call()
	if l := waitLines(t, path, 1)[0]; l["server"] != "a" || l["name"] != "one" || l["outcome"] != "ok" {
		t.Errorf("%v", l)
	}
	check(t, os.Rename(path, path+".old"))
	call()
	waitLines(t, path+".old", 2)
	g.again <- struct{}{}
	g.err.wait(t, "was read anew")
	call()
	waitLines(t, path, 1)

	save(t, g.file, file(`"audit": {"file": "`+filepath.ToSlash(filepath.Join(t.TempDir(), "no", "x"))+`"}`, "a", url))
	g.err.wait(t, "was not taken into use: the audit log cannot be opened")
	call()
	waitLines(t, path, 2)
	save(t, g.file, file("", "a", url))
	g.err.wait(t, "settings audit")
	call()
	g.end(t)
	waitLines(t, path, 2)
}

// TestAuditOfStrangers holds that a request that is not let in has a line, without its token, and that those let in have names.
func TestAuditOfStrangers(t *testing.T) {
	url, _, _ := gated(t, "one")
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	section := `"audit": {"file": "` + filepath.ToSlash(path) + `"}, "auth": {"tokens": [{"name": "ann", "token": "a-token-of-ann-alone"}]}`
	r := start(t, read(t, file(section, "a", url)))
	r.err.wait(t, "a: ready")
	if _, err := client.DialHTTP(t.Context(), r.url, client.Options{Mode: client.Modern, Headers: http.Header{"Authorization": {"Bearer wrong-token-of-nobody"}}}); err == nil {
		t.Fatal("a stranger was let in")
	}
	c, err := client.DialHTTP(t.Context(), r.url, client.Options{Mode: client.Modern, Headers: http.Header{"Authorization": {"Bearer a-token-of-ann-alone"}}})
	check(t, err)
	_, err = c.CallTool(t.Context(), "one", nil)
	check(t, err)
	check(t, c.Close())
	r.end(t)
	data, err := os.ReadFile(path)
	check(t, err)
	if strings.Contains(string(data), "of-nobody") || strings.Contains(string(data), "alone") {
		t.Errorf("a token is logged: %s", data)
	}
	var refused, ann bool
	for line := range strings.Lines(string(data)) {
		refused = refused || strings.Contains(line, `"outcome":"refused"`) && strings.Contains(line, `"status":401`)
		ann = ann || strings.Contains(line, `"subject":"ann"`) && strings.Contains(line, `"outcome":"ok"`)
	}
	if !refused || !ann {
		t.Errorf("the log is\n%s", data)
	}
}

// TestAuditCannotBeOpened holds that a gateway does not start without the log that it is to write.
func TestAuditCannotBeOpened(t *testing.T) {
	conf := read(t, `{"gateway": {"audit": {"file": "`+filepath.ToSlash(filepath.Join(t.TempDir(), "no", "x"))+`"}}, "mcpServers": {}}`)
	err := Run(t.Context(), Options{Config: conf, Listen: "127.0.0.1:0", Stderr: &lines{}})
	if err == nil || !strings.Contains(err.Error(), "the audit log cannot be opened") {
		t.Errorf("got %v", err)
	}
}

// TestLog holds that requests are logged where that is asked for, and that every line can be one of JSON.
func TestLog(t *testing.T) {
	url, _, _ := gated(t, "one")
	conf := func() *config.Config { return read(t, file("", "a", url)) }
	for _, asJSON := range []bool{false, true} {
		r := launch(t, Options{Config: conf(), Log: Log{Level: slog.LevelDebug, JSON: asJSON}})
		r.err.wait(t, "a: ready")
		address, _, _ := strings.Cut(r.url, `"`)
		c, err := client.DialHTTP(t.Context(), address, client.Options{})
		check(t, err)
		_, err = c.CallTool(t.Context(), "one", nil)
		check(t, err)
		check(t, c.Close())
		line := r.err.wait(t, "tools/call")
		r.end(t)
		if !asJSON {
			if !strings.Contains(line, "level=DEBUG msg=request method=tools/call outcome=ok server=a name=one") {
				t.Errorf("the record is %s", line)
			}
			continue
		}
		for line := range strings.Lines(r.err.String()) {
			var l struct{ Time, Level, Msg string }
			if err := json.Unmarshal([]byte(line), &l); err != nil || l.Time == "" || l.Level == "" || l.Msg == "" {
				t.Errorf("no record: %s", line)
			}
		}
	}
}
