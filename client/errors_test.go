package client_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// What is said when no connection comes about: one sentence, that names the server once and says what to do.
func TestTextsOfFailedConnections(t *testing.T) {
	hangUp := func(w http.ResponseWriter, _ *http.Request, _ *jsonrpc.Message) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		conn.Close()
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	for _, tc := range []struct {
		name   string
		server reactions // nil for none
		opts   client.Options
		want   string // HOST is the server's
		is     error
	}{
		{"nobody listens", nil, client.Options{},
			"connect to http://HOST: dial tcp HOST: connect: connection refused; check the address, and that the server runs", mcp.CodeNegotiationFailed},
		{"nobody listens, legacy", nil, client.Options{Mode: client.Legacy},
			"connect to http://HOST: dial tcp HOST: connect: connection refused; check the address, and that the server runs", nil},
		{"it hangs up", reactions{"server/discover": hangUp}, client.Options{},
			"connect to http://HOST: the server closed the connection without an answer: unexpected EOF", mcp.CodeNegotiationFailed},
		{"a page", reactions{"server/discover": answer(200, "text/html", "<html>")}, client.Options{},
			`connect to http://HOST: http://HOST answered with "text/html" where a server of this protocol answers with application/json or text/event-stream; is the address right?`, mcp.CodeNegotiationFailed},
		{"broken JSON", reactions{"server/discover": answer(200, jsonType, `{"jsonrpc":`)}, client.Options{},
			`connect to http://HOST: http://HOST sent what is no JSON-RPC message (the JSON text ends too early (at byte 11)): "{\"jsonrpc\":"`, mcp.CodeNegotiationFailed},
		{"authorization", reactions{"server/discover": answer(401, jsonType, "")}, client.Options{},
			"connect to http://HOST: wait for the answer to server/discover: http://HOST answered with HTTP status 401: the server wants authorization; send credentials it accepts, for example by Options.Headers", client.ErrUnauthorized},
		{"credentials refused", reactions{"server/discover": answer(403, jsonType, "")}, client.Options{Headers: http.Header{"Authorization": {"Bearer secret"}}},
			"connect to http://HOST: wait for the answer to server/discover: http://HOST answered with HTTP status 403: the server refuses the Authorization header of Options.Headers", client.ErrUnauthorized},
	} {
		t.Run(tc.name, func(t *testing.T) {
			host := nobody.Addr().String()
			if tc.server != nil {
				host = strings.TrimPrefix(serve(t, tc.server).URL, "http://")
			}
			_, err := client.DialHTTP(t.Context(), "http://"+host+"/mcp?key=secret", tc.opts)
			if want := strings.ReplaceAll(tc.want, "HOST", host); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("not %v: %v", tc.is, err)
			}
			var auth *client.AuthError
			if errors.As(err, &auth) && auth.Server != "http://"+host {
				t.Errorf("the demand names %q", auth.Server)
			}
		})
	}
}

// What calls on an open connection say when the server goes.
func TestTextsOfFailedCalls(t *testing.T) {
	s := serve(t, reactions{"server/discover": answer(200, jsonType, discoverOK), "tools/call": answer(401, jsonType, "")})
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	check := func(want string) {
		t.Helper()
		if _, err := c.CallTool(t.Context(), "x", nil); err == nil || !strings.HasPrefix(err.Error(), strings.ReplaceAll(want, "HOST", s.URL)) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	check(`call tool "x": HOST answered with HTTP status 401: the server wants authorization; send credentials`)
	s.Close()
	check(`call tool "x": cannot reach HOST: dial tcp `)
	c.Close()
	check(`call tool "x": not connected: the client was closed; dial again`)

	near, far := transport.Pair(0)
	far.Close()
	if _, err := client.Connect(t.Context(), near, client.Options{Mode: client.Legacy}); err == nil ||
		err.Error() != "connect to server: wait for the answer to initialize: connection closed by the server" {
		t.Errorf("a pipe without a server: %v", err)
	}
}
