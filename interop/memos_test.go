package interop

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// ours drives a server with our client, as a subtest.
func ours(t *testing.T, front Front, target Target) {
	t.Helper()
	t.Run(front.Name, func(t *testing.T) {
		front.run(t, Driver{Name: "rialto", Modern: !target.SSE, run: goDriver("rialto", dialRialto)}, target)
	})
}

// served serves a handler until the test ends and returns its address.
func served(t *testing.T, handler http.Handler) string {
	t.Helper()
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		web.CloseClientConnections() // some leave streams open for ever
		web.Close()
	})
	return web.URL
}

// without leaves out a case that a server cannot serve.
func without(cases []Case, name string) []Case {
	return slices.DeleteFunc(cases, func(c Case) bool { return c.Name == name })
}

// TestTypeScript1Servers drives node/server1.mjs, on the official TypeScript SDK 1.x, with our client: over stdio, over HTTP with
// sessions, over HTTP+SSE by its address and found.
func TestTypeScript1Servers(t *testing.T) {
	node, script := NodePath(t), nodeScript(t, "server1.mjs")
	cases := without(memoCases(), "unknown tool") // it answers that with a result
	ours(t, Front{Name: "stdio", Cases: cases}, Target{Command: []string{node, script, "--stdio"}})
	url := Process{Command: []string{node, script, "--port", "0"}, Ready: jsonAddress}.Start(t)
	ours(t, Front{Name: "http-sessions", Cases: cases}, Target{URL: url})
	sse := strings.TrimSuffix(url, "/mcp") + "/sse"
	ours(t, Front{Name: "sse", Cases: cases}, Target{SSE: true, URL: sse})
	ours(t, Front{Name: "sse-found", Cases: cases}, Target{URL: sse})
}
