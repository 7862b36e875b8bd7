package app

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/server"
)

// TestReloadMovesThePath holds that the endpoint, its bundles and HTTP+SSE below those are at another path at once, and that the one
// before is like any other where nothing is; and that calls and streams which came by it go on.
func TestReloadMovesThePath(t *testing.T) {
	bothModes(t, func(t *testing.T, mode client.Mode) {
		a, entered, release := gated(t, "a")
		c, _, _ := gated(t, "c")
		const bundle = `"bundles": {"some": {"servers": ["a"]}}`
		f := follow(t, file(bundle, "a", a))
		f.err.wait(t, "a: ready")
		base := f.base()
		whole, some := listen(t, f.url, mode), listen(t, f.url+"/some", mode)
		session := []string{"Mcp-Session-Id", ask(t, "POST", f.url, helloLegacy).header.Get("Mcp-Session-Id")}
		results := []chan string{working(whole.Client, "a_wait", entered), working(some.Client, "a_wait", entered)}
		save(t, f.file, file(`"path": "/v2/all", `+bundle, "a", a))
		f.err.wait(t, "was read anew: settings path")
		f.err.wait(t, "rialto: now listening on "+base+"/v2/all")
		f.err.wait(t, "bundle some: "+base+"/v2/all/some")

		nothing := ask(t, "POST", base+"/nothing", helloLegacy)
		if nothing.status != http.StatusNotFound {
			t.Errorf("a wrong path: %v", nothing)
		}
		for _, path := range []string{"/mcp", "/mcp/", "/mcp/some", "/mcp/some/message", "/v2", "/v2/all/other"} {
			if got := ask(t, "POST", base+path, helloLegacy, session...); got.String() != nothing.String() {
				t.Errorf("%s answers %v, and any wrong path %v", path, got, nothing)
			}
		}
		serves(t, base+"/v2/all", "a")
		serves(t, base+"/v2/all/some", "a")
		const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
		if got := ask(t, "POST", base+"/v2/all", list, session...); got.status != 200 {
			t.Errorf("the session by the new path: %v", got)
		}
		for _, path := range []string{"/sse", "/v2/all/some/sse"} {
			old, err := client.DialSSE(t.Context(), base+path, client.Options{})
			check(t, err)
			if got, err := old.CallTool(t.Context(), "a", nil); err != nil || got.Text() != "a" {
				t.Errorf("over HTTP+SSE at %s: %+v, %v", path, got, err)
			}
			check(t, old.Close())
		}
		if _, text := get(t, base+"/"); !strings.Contains(text, "/v2/all or /v2/all/some;") {
			t.Errorf("the root says %s", text)
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			if status, text := get(t, base+path); status != http.StatusOK {
				t.Errorf("%s: %d %s", path, status, text)
			}
		}
		save(t, f.file, file(`"path": "/v2/all", `+bundle, "a", a, "c", c))
		heard(t, whole)
		close(release)
		for i, result := range results {
			if got := <-result; got != "done" {
				t.Errorf("call %d that was under way ends with %q", i, got)
			}
		}
		save(t, f.file, file(bundle, "a", a, "c", c))
		f.err.wait(t, "rialto: now listening on "+f.url)
		if got := whole.tools(t); !slices.Contains(got, "c") { // by the path that it has known all the time
			t.Errorf("the tools are %q", got)
		}
		f.end(t)
	})
}

// TestReloadOfPathsThatAreOthers holds that an endpoint which moves to a path of the gateway's own has it for itself, and gives it
// back when it goes on.
func TestReloadOfPathsThatAreOthers(t *testing.T) {
	a, _, _ := gated(t, "a")
	f := follow(t, file("", "a", a))
	f.err.wait(t, "a: ready")
	own := map[string]string{
		healthPath: `{"status":"ok","servers":`, readyPath: `{"status":"ready"`, ssePath: "event: endpoint", "/.well-known/oauth-protected-resource": "404 page not found",
	}
	begins := func(path string) string {
		resp, err := http.Get(f.base() + path)
		check(t, err)
		defer func() { check(t, resp.Body.Close()) }()
		first := make([]byte, 15)
		_, err = io.ReadFull(resp.Body, first) // the stream of /sse has no end
		check(t, err)
		return string(first)
	}
	for path := range own {
		save(t, f.file, file(fmt.Sprintf(`"path": %q`, path), "a", a))
		f.err.wait(t, "now listening on "+f.base()+path)
		serves(t, f.base()+path, "a")
		for other, want := range own {
			if other == path {
				continue
			}
			if got := begins(other); !strings.HasPrefix(want, got) {
				t.Errorf("beside %s, %s begins with %q", path, other, got)
			}
		}
	}
	f.end(t)
}

// TestReloadMovesTheMetadata holds that callers are told by the new path, and for that, where tokens are to be had.
func TestReloadMovesTheMetadata(t *testing.T) {
	login := startLogin(t)
	up := startWatched(t, server.Options{})
	at := func(end string) string {
		return fmt.Sprintf(`{"gateway": {"path": "/%s", "bundles": {"team": {"servers": ["watched"]}},
			"auth": {"resource": "https://pub.example/x/%s", "jwt": {"issuer": %q}}}, "mcpServers": {"watched": {"url": %q}}}`, end, end, login.url, up.url)
	}
	f := follow(t, at("mcp"))
	f.err.wait(t, "watched: ready")
	token := func(end string) []string {
		return bearer(login.token(t, map[string]any{"aud": "https://pub.example/x/" + end}))
	}
	told := func(end string) {
		t.Helper()
		for _, path := range []string{end, end + "/team"} {
			metadata := "/.well-known/oauth-protected-resource/x/" + path
			if got := ask(t, "POST", f.base()+"/"+path, helloLegacy); got.status != http.StatusUnauthorized || !strings.Contains(got.header.Get("WWW-Authenticate"), "https://pub.example"+metadata+`"`) {
				t.Errorf("%s: %v", path, got)
			}
			if _, text := get(t, f.base()+metadata); !strings.Contains(text, `"https://pub.example/x/`+path+`"`) {
				t.Errorf("the metadata of %s: %s", path, text)
			}
			if got := modern(t, f.base()+"/"+path, "greet", "", token(path)...); got.status != http.StatusOK {
				t.Errorf("%s with a token for it: %v", path, got)
			}
		}
	}
	told("mcp")
	save(t, f.file, at("v2"))
	f.err.wait(t, "was read anew: settings path, auth")
	told("v2")
	if got := modern(t, f.base()+"/v2", "greet", "", token("mcp")...); got.status != http.StatusUnauthorized {
		t.Errorf("with a token for the path before: %v", got)
	}
	if got := ask(t, "POST", f.base()+"/mcp", helloLegacy, token("v2")...); got.status != http.StatusNotFound {
		t.Errorf("the path before: %v", got)
	}
	f.end(t)
}
