package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// web is a scripted server over HTTP.
type web struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // methods of POSTs, verbs of the rest
	last http.Header
}

// serve starts one. react answers a POST by its method, and may be nil for one; what it leaves is answered with 202. Other
// requests are answered by their verb, else with 405.
func serve(t *testing.T, react map[string]func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message)) *web {
	t.Helper()
	s := &web{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			s.note(r.Method, r.Header)
			if f := s.reaction(react, r.Method); f != nil {
				f(w, r, &jsonrpc.Message{})
				return
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, _ := io.ReadAll(r.Body) // a broken one is no message
		m, err := jsonrpc.Decode(body, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.note(m.Method, r.Header)
		if f := s.reaction(react, m.Method); f != nil {
			f(w, r, m)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(s.Close)
	return s
}

// reaction is looked up under the lock, so that a test can change reactions while requests come.
func (s *web) reaction(all reactions, to string) func(http.ResponseWriter, *http.Request, *jsonrpc.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return all[to]
}

func (s *web) note(what string, h http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, what)
	s.last = h
}

func (s *web) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, " ")
}

// answer makes a reaction that answers with a status and a body in which {id} is the request's.
func answer(status int, media, body string) func(http.ResponseWriter, *http.Request, *jsonrpc.Message) {
	return func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(body, "{id}", m.ID.String()))
	}
}

type reactions = map[string]func(http.ResponseWriter, *http.Request, *jsonrpc.Message)

const (
	jsonType    = "application/json"
	discoverOK  = `{"jsonrpc":"2.0","id":{id},"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`
	initializOK = `{"jsonrpc":"2.0","id":{id},"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}`
)

func rpcError(code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":{id},"error":{"code":%d,"message":"no"}}`, code)
}

func TestHTTPOpening(t *testing.T) {
	noLeak(t)
	for name, tc := range map[string]struct {
		probe  func(http.ResponseWriter, *http.Request, *jsonrpc.Message)
		legacy bool
		fails  error // nil for none
	}{
		"modern":                 {answer(200, jsonType, discoverOK), false, nil},
		"200 method not found":   {answer(200, jsonType, rpcError(-32601)), true, nil},
		"200 invalid params":     {answer(200, jsonType, rpcError(-32602)), true, nil},
		"200 invalid request":    {answer(200, jsonType, rpcError(-32600)), true, nil},
		"400 text":               {answer(400, "text/plain", "Unsupported protocol version: 2026-07-28"), true, nil},
		"400 vendor code":        {answer(400, jsonType, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Missing session ID"}}`), true, nil},
		"400 empty":              {answer(400, "", ""), true, nil},
		"404 page":               {answer(404, "text/html", "<html>"), true, nil},
		"405 page":               {answer(405, "text/html", "<html>"), true, nil},
		"422":                    {answer(422, jsonType, `{"detail":"x"}`), true, nil},
		"400 header mismatch":    {answer(400, jsonType, rpcError(-32020)), false, mcp.CodeHeaderMismatch},
		"400 missing capability": {answer(400, jsonType, rpcError(-32021)), false, mcp.CodeMissingCapability},
		"400 unsupported":        {answer(400, jsonType, rpcError(-32022)), false, mcp.CodeUnsupportedVersion},
		"401":                    {answer(401, jsonType, rpcError(-32601)), false, client.ErrUnauthorized},
		"403":                    {answer(403, "text/plain", "no"), false, client.ErrUnauthorized},
		"500":                    {answer(500, jsonType, rpcError(-32601)), false, mcp.CodeNegotiationFailed},
		"200 page":               {answer(200, "text/html", "<html>"), false, mcp.CodeNegotiationFailed},
		"stream cut":             {answer(200, "text/event-stream", ": hello\n\n"), false, mcp.CodeNegotiationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, reactions{"server/discover": tc.probe, "initialize": answer(200, jsonType, initializOK)})
			c, err := client.DialHTTP(t.Context(), s.URL, client.Options{OnError: func(err error) { t.Log(err) }})
			if err == nil {
				defer c.Close()
			}
			initialized := strings.Contains(s.sent(), "initialize")
			if tc.fails != nil && !errors.Is(err, tc.fails) || tc.fails == nil && err != nil || initialized != tc.legacy {
				t.Errorf("got %v after %s", err, s.sent())
			}
		})
	}
}

func TestHTTPOpeningKeepsTheStatus(t *testing.T) {
	s := serve(t, reactions{"server/discover": answer(503, "text/plain", "busy")})
	_, err := client.DialHTTP(t.Context(), s.URL, client.Options{})
	var status *transport.StatusError
	if !errors.As(err, &status) || status.Status != 503 || string(status.Body) != "busy" {
		t.Errorf("got %v", err)
	}
}

func TestHTTPAuthChallenge(t *testing.T) {
	s := serve(t, reactions{"server/discover": func(w http.ResponseWriter, _ *http.Request, _ *jsonrpc.Message) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}})
	_, err := client.DialHTTP(t.Context(), s.URL, client.Options{})
	var auth *client.AuthError
	if !errors.As(err, &auth) || auth.Status != 401 || auth.Challenge != `Bearer resource_metadata="https://x"` || auth.Static {
		t.Errorf("got %v", err)
	}
	_, err = client.DialHTTP(t.Context(), s.URL, client.Options{Headers: http.Header{"Authorization": {"Bearer mine"}}})
	if !errors.As(err, &auth) || !auth.Static || !strings.Contains(err.Error(), "refuses the Authorization header") {
		t.Errorf("with a header of the user's own: got %v", err)
	}
}

// A peer that accepts and never answers, or opens a stream and is silent, costs no more than the deadline.
func TestHTTPDeadline(t *testing.T) {
	noLeak(t)
	hang := func(w http.ResponseWriter, r *http.Request, _ *jsonrpc.Message) { <-r.Context().Done() }
	silent := func(w http.ResponseWriter, r *http.Request, _ *jsonrpc.Message) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, probe := range map[string]func(http.ResponseWriter, *http.Request, *jsonrpc.Message){"no answer": hang, "silent stream": silent} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, reactions{"server/discover": probe})
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := client.DialHTTP(ctx, s.URL, client.Options{})
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "server/discover") || time.Since(start) > 2*time.Second {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
		})
	}
}

func TestHTTPCalls(t *testing.T) {
	noLeak(t)
	event := func(data string) string { return "data: " + data + "\n\n" }
	s := serve(t, reactions{
		"server/discover": answer(200, jsonType, discoverOK),
		"tools/call": func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
			meta, _ := jsonrpc.Member(m.Params, "_meta")
			token, _ := jsonrpc.Member(meta, "progressToken")
			body := event(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+string(token)+`,"progress":1}}`) +
				event(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
			if name, _ := jsonrpc.Member(m.Params, "name"); string(name) == `"whole"` {
				body += event(`{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"` + r.Header.Get("X-One") + r.Header.Get("X-All") + `"}]}}`)
			}
			answer(200, "text/event-stream", body)(w, r, m)
		},
		"x/unknown": answer(404, jsonType, rpcError(-32601)),
		"x/down":    answer(502, "text/html", "<html>"),
		"x/auth":    answer(401, jsonType, rpcError(-32601)),
	})
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{Headers: http.Header{"X-All": {"2"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	progress := 0
	out, err := c.CallTool(t.Context(), "whole", nil, client.CallOptions{
		Headers: http.Header{"x-one": {"1"}}, OnProgress: func(mcp.ProgressParams) { progress++ },
	})
	if err != nil || text(out) != "12" || progress != 1 {
		t.Errorf("got %q, %d progress, %v", text(out), progress, err)
	}
	if s.last.Get("Mcp-Method") != "tools/call" || s.last.Get("Mcp-Name") != "whole" || s.last.Get("Mcp-Protocol-Version") != "2026-07-28" {
		t.Errorf("headers %v", s.last)
	}
	start := time.Now()
	if _, err := c.CallTool(t.Context(), "cut", nil); !errors.Is(err, mcp.CodeConnectionClosed) || time.Since(start) > 5*time.Second {
		t.Errorf("a stream that was cut: %v", err)
	}
	if _, err := c.CallTool(t.Context(), "whole", nil, client.CallOptions{Headers: http.Header{"Authorization": {"x"}}}); err == nil {
		t.Error("a call may not set Authorization")
	}
	stream, err := c.Start(t.Context(), "tools/call", json.RawMessage(`{"name":"whole","_meta":{"progressToken":"p"}}`), client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{mcp.NotifyProgress, mcp.NotifyMessage} { // logs belong to the call, for the wire says so
		if m, err := stream.Next(t.Context()); err != nil || m.Method != want {
			t.Errorf("got %+v, %v; want %s", m, err, want)
		}
	}
	if _, err := stream.Result(); err != nil {
		t.Error(err)
	}
	if _, err := c.Raw(t.Context(), "x/unknown", nil, client.RawOptions{}); !errors.Is(err, mcp.CodeMethodNotFound) {
		t.Errorf("404 with an error: %v", err)
	}
	if _, err := c.Raw(t.Context(), "x/down", nil, client.RawOptions{}); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("502: %v", err)
	}
	if _, err := c.Raw(t.Context(), "x/auth", nil, client.RawOptions{}); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("401: %v", err)
	}
}

// A legacy server's request on the stream of a call is told apart, and can be answered through the call's Stream.
func TestHTTPRelatedRequest(t *testing.T) {
	noLeak(t)
	answered := make(chan string, 2)
	s := serve(t, reactions{
		"server/discover": answer(400, "text/plain", "no session"),
		"initialize": func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
			w.Header().Set("Mcp-Session-Id", "s-1")
			answer(200, jsonType, initializOK)(w, r, m)
		},
		"": func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
			answered <- string(m.Frame())
			w.WriteHeader(http.StatusAccepted)
		},
		"tools/call": func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n\n")
			w.(http.Flusher).Flush()
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"got\":%s}}\n\n", m.ID, <-answered)
		},
	})
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{OnRequest: func(_ context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
		return json.RawMessage(fmt.Sprintf(`{"tag":%q,"related":%t}`, req.Tag, !req.Related.IsZero())), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if c.SessionID() != "s-1" || c.ProtocolVersion() != "2025-06-18" {
		t.Errorf("session %q, revision %s", c.SessionID(), c.ProtocolVersion())
	}
	got, err := c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"x"}`), client.RawOptions{Tag: "mine"})
	if err != nil || !strings.Contains(string(got.Result), `"result":{"tag":"mine","related":true}`) {
		t.Errorf("by the hook: %+v, %v", got, err)
	}
	stream, err := c.Start(t.Context(), "tools/call", json.RawMessage(`{"name":"x"}`), client.RawOptions{Requests: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.Next(t.Context())
	if err != nil || m.Request == nil || m.Method != "roots/list" {
		t.Fatalf("got %+v, %v", m, err)
	}
	m.Request.Reply(json.RawMessage(`{"roots":[]}`))
	m.Request.Refuse(errors.New("too late"))
	if got, err = stream.Result(); err != nil || !strings.Contains(string(got.Result), `"result":{"roots":[]}`) {
		t.Errorf("by the stream: %+v, %v", got, err)
	}
	if err := c.Close(); err != nil || !strings.HasSuffix(s.sent(), "DELETE") {
		t.Errorf("%v, sent %s", err, s.sent())
	}
}

// Over HTTP the news come on a stream of their own, which closes when nobody wants them any more.
func TestHTTPChanges(t *testing.T) {
	noLeak(t)
	closed := make(chan struct{})
	s := serve(t, reactions{
		"server/discover": answer(200, jsonType, strings.Replace(discoverOK, `"tools":{}`, `"tools":{"listChanged":true}`, 1)),
		"subscriptions/listen": func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, frame := range []string{acknowledged, strings.Replace(acknowledged, "subscriptions/acknowledged", "tools/list_changed", 1)} {
				fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(frame, "{id}", m.ID.String()))
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(closed)
		},
	})
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	called := make(chan struct{})
	stop := c.OnToolsChange(func() { close(called) })
	<-called
	stop()
	<-closed
	if strings.Contains(s.sent(), "cancelled") {
		t.Errorf("a stream of this era is cancelled by closing it, but sent were %s", s.sent())
	}
}

func TestHTTPLostSession(t *testing.T) {
	s := serve(t, reactions{
		"initialize": func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
			w.Header().Set("Mcp-Session-Id", "s-1")
			answer(200, jsonType, initializOK)(w, r, m)
		},
		"tools/call": answer(404, "text/plain", "session not found"),
	})
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{Mode: client.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, mcp.CodeConnectionClosed) || !strings.Contains(err.Error(), "session") {
		t.Errorf("got %v", err)
	}
}

func TestHTTPBadAddress(t *testing.T) {
	for _, address := range []string{"", "ftp://x", "localhost:80", "http://127.0.0.1:1/mcp"} {
		if _, err := client.DialHTTP(t.Context(), address, client.Options{}); err == nil {
			t.Errorf("%q: no error", address)
		}
	}
}
