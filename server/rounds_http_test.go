package server_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// pipes is a listener whose connections are pairs in memory, so that HTTP works inside a bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// webInBubble serves HTTP until the test ends, or its Shutdown, and returns the client that reaches it.
func webInBubble(t *testing.T, h http.Handler) (*http.Server, *http.Client) {
	t.Helper()
	line := &pipes{make(chan net.Conn), make(chan struct{})}
	web := &http.Server{Handler: h}
	served := make(chan error, 1)
	go func() { served <- web.Serve(line) }() // ends with Close
	road := &http.Transport{DialContext: line.dial}
	t.Cleanup(func() {
		road.CloseIdleConnections()
		if err := web.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return web, &http.Client{Transport: road}
}

// serveInBubble serves HTTP until the test ends, and returns the client that reaches it.
func serveInBubble(t *testing.T, s *server.Server) *http.Client {
	t.Helper()
	_, road := webInBubble(t, s.Handler())
	t.Cleanup(func() {
		road.CloseIdleConnections()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return road
}

// In a session over HTTP a question comes on the stream of its call, the answer is posted, and a user may take their time:
// up to the limit.
func TestAskingOverHTTP(t *testing.T) {
	for _, tc := range []struct {
		name   string
		thinks time.Duration
		want   string
	}{
		{"a quick answer", 0, `run 2, ` + keptState + `, {"name":"Ada"}`},
		{"a slow answer", 9 * time.Minute, `run 2, ` + keptState + `, {"name":"Ada"}`},
		{"no answer in time", 11 * time.Minute, "no answer to elicitation/create within 10m0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := keeping(t, server.Options{})
				related := make(chan mcp.RequestID, 1)
				c, err := client.DialHTTP(t.Context(), "http://127.0.0.1/mcp", client.Options{
					Mode: client.Legacy, HTTPClient: serveInBubble(t, s), CallTimeout: -1, TotalTimeout: -1,
					Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}},
					OnRequest: func(ctx context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
						related <- req.Related
						select {
						case <-time.After(tc.thinks):
							return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`), nil
						case <-ctx.Done():
							return nil, ctx.Err()
						}
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				result, err := c.CallTool(t.Context(), "x", nil)
				if err != nil || !strings.Contains(result.Text(), tc.want) {
					t.Errorf("got %+v, %v", result, err)
				}
				if id := <-related; id.IsZero() {
					t.Error("the question did not come on the stream of its call")
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
