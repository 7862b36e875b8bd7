package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestC090CallersCredentialsStay is the half of the libraries: a tool that calls another server by a client of its own brings
// nothing there that its caller has sent, and the other's demand for a login is an error of the tool, not a 401 that would
// make the caller log in here.
func TestC090CallersCredentialsStay(t *testing.T) {
	var mu sync.Mutex
	var seen []http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Clone())
		mu.Unlock()
		body, _ := io.ReadAll(r.Body) // a broken one has no method
		if !strings.Contains(string(body), `"tools/call"`) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"o","version":"1"}}}`)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://other.example/meta"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	c, err := client.DialHTTP(t.Context(), other.URL, client.Options{Headers: http.Header{"X-Tenant": {"ours"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	w := start(t, server.Options{})
	w.tool(t, "relay", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
		_, err := c.CallTool(ctx, "there", nil)
		if !errors.Is(err, client.ErrUnauthorized) {
			t.Errorf("the tool saw %v", err)
		}
		return nil, err
	})
	a := w.do(t, modern("tools/call", "relay", "", "Authorization: Bearer callers-token", "Cookie: callers=cookie", "X-Api-Key: callers-key"))
	a.is(t, 200, 0, "authorization")
	if a.header.Get("WWW-Authenticate") != "" || !strings.Contains(a.body, `"isError":true`) {
		t.Errorf("the caller got %v: %s", a.header, a)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, header := range seen {
		if all := fmt.Sprint(header); strings.Contains(all, "callers") || header.Get("X-Tenant") != "ours" {
			t.Errorf("the other server got %s", all)
		}
	}
	if len(seen) < 2 {
		t.Errorf("the other server was asked %d times", len(seen))
	}
}

// TestC105CallAfterIdleness is the half of our client: the server has closed the connections that nothing went over, and the
// session that nobody used; the next call succeeds, and nobody hears of an error.
func TestC105CallAfterIdleness(t *testing.T) {
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := startInBubble(t, server.Options{})
				var dials atomic.Int32
				road := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
					dials.Add(1)
					return w.reach()
				}}
				t.Cleanup(road.CloseIdleConnections)
				c, err := client.DialHTTP(t.Context(), "http://"+w.addr+"/mcp", client.Options{
					Mode: mode, HTTPClient: &http.Client{Transport: road}, OnError: func(err error) { t.Errorf("told of %v", err) },
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				for range 3 {
					time.Sleep(2 * bubbleIdle)
					before := dials.Load()
					if out, err := c.CallTool(t.Context(), "echo", nil); err != nil || out.Text() != "hello" {
						t.Errorf("got %v, %v", out, err)
					}
					if dials.Load() == before {
						t.Error("the connection from before is still open")
					}
					if session := c.SessionID(); session != "" {
						w.do(t, ask{method: "DELETE", head: []string{sessionHeader + ": " + session}}).is(t, 200, 0, "")
					}
				}
			})
		})
	}
}

// TestC114DiscoveryLeavesTheServerAlone is the half of our client: a process that is asked for its era on the side is another
// one than the process that serves; that one stays as long as its client, however idle, and a client that is given up during
// the handshake leaves no process.
func TestC114DiscoveryLeavesTheServerAlone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks at processes in /proc")
	}
	note := filepath.Join(t.TempDir(), "processes")
	command := client.Command{Path: "/bin/sh", Args: []string{"-c", "echo $$ >> " + note + `; exec "$0"`, os.Args[0]}, Env: append(os.Environ(), childVar+"=library")}
	processes := func() []string {
		raw, _ := os.ReadFile(note) // no file, no process
		return strings.Fields(string(raw))
	}
	first, err := client.DialStdio(t.Context(), command, client.Options{ProbeSibling: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { first.Close() })
	if err := first.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := processes(); len(got) != 2 {
		t.Fatalf("processes %v, want the one that was asked and the one that serves", got)
	}
	serving := processes()[1]
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		second, err := client.DialStdio(ctx, command, client.Options{ProbeSibling: true})
		if err == nil {
			err = second.Close()
		}
		given <- err
	}()
	eventually(t, "another process", func() bool { return len(processes()) > 2 })
	cancel()
	<-given // it may have been opened before
	for _, process := range processes() {
		if alive := processAlive(process); alive != (process == serving) {
			t.Errorf("process %s of %v lives: %v; %s is the one that serves", process, processes(), alive, serving)
		}
	}
	if err := first.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func processAlive(pid string) bool {
	_, err := os.Stat(filepath.Join("/proc", pid))
	return err == nil
}
