package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// closer is a server whose tool closes its stream and says whether that could be done.
func closer() *server.Server {
	s := server.New(mcp.Implementation{Name: "closer", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "slow"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		closed := req.CloseStream(time.Millisecond)
		req.Progress(ctx, 1, 1, "meanwhile")
		return fmt.Sprint("closed: ", closed), nil
	})
	return s
}

// TestCloseStream closes the stream of a call on every wire: the answer arrives everywhere.
func TestCloseStream(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			c := wire.Dial(t, closer())
			var told atomic.Int32
			result, err := c.CallTool(t.Context(), "slow", nil, client.CallOptions{OnProgress: func(mcp.ProgressParams) { told.Add(1) }})
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprint("closed: ", wire.HTTP && !wire.Modern); result.Text() != want || told.Load() != 1 {
				t.Errorf("%s, and progress came %d times", result.Text(), told.Load())
			}
		})
	}
}

// TestCloseStreamBytes is the wire of a client that does not come back: one event without data, and a whole end.
func TestCloseStreamBytes(t *testing.T) {
	s := closer()
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	defer s.Shutdown(context.WithoutCancel(t.Context()))
	post := func(body, session string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(text)
	}
	hello, _ := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "")
	_, got := post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}`, hello.Header.Get("Mcp-Session-Id"))
	lines := strings.Split(got, "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "id: ") || lines[1] != "retry: 1" || lines[2] != "data: " {
		t.Errorf("got %q", got)
	}
}
