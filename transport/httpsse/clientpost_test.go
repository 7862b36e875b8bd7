package httpsse_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/httpsse"
	"github.com/rialto-mcp/rialto/transport/internal/conntest"
)

// posts serves a stream with an endpoint and nothing else, and hands POSTs to react.
func posts(endpoint string, react http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			react(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", endpoint)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func dialed(t *testing.T, address string, opts httpsse.DialOptions) *httpsse.Conn {
	t.Helper()
	c, err := httpsse.Dial(t.Context(), address, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// said answers a POST.
func said(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have gone
	}
}

const request = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`

func TestDialPostAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		react   http.HandlerFunc
		status  int  // of the error; 0 for none
		message bool // the error holds the JSON-RPC error of the body
	}{
		"202 and a text":            {said(202, "text/plain", "Accepted"), 0, false},
		"200 and nothing":           {said(200, "", ""), 0, false},
		"204":                       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 0, false},
		"202 and null":              {said(202, "application/json", "null"), 0, false},
		"200 and a stream":          {said(200, "text/event-stream", "data:\n\n"), 0, false},
		"202 and the answer itself": {said(202, "application/json", `{"jsonrpc":"2.0","id":7,"result":{}}`), 0, false},
		"500":                       {said(500, "text/plain", "oh no"), 500, false},
		"401":                       {said(401, "", ""), 401, false},
		"404 of a lost session":     {said(404, "text/html", "<html>"), 404, false},
		"400 with an error":         {said(400, "application/json", `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"no"}}`), 400, true},
		"400 without an id":         {said(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`), 400, true},
		"400 of another request":    {said(400, "application/json", `{"jsonrpc":"2.0","id":8,"error":{"code":-32600,"message":"no"}}`), 400, false},
		"303":                       {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusSeeOther) }, 303, false},
		"307 away": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://a.example/", http.StatusTemporaryRedirect)
		}, 307, false},
	} {
		t.Run(name, func(t *testing.T) {
			conntest.CheckGoroutines(t)
			ts := httptest.NewServer(posts("/post", tc.react))
			t.Cleanup(ts.Close)
			c := dialed(t, ts.URL, httpsse.DialOptions{})
			for range 2 { // a refused POST leaves the connection whole
				err := c.Write(t.Context(), []byte(request))
				var status *transport.StatusError
				if errors.As(err, &status); (err != nil) != (tc.status != 0) || status != nil && status.Status != tc.status {
					t.Fatalf("got %v, want status %d", err, tc.status)
				}
				if tc.status != 0 && (status == nil || (status.Message != nil) != tc.message) {
					t.Fatalf("got %#v", err)
				}
			}
		})
	}
}

// TestDialPostsReuseConnections demands that bodies nobody wants do not cost a connection each.
func TestDialPostsReuseConnections(t *testing.T) {
	var opened atomic.Int32
	ts := httptest.NewUnstartedServer(posts("/post", said(202, "text/plain", "Accepted")))
	ts.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	ts.Start()
	t.Cleanup(ts.Close)
	c := dialed(t, ts.URL, httpsse.DialOptions{})
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := c.Write(ctx, []byte(request)); err != nil {
			t.Fatal(err)
		}
		cancel() // as the end of a call does
	}
	if n := opened.Load(); n > 20 { // the end of a body may be read a moment after the next POST
		t.Errorf("%d connections for 200 messages", n)
	}
}

// TestDialPostEnds is what ends a POST that gets no answer, or an answer that does not end.
func TestDialPostEnds(t *testing.T) {
	conntest.CheckGoroutines(t)
	arrived := make(chan struct{}, 1)
	ts := httptest.NewServer(posts("/post", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a broken one is not "endless"
		if string(body) == "endless" {
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, "a")
			w.(http.Flusher).Flush()
		} else {
			arrived <- struct{}{}
		}
		<-r.Context().Done()
	}))
	t.Cleanup(ts.Close)
	c := dialed(t, ts.URL, httpsse.DialOptions{})

	if err := c.Write(t.Context(), []byte("endless")); err != nil {
		t.Errorf("an answer without end: %v", err)
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(reason)
	}()
	if err := c.Write(ctx, []byte("1")); !errors.Is(err, reason) {
		t.Errorf("the end of the context: %v", err)
	}
	go func() {
		<-arrived
		c.Close()
	}()
	if err := c.Write(t.Context(), []byte("2")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("the end of the connection: %v", err)
	}
}

// TestC037CloseWhileMessagesArrive closes under a flood that nobody reads.
func TestC037CloseWhileMessagesArrive(t *testing.T) {
	conntest.CheckGoroutines(t)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		text := "event: endpoint\ndata: /post\n\n"
		for {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			text = "data: 1\n\n"
		}
	}))
	t.Cleanup(ts.Close)
	c := dialed(t, ts.URL, httpsse.DialOptions{})
	if _, err := c.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Read(t.Context()); !errors.Is(err, transport.ErrClosed) {
		t.Error(err)
	}
}

// TestDialHeaders is what goes with the requests, also when they are redirected within the origin.
func TestDialHeaders(t *testing.T) {
	wants := map[string]string{"X-Key": "open", "Host": "virtual.example", "Authorization": "Basic bWU6cHc=", "Last-Event-Id": "", "Mcp-Session-Id": ""}
	check := func(t *testing.T, r *http.Request) {
		r.Header.Set("Host", r.Host)
		for name, want := range wants {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", r.Method, r.URL.Path, name, got, want)
			}
		}
	}
	for name, endpoint := range map[string]string{
		"absolute path": "/in/post?id=1", "relative": "post?id=1", "full": "http://SERVER/in/post?id=1#x", "with a user": "http://evil:x@SERVER/in/post?id=1",
	} {
		t.Run(name, func(t *testing.T) {
			var ts *httptest.Server
			var posted atomic.Value
			ts = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				check(t, r)
				switch r.URL.Path {
				case "/sse":
					if r.Header.Get("Accept") != "text/event-stream" {
						t.Errorf("Accept: %q", r.Header["Accept"])
					}
					w.Header().Set("Location", ts.URL+"/in/sse")
					w.WriteHeader(http.StatusFound)
				case "/in/post":
					w.Header().Set("Location", ts.URL+"/in/last?"+r.URL.RawQuery)
					w.WriteHeader(http.StatusPermanentRedirect)
				case "/in/last":
					body, _ := io.ReadAll(r.Body) // compared below
					posted.Store(r.URL.RawQuery + " " + r.Header.Get("Content-Type") + " " + string(body))
					w.WriteHeader(http.StatusAccepted)
				default:
					posts(strings.ReplaceAll(endpoint, "SERVER", strings.TrimPrefix(ts.URL, "http://")), nil)(w, r)
				}
			}))
			t.Cleanup(ts.Close)
			c := dialed(t, strings.Replace(ts.URL, "http://", "http://me:pw@", 1)+"/sse", httpsse.DialOptions{
				Headers: http.Header{
					"x-key": {"open"}, "Host": {"virtual.example"}, "Accept": {"text/html"}, "Content-Type": {"text/html"},
					"Last-Event-ID": {"4"}, "Mcp-Session-Id": {"s"},
				},
				HTTPClient: &http.Client{Timeout: 10 * time.Second},
			})
			if want := ts.URL + "/in/post?id=1"; c.Endpoint() != want {
				t.Errorf("the endpoint is %s, want %s", c.Endpoint(), want)
			}
			if err := c.Write(t.Context(), []byte("{\n}")); err != nil {
				t.Error(err)
			}
			if got := posted.Load(); got != "id=1 application/json {}" {
				t.Errorf("posted %q", got)
			}
		})
	}
}
