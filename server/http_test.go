package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// post sends a modern request over HTTP with the headers it needs and further ones, and returns status and body.
func post(t *testing.T, url, method, name, members string, headers map[string]string) (int, string) {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{%q:%q,%q:{}}}}`,
		method, members, mcp.MetaProtocolVersion, modern, mcp.MetaClientCapabilities)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", modern)
	req.Header.Set("Mcp-Method", method)
	if name != "" {
		req.Header.Set("Mcp-Name", name)
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// serve runs a handler until the test ends.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

const mirrored = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"n":{"type":"integer","x-mcp-header":"N"},
	"deep":{"type":"object","properties":{"flag":{"type":"boolean","x-mcp-header":"Flag"}}},
	"q":{"type":"integer"}}}`

// Rows 9 to 12 of the table of refusals: who is called, the headers that mirror arguments, what the client can do, and
// the state and the arguments themselves.
func TestOrderOfRefusals(t *testing.T) {
	s := newServer(server.Options{})
	err := s.AddRawTool(mcp.Tool{Name: "x", InputSchema: json.RawMessage(mirrored)}, func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return mcp.TextResult("ran"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rawTool(t, s, "asks", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return nil, mcp.NeedInput().ListRoots("a")
	})
	rawTool(t, s, "refuses", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return nil, mcp.MethodNotFound("x")
	})
	url := serve(t, s.Handler())
	for _, c := range []struct {
		name, tool, members string
		headers             map[string]string
		status              int
		want                string
	}{
		{"9 before 10 and 12", "no", `"arguments":{"region":"eu","q":"bad"},"requestState":1,`, nil, 200, `"code":-32602`},
		{"10 before 12", "x", `"arguments":{"region":"eu","q":"bad"},"requestState":1,`, nil, 400, `"code":-32020`},
		{"10 differs", "x", `"arguments":{"region":"eu"},`, map[string]string{"Mcp-Param-Region": "us"}, 400, `"code":-32020`},
		{"10 broken base64", "x", `"arguments":{"region":"eu"},`, map[string]string{"Mcp-Param-Region": "=?base64?!?="}, 400, `"code":-32020`},
		{"12 state", "x", `"arguments":{"region":"eu","q":"bad"},"requestState":1,`, map[string]string{"Mcp-Param-Region": "eu"}, 200, `"code":-32602`},
		{"12 arguments", "x", `"arguments":{"region":"eu","q":"bad"},`, map[string]string{"Mcp-Param-Region": "eu"}, 200, `"isError":true`},
		{"12 no object", "x", `"arguments":[1],`, nil, 200, `"code":-32602`},
		{"11", "asks", ``, nil, 400, `"code":-32021`},
		{"handler's own", "refuses", ``, nil, 404, `"code":-32601`},
		{"plain", "x", `"arguments":{"region":"eu"},`, map[string]string{"Mcp-Param-Region": "eu"}, 200, `"ran"`},
		{"base64", "x", `"arguments":{"region":"ü"},`, map[string]string{"Mcp-Param-Region": "=?base64?w7w=?="}, 200, `"ran"`},
		{"nothing to mirror", "x", `"arguments":{"q":1},`, nil, 200, `"ran"`},
		{"header without a value is ignored", "x", `"arguments":{},`, map[string]string{"Mcp-Param-Region": "eu"}, 200, `"ran"`},
		{"number", "x", `"arguments":{"n":1e1},`, map[string]string{"Mcp-Param-N": "10.0"}, 200, `"ran"`},
		{"other number", "x", `"arguments":{"n":9007199254740993},`, map[string]string{"Mcp-Param-N": "9007199254740992"}, 400, `"code":-32020`},
		{"huge exponent", "x", `"arguments":{"n":1e999999999},`, map[string]string{"Mcp-Param-N": "10"}, 400, `"code":-32020`},
		{"deep", "x", `"arguments":{"deep":{"flag":true}},`, map[string]string{"Mcp-Param-Flag": "true"}, 200, `"ran"`},
		{"deep differs", "x", `"arguments":{"deep":{"flag":true}},`, map[string]string{"Mcp-Param-Flag": "1"}, 400, `"code":-32020`},
		{"wrong type is the schema's", "x", `"arguments":{"region":{"a":1}},`, nil, 200, `"isError":true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := post(t, url, "tools/call", c.tool, fmt.Sprintf(`"name":%q,`, c.tool)+c.members, c.headers)
			if status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("want %d with %s, got %d %s", c.status, c.want, status, body)
			}
		})
	}
	// Off HTTP there are no headers to compare.
	dial(t, s, modern).want("tools/call", `"name":"x","arguments":{"region":"eu"}`, `{"content":[{"type":"text","text":"ran"}]}`)
}

// What HTTP tells of a request reaches its handler.
func TestRequestOverHTTP(t *testing.T) {
	s := newServer(server.Options{HTTP: server.HTTPOptions{
		Principal: func(r *http.Request) *mcp.Principal { return &mcp.Principal{Subject: r.Header.Get("X-User")} },
		SecurityValidator: func(r *http.Request) error {
			if r.Header.Get("X-User") == "mallory" {
				return errors.New("mallory may not come in")
			}
			return nil
		},
	}})
	rawTool(t, s, "who", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		local := strings.HasPrefix(r.RemoteAddr(), "127.0.0.1:")
		return mcp.TextResult(fmt.Sprintf("%s %s %v %q", r.Principal().Subject, r.Header("x-colour"), local, r.SessionID())), nil
	})
	url := serve(t, s.Handler())
	status, body := post(t, url, "tools/call", "who", `"name":"who",`, map[string]string{"X-User": "ada", "X-Colour": "red"})
	if status != 200 || !strings.Contains(body, `ada red true \"\"`) {
		t.Errorf("got %d %s", status, body)
	}
	status, body = post(t, url, "tools/call", "who", `"name":"who",`, map[string]string{"X-User": "mallory"})
	if status != http.StatusForbidden || !strings.Contains(body, "mallory may not come in") {
		t.Errorf("want 403 with the reason, got %d %s", status, body)
	}
}

// Middleware takes one path, with or without a slash at its end, and leaves the others alone.
func TestMiddleware(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "next ", r.URL.Path) })
	for _, prefix := range []string{"/mcp", "mcp", "/mcp/"} {
		url := serve(t, newServer(server.Options{}).Middleware(prefix)(next))
		for path, want := range map[string]string{
			"/mcp": `"tools":[]`, "/mcp/": `"tools":[]`, "/mcpx": "next /mcpx", "/mcp/x": "next /mcp/x", "/": "next /",
		} {
			if _, body := post(t, url+path, "tools/list", "", "", nil); !strings.Contains(body, want) {
				t.Errorf("Middleware(%q), %s: want %s, got %s", prefix, path, want, body)
			}
		}
	}
}

// postRaw posts a message to a server that may be stopping. The answer's body has been read.
func postRaw(t *testing.T, url, body string, headers http.Header) (*http.Response, string) {
	t.Helper()
	return postBy(t, http.DefaultClient, url, body, headers)
}

// postBy is postRaw by a client of the test's own.
func postBy(t *testing.T, road *http.Client, url, body string, headers http.Header) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return &http.Response{}, ""
	}
	if headers != nil {
		req.Header = headers.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := road.Do(req)
	if err != nil {
		t.Error(err)
		return &http.Response{}, ""
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res, string(answer)
}

// After Shutdown nobody gets a new session.
func TestShutdownOverHTTP(t *testing.T) {
	s := newServer(server.Options{})
	url := serve(t, s.Handler())
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode < 400 || res.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a session was opened after Shutdown: %d", res.StatusCode)
	}
}

// TestShutdownTellsWhoWaits: the client of a call that Shutdown cancels is told why, and nothing new is taken meanwhile.
func TestShutdownTellsWhoWaits(t *testing.T) {
	s := newServer(server.Options{})
	running, release := make(chan struct{}), make(chan struct{})
	server.AddTool(s, mcp.Tool{Name: "held"}, func(context.Context, *server.Request, struct{}) (string, error) {
		close(running)
		<-release // whatever its context says
		return "held", nil
	})
	url := serve(t, s.Handler())
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	opened, _ := postRaw(t, url, initialize, nil)
	session := http.Header{"Mcp-Session-Id": {opened.Header.Get("Mcp-Session-Id")}}

	answered := make(chan string, 1)
	go func() {
		res, body := postRaw(t, url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"held"}}`, session)
		answered <- res.Status + body
	}()
	<-running
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown with a handler that does not end: %v", err)
	}
	if res, body := postRaw(t, url, initialize, nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a new request: %s %s", res.Status, body)
	}
	close(release)
	if got := <-answered; !strings.Contains(got, "200") || !strings.Contains(got, `"id":2,"error":{"code":-32603,"message":"the server is shutting down, so the call was given up`) {
		t.Errorf("the caller is told %s", got)
	}
}
