package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// oldWeb is a scripted server of HTTP+SSE with one stream at /sse, and an endpoint at /post.
type oldWeb struct {
	*httptest.Server
	out  chan string   // what goes on the stream; {id} is the id of the last request
	over chan struct{} // closed to end the stream
	news bool          // it chooses 2025-06-18
	pong chan struct{} // not nil: a call pings first, and its POST has no status before the answer to that

	mu   sync.Mutex
	seen []string
}

const (
	oldInitialized = `{"jsonrpc":"2.0","id":{id},"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}`
	oldLog         = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"early"}}`
	oldEcho        = `{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"hi"}]}}`
	oldProgress    = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{id},"progress":1}}`
)

// serveOld starts one. refuse answers the POSTs at /sse, and those at /post of the methods given.
func serveOld(t *testing.T, refuse map[string]int) *oldWeb {
	t.Helper()
	s := &oldWeb{out: make(chan string, 10), over: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			s.stream(w, r, refuse["GET"])
			return
		}
		body, _ := io.ReadAll(r.Body) // a broken one is no message
		m, err := jsonrpc.Decode(body, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in := "" // the revision that the header names
		if named := r.Header["Mcp-Protocol-Version"]; len(named) > 0 {
			in = " in " + named[0]
		}
		s.note(r.URL.Path + ":" + m.Method + in)
		if status := refuse[m.Method]; status != 0 || r.URL.Path != "/post" {
			if status == 0 {
				status = refuse["POST"]
			}
			w.Header().Set("WWW-Authenticate", "Bearer x")
			w.WriteHeader(status)
			return
		}
		if s.pong != nil && m.Method == "tools/call" {
			s.out <- `{"jsonrpc":"2.0","id":"ask","method":"ping"}`
			<-s.pong
		}
		if m.Kind() == jsonrpc.KindResult && m.ID.String() == `"ask"` {
			close(s.pong)
		}
		w.WriteHeader(http.StatusAccepted)
		if s.news && m.Method == "initialize" {
			s.out <- strings.ReplaceAll(strings.ReplaceAll(oldInitialized, "2024-11-05", "2025-06-18"), "{id}", m.ID.String())
			return
		}
		answers := map[string][]string{"initialize": {oldLog, oldInitialized}, "tools/call": {oldProgress, oldEcho}}
		for _, text := range answers[m.Method] {
			s.out <- strings.ReplaceAll(text, "{id}", m.ID.String())
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *oldWeb) stream(w http.ResponseWriter, r *http.Request, status int) {
	s.note("GET")
	if status != 0 {
		w.Header().Set("WWW-Authenticate", "Bearer x")
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: endpoint\ndata: /post?session=1\n\n")
	for {
		w.(http.Flusher).Flush()
		select {
		case text := <-s.out:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
		case <-s.over:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *oldWeb) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, what)
}

func (s *oldWeb) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// useOld makes a call, ends the stream and sees the client end.
func useOld(t *testing.T, s *oldWeb, c *client.Client) {
	t.Helper()
	if c.ProtocolVersion() != "2024-11-05" || c.ServerInfo().Name != "old" {
		t.Errorf("opened %s of %+v", c.ProtocolVersion(), c.ServerInfo())
	}
	steps := 0
	result, err := c.CallTool(t.Context(), "echo", nil, client.CallOptions{OnProgress: func(mcp.ProgressParams) { steps++ }})
	if err != nil || text(result) != "hi" || steps != 1 {
		t.Errorf("got %q with %d steps, %v", text(result), steps, err)
	}
	waits := make(chan error, 1)
	go func() { waits <- c.Ping(t.Context()) }()
	for !slices.Contains(s.sent(), "/post:ping") {
		time.Sleep(time.Millisecond)
	}
	close(s.over)
	if err := <-waits; !errors.Is(err, mcp.CodeConnectionClosed) {
		t.Errorf("a call that waits: %v", err)
	}
	<-c.Done()
	if err := c.Ping(t.Context()); !errors.Is(err, mcp.CodeConnectionClosed) {
		t.Errorf("a call after the end: %v", err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

func TestDialSSE(t *testing.T) {
	modern := client.Verdict{Era: "modern", Discover: []byte(`{"supportedVersions":["2026-07-28"],"capabilities":{}}`), At: time.Now()}
	for name, opts := range map[string]client.Options{
		"auto":             {},
		"legacy":           {Mode: client.Legacy},
		"all versions":     {Versions: mcp.Versions()},
		"a stored verdict": {Verdict: &modern},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			s := serveOld(t, nil)
			var logs []string
			opts.OnLog = func(p mcp.LoggingMessageParams) { logs = append(logs, string(p.Data)) }
			opts.OnError = func(err error) { t.Error(err) }
			opts.Restart = never
			c, err := client.DialSSE(t.Context(), s.URL+"/sse", opts)
			if err != nil {
				t.Fatal(err)
			}
			if sent := s.sent(); !slices.Equal(sent, []string{"GET", "/post:initialize", "/post:notifications/initialized"}) {
				t.Errorf("sent %q", sent)
			}
			useOld(t, s, c)
			if !slices.Equal(logs, []string{`"early"`}) {
				t.Errorf("logs %q", logs)
			}
		})
	}
}

// TestDialSSENamesTheRevision demands the header of later revisions, once one is agreed on.
func TestDialSSENamesTheRevision(t *testing.T) {
	s := serveOld(t, nil)
	s.news = true
	c, err := client.DialSSE(t.Context(), s.URL+"/sse", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.CallTool(t.Context(), "echo", nil); err != nil {
		t.Error(err)
	}
	want := []string{"GET", "/post:initialize", "/post:notifications/initialized in 2025-06-18", "/post:tools/call in 2025-06-18"}
	if sent := s.sent(); !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

// TestDialSSESlowStatus is a server that answers a POST when it has done the work, and asks meanwhile.
func TestDialSSESlowStatus(t *testing.T) {
	noLeak(t)
	s := serveOld(t, nil)
	s.pong = make(chan struct{})
	c, err := client.DialSSE(t.Context(), s.URL+"/sse", client.Options{Restart: never})
	if err != nil {
		t.Fatal(err)
	}
	useOld(t, s, c)
}

func TestDialSSERefuses(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer page.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer silent.Close()
	old := func(refuse map[string]int) string { return serveOld(t, refuse).URL + "/sse?key=hush" }
	for name, tc := range map[string]struct {
		url  string
		opts client.Options
		want string
		auth int
	}{
		"mode modern":       {old(nil), client.Options{Mode: client.Modern}, "no modern era", 0},
		"modern versions":   {old(nil), client.Options{Versions: mcp.ModernVersions()}, "no modern era", 0},
		"401 of the stream": {old(map[string]int{"GET": 401}), client.Options{}, "open the event stream", 401},
		"403 of initialize": {old(map[string]int{"initialize": 403}), client.Options{}, "wait for the answer to initialize", 403},
		"500 of initialize": {old(map[string]int{"initialize": 500}), client.Options{}, "HTTP status 500", 0},
		"a page":            {page.URL, client.Options{}, "is the address right", 0},
		"no endpoint":       {silent.URL, client.Options{ConnectTimeout: 200 * time.Millisecond}, "open the event stream: wait for the endpoint event", 0},
		"no address":        {"hush", client.Options{}, "no address", 0},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			_, err := client.DialSSE(t.Context(), tc.url, tc.opts)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hush") {
				t.Fatalf("got %v, want %q in it", err, tc.want)
			}
			var auth *client.AuthError
			if errors.As(err, &auth); tc.auth != 0 && (auth == nil || auth.Status != tc.auth || auth.Challenge != "Bearer x") {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// TestDialHTTPFindsSSE is the way from the newer transport to the older one, and when it is not taken.
func TestDialHTTPFindsSSE(t *testing.T) {
	const probe, open = "/sse:server/discover in 2026-07-28", "/sse:initialize"
	for name, tc := range map[string]struct {
		refuse map[string]int
		opts   client.Options
		sent   []string
		fails  string // empty: connected
	}{
		"400":              {map[string]int{"POST": 400}, client.Options{}, []string{probe, open, "GET", "/post:initialize", "/post:notifications/initialized"}, ""},
		"404":              {map[string]int{"POST": 404}, client.Options{}, []string{probe, open, "GET", "/post:initialize", "/post:notifications/initialized"}, ""},
		"405, legacy mode": {map[string]int{"POST": 405}, client.Options{Mode: client.Legacy}, []string{open, "GET", "/post:initialize", "/post:notifications/initialized"}, ""},
		"no stream":        {map[string]int{"POST": 404, "GET": 405}, client.Options{}, []string{probe, open, "GET"}, "HTTP status 404 (nor does the address serve HTTP+SSE: HTTP status 405)"},
		"a stream for few": {map[string]int{"POST": 405, "GET": 401}, client.Options{}, []string{probe, open, "GET"}, "wants authorization"},
		"410":              {map[string]int{"POST": 410}, client.Options{}, []string{probe, open}, "HTTP status 410"},
		"403":              {map[string]int{"POST": 403}, client.Options{}, []string{probe}, "wants authorization"},
		"500":              {map[string]int{"POST": 500}, client.Options{}, []string{probe}, "HTTP 500"},
		"modern mode":      {map[string]int{"POST": 404}, client.Options{Mode: client.Modern}, []string{probe}, "does not look like a server"},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			s := serveOld(t, tc.refuse)
			tc.opts.Restart = never
			c, err := client.DialHTTP(t.Context(), s.URL+"/sse", tc.opts)
			if sent := s.sent(); !slices.Equal(sent, tc.sent) {
				t.Errorf("sent %q, want %q", sent, tc.sent)
			}
			if tc.fails == "" && err == nil {
				useOld(t, s, c)
				return
			}
			if err == nil || tc.fails == "" || !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("got %v, want %q", err, tc.fails)
			}
		})
	}
}

// TestDialHTTPKeepsModernErrors demands that an error which only modern servers have ends the search.
func TestDialHTTPKeepsModernErrors(t *testing.T) {
	s := serve(t, reactions{"initialize": answer(400, jsonType, rpcError(-32022))})
	_, err := client.DialHTTP(t.Context(), s.URL, client.Options{Mode: client.Legacy})
	if !errors.Is(err, mcp.CodeUnsupportedVersion) || s.sent() != "initialize" {
		t.Errorf("got %v after %s", err, s.sent())
	}
}

// overdue is a context whose deadline is the moment that done is closed.
type overdue struct {
	context.Context
	done chan struct{}
	once sync.Once
}

func (o *overdue) Done() <-chan struct{} { return o.done }

func (o *overdue) Err() error {
	select {
	case <-o.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestDialHTTPWaitsForOlder bounds the wait on a stream that a server of another kind may open.
func TestDialHTTPWaitsForOlder(t *testing.T) {
	ctx := &overdue{t.Context(), make(chan struct{}), sync.Once{}}
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Error(w, "no session", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		ctx.once.Do(func() { close(ctx.done) })
		<-r.Context().Done()
	}))
	defer ts.Close()
	if _, err := client.DialHTTP(ctx, ts.URL, client.Options{}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "open the event stream of HTTP+SSE") {
		t.Errorf("with a deadline: %v", err)
	}
	began := time.Now()
	_, err := client.DialHTTP(t.Context(), ts.URL, client.Options{})
	var status *transport.StatusError
	if took := time.Since(began); !errors.As(err, &status) || status.Status != 400 || took > 10*time.Second {
		t.Errorf("after %s: %v", took, err)
	}
}
