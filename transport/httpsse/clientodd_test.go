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
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/httpsse"
	"github.com/rialto-mcp/rialto/transport/internal/conntest"
)

// faults gathers what a hook is told.
type faults struct {
	mu   sync.Mutex
	said []string
}

func (f *faults) add(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, text)
}

func (f *faults) all() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.said, "; ")
}

// rawServer answers each connection with a head and a body as they are, and closes it.
func rawServer(t *testing.T, head, body string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			if _, err := conn.Read(buf); err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+head+"\r\n"+body) // the client may have gone
			}
			conn.Close()
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return "http://" + l.Addr().String()
}

// drain reads to the end of the stream.
func drain(t *testing.T, c *httpsse.Conn) (frames []string, end error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for {
		frame, err := c.Read(ctx)
		var bad *transport.FrameError
		switch {
		case errors.As(err, &bad):
			frames = append(frames, fmt.Sprint("!", bad.Limit))
		case err != nil:
			return frames, err
		default:
			frames = append(frames, string(frame))
		}
	}
}

// TestDialStreams is what a stream may bring, and how it may end.
func TestDialStreams(t *testing.T) {
	const events = "Content-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n"
	const hello = "event: endpoint\ndata: /post?id=1\n\n"
	large := strings.Repeat("x", 2000)
	for name, tc := range map[string]struct {
		head, body string
		want       string // frames
		end        error
		faults     string // a part of what is reported; empty for none
		events     string
	}{
		"messages, named and not":    {events, hello + "data: 1\n\nevent: message\ndata: 2\n\n", "1 2", io.EOF, "", ""},
		"CRLF, CR and a mark":        {events, "\xEF\xBB\xBF" + strings.ReplaceAll(hello, "\n", "\r\n") + "data:1\r\rdata: 2\r\n\r\n", "1 2", io.EOF, "", ""},
		"data of several lines":      {events, hello + "data: {\ndata: \"a\":1}\n\n", `{"a":1}`, io.EOF, "", ""},
		"comments and empty events":  {events, ": hi\n\n" + hello + ": ping\n\nid: 7\ndata:\n\nretry: 3\n\ndata: 1\nextra: x\n\n", "1", io.EOF, "", ""},
		"a second endpoint":          {events, hello + "event: endpoint\ndata: http://elsewhere.example/\n\ndata: 1\n\n", "1", io.EOF, "second endpoint", ""},
		"a message before the first": {events, "data: 0\n\n" + hello + "data: 1\n\n", "1", io.EOF, "before the endpoint", ""},
		"events of other names":      {events, "event: connected\ndata: {}\n\n" + hello + "event: news\ndata: x\n\ndata: 1\n\n", "1", io.EOF, "", "connected={} news=x"},
		"an event over the limit":    {events, hello + "data: " + large + "\n\ndata: 1\n\n", "!1000 1", io.EOF, "", ""},
		"too large before the first": {events, "data: " + large + "\n\n" + hello + "data: 1\n\n", "1", io.EOF, "more than 1000 bytes", ""},
		"nothing":                    {events, hello, "", io.EOF, "", ""},
		"an event cut off":           {events, hello + "data: 1\n\ndata: 2\n", "1", errAny, "", ""},
		"a length not reached":       {events + "Content-Length: 5000\r\n", hello + "data: 1\n\n", "1", io.ErrUnexpectedEOF, "", ""},
		"chunks not finished":        {events + "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n", len(hello), hello), "", io.ErrUnexpectedEOF, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			conntest.CheckGoroutines(t)
			var said, named faults
			c, err := httpsse.Dial(t.Context(), rawServer(t, tc.head, tc.body), httpsse.DialOptions{
				MaxEventBytes: 1000,
				OnError:       func(err error) { said.add(err.Error()) },
				OnEvent:       func(name string, data []byte) { named.add(name + "=" + string(data)) },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			frames, end := drain(t, c)
			if got := strings.Join(frames, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if !errors.Is(end, tc.end) && !(tc.end == errAny && end != io.EOF) {
				t.Errorf("ended with %v, want %v", end, tc.end)
			}
			if got := said.all(); (got == "") != (tc.faults == "") || !strings.Contains(got, tc.faults) {
				t.Errorf("reported %q, want %q in it", got, tc.faults)
			}
			if got := strings.ReplaceAll(named.all(), "; ", " "); got != tc.events {
				t.Errorf("events %q, want %q", got, tc.events)
			}
			if err := c.Write(t.Context(), []byte("1")); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("a write after the end: %v", err)
			}
		})
	}
}

// errAny stands for an end that is an error of this project and not io.EOF.
var errAny = errors.New("cut off")

// TestDialRefused is what is no server of HTTP+SSE, or none that may be trusted. Secrets of the address stay out of errors.
func TestDialRefused(t *testing.T) {
	stream := func(events string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, events) // the client may have gone
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	for name, tc := range map[string]struct {
		serve  http.HandlerFunc
		status int // of a *transport.StatusError; 0 for another error
		want   string
	}{
		"an empty endpoint":        {stream("event: endpoint\ndata:  \n\n"), 0, "is empty"},
		"no data":                  {stream("event: endpoint\ndata:\n\n"), 0, "is empty"},
		"another host":             {stream("event: endpoint\ndata: https://evil.example/x?s=hush\n\n"), 0, "https://evil.example"},
		"another port":             {stream("event: endpoint\ndata: http://127.0.0.1:1/x\n\n"), 0, "another origin"},
		"a host without scheme":    {stream("event: endpoint\ndata: //evil.example/x\n\n"), 0, "another origin"},
		"another scheme":           {stream("event: endpoint\ndata: file:///etc/passwd\n\n"), 0, "no address"},
		"no address":               {stream("event: endpoint\ndata: http://[::1\n\n"), 0, "no address"},
		"no end of it":             {stream("event: endpoint\ndata: /" + strings.Repeat("x", 9000) + "\n\n"), 0, "no address"},
		"silence":                  {stream(""), 0, "wait for the endpoint event"},
		"other events without end": {stream("event: a\ndata: b\n\n"), 0, "wait for the endpoint event"},
		"no answer":                {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "wait for the event stream"},
		"a page":                   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html><p>hello") }, 0, `"text/html"`},
		"an end":                   {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") }, 0, "ended before"},
		"401":                      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, 401, "401"},
		"404":                      {http.NotFound, 404, "404"},
		"another origin": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.example/sse", http.StatusTemporaryRedirect)
		}, 307, "http://other.example"},
		"in circles": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", r.URL.Path)
			w.WriteHeader(302)
		}, 302, "302"},
	} {
		t.Run(name, func(t *testing.T) {
			conntest.CheckGoroutines(t)
			ts := httptest.NewServer(tc.serve)
			defer ts.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			address := strings.Replace(ts.URL, "http://", "http://me:hush@", 1) + "/hush?key=hush"
			began := time.Now()
			c, err := httpsse.Dial(ctx, address, httpsse.DialOptions{})
			if err == nil {
				c.Close()
				t.Fatal("connected")
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("took %s", took)
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hush") {
				t.Errorf("got %v, want %q in it and no secret", err, tc.want)
			}
			var status *transport.StatusError
			if errors.As(err, &status); (status != nil) != (tc.status != 0) || status != nil && status.Status != tc.status {
				t.Errorf("got %#v, want status %d", err, tc.status)
			}
			if strings.HasPrefix(tc.want, "wait") && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
	for _, address := range []string{"", "example.com/sse", "ftp://example.com/", "http://", "http://h:hush%zz/"} {
		if _, err := httpsse.Dial(t.Context(), address, httpsse.DialOptions{}); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
