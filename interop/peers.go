package interop

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
)

// npmServers is where npm puts the reference servers, below the folder node/.
var npmServers = []string{"node_modules", "@modelcontextprotocol"}

// Everything is the command of the reference server "everything" over stdio. It speaks the legacy era.
func Everything(t testing.TB) []string {
	t.Helper()
	return []string{NodePath(t), npmServer(t, "server-everything"), "stdio"}
}

// Filesystem is the command of the reference server "filesystem" over stdio, allowed to touch the given folder only.
// It speaks the legacy era.
func Filesystem(t testing.TB, folder string) []string {
	t.Helper()
	return []string{NodePath(t), npmServer(t, "server-filesystem"), folder}
}

// Memo is the command of node/server2.mjs over stdio. It speaks both eras.
func Memo(t testing.TB) []string {
	t.Helper()
	return []string{NodePath(t), nodeScript(t, "server2.mjs"), "--stdio"}
}

func npmServer(t testing.TB, name string) string {
	t.Helper()
	return nodeScript(t, append(append([]string{}, npmServers...), name, "dist", "index.js")...)
}

// StartMemo runs node/server2.mjs over HTTP and returns its address. It serves both eras.
func StartMemo(t testing.TB) string {
	t.Helper()
	return Process{
		Command: []string{NodePath(t), nodeScript(t, "server2.mjs"), "--port", "0"},
		Ready:   jsonAddress,
	}.Start(t)
}

// jsonAddress reads a line such as {"url":"http://127.0.0.1:4711/mcp"}.
func jsonAddress(line string) (string, bool) {
	var ready struct {
		URL string `json:"url"`
	}
	return ready.URL, json.Unmarshal([]byte(line), &ready) == nil && ready.URL != ""
}

// everythingTries is how often startEverything looks for a port, since somebody may take it before the server does.
const everythingTries = 3

// StartEverything runs the reference server "everything" over Streamable HTTP and returns its address. It speaks the
// legacy era, with sessions.
func StartEverything(t testing.TB) string {
	t.Helper()
	return startEverything(t, "streamableHttp", "/mcp", "listening on port")
}

// StartEverythingSSE runs the reference server "everything" over HTTP+SSE and returns the address of its event stream.
func StartEverythingSSE(t testing.TB) string {
	t.Helper()
	return startEverything(t, "sse", "/sse", "running on port")
}

// startEverything runs it in one of its modes, at a free port. ready is what it says then.
func startEverything(t testing.TB, mode, path, ready string) string {
	t.Helper()
	node, script := NodePath(t), npmServer(t, "server-everything")
	var failures []string
	for range everythingTries {
		port := freePort(t)
		url, output, err := Process{
			Command: []string{node, script, mode},
			Env:     []string{fmt.Sprintf("PORT=%d", port)},
			Ready: func(line string) (string, bool) {
				return fmt.Sprintf("http://127.0.0.1:%d%s", port, path), strings.Contains(line, ready)
			},
		}.start(t)
		if err == nil {
			return url
		}
		failures = append(failures, fmt.Sprintf("port %d: %v\n%s", port, err, output))
	}
	t.Fatalf("start server-everything:\n%s", strings.Join(failures, "\n"))
	return ""
}

// freePort finds a port that nobody listens at. It lies below those that systems give away by themselves, so that no connection and
// no listener of another test takes it in the meantime.
func freePort(t testing.TB) int {
	t.Helper()
	const lowest, highest, tries = 12_000, 32_000, 100
	var failed error
	for range tries {
		port := lowest + rand.IntN(highest-lowest)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			err = listener.Close()
		}
		if err == nil {
			return port
		}
		failed = err
	}
	t.Fatalf("no free port was found in %d tries; the last: %v", tries, failed)
	return 0
}
