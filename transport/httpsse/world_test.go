package httpsse

import (
	"bufio"
	"context"
	"encoding/json"
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

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/webtest"
)

// desk answers the requests of the tests by the name of the tool.
type desk struct {
	mu      sync.Mutex
	heard   []string      // notifications
	waiting chan struct{} // gets one for each "wait" that has begun
	ended   chan error    // gets the cause with which a "wait" ended
}

func (d *desk) Notice(_ context.Context, n *era.Notice, _ transport.Exchange) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard = append(d.heard, n.Method)
}

func (d *desk) Call(ctx context.Context, in *engine.Incoming) *era.Outcome {
	switch in.Method() {
	case "initialize":
		return &era.Outcome{Result: json.RawMessage(`{"protocolVersion":"` + in.Codec.Revision() + `","capabilities":{},"serverInfo":{"name":"desk","version":"1"}}`)}
	case "ping":
		return &era.Outcome{Result: json.RawMessage(`{}`)}
	case "tools/call":
		return said(d.tool(ctx, in))
	}
	return &era.Outcome{Result: json.RawMessage(`{"tools":[]}`)}
}

func (d *desk) tool(ctx context.Context, in *engine.Incoming) string {
	raw, _ := in.Param(era.LiftName)
	switch name, _ := jsonrpc.Text(raw); name {
	case "progress":
		token, _ := in.ProgressToken()
		err := in.Notify(ctx, &era.Notice{
			Method: "notifications/progress", Params: json.RawMessage(fmt.Sprintf(`{"progressToken":%s,"progress":1}`, token)),
		})
		return fmt.Sprint("sent: ", err)
	case "ask":
		answer, err := in.Peer.Call(ctx, webtest.OnStream{X: in.X}, &era.Outgoing{Method: "ping"}, engine.CallOptions{Timeout: 5 * time.Second})
		return fmt.Sprint("asked: ", answer != nil, " ", err)
	case "wait":
		d.waiting <- struct{}{}
		<-ctx.Done()
		d.ended <- context.Cause(ctx)
	case "large":
		return strings.Repeat("x", 1<<20)
	case "who":
		header, _ := in.X.Header("x-colour")
		return fmt.Sprint(header, " ", in.X.Principal().Subject, " ", in.Peer.SessionID != "")
	}
	return "hello"
}

func said(text string) *era.Outcome {
	return &era.Outcome{Result: append(jsonrpc.AppendString([]byte(`{"content":[{"type":"text","text":`), text), `}]}`...)}
}

var eventually = webtest.Eventually

// world is a server with an engine behind it.
type world struct {
	desk    *desk
	handler *Handler
	addr    string
	open    func(t testing.TB) net.Conn // a connection to it
}

func newHandler(t testing.TB, opts Options) (*desk, *Handler) {
	t.Helper()
	set, err := negotiate.New(era.Config{Side: era.ServerSide, Info: mcp.Implementation{Name: "desk", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{waiting: make(chan struct{}, 1000), ended: make(chan error, 1000)}
	return d, New(engine.New(d, engine.Options{IDPrefix: "s-"}), set, opts)
}

func newWorld(t testing.TB, opts Options) *world {
	t.Helper()
	d, h := newHandler(t, opts)
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		srv.Close()
		webtest.NoneLeft(t, "httpsse.(*Handler)", "streamhttp.(*stream")
	})
	addr := srv.Listener.Addr().String()
	return &world{d, h, addr, func(t testing.TB) net.Conn { return webtest.Dial(t, addr) }}
}

// newWorldInBubble is a world for the time of a bubble. What is written there waits until it is read.
func newWorldInBubble(t testing.TB, opts Options) *world {
	t.Helper()
	d, h := newHandler(t, opts)
	line := webtest.Serve(t, h)
	t.Cleanup(func() { h.Close() })
	return &world{d, h, line.Addr().String(), func(t testing.TB) net.Conn { return line.Dial(t) }}
}

// client is one stream, read from a raw connection.
type client struct {
	w        *world
	conn     net.Conn
	resp     *http.Response
	events   *sse.Reader
	endpoint string
	headers  string // of its POSTs
}

// dial opens a stream without reading any of it.
func (w *world) dial(t testing.TB, headers string) net.Conn {
	t.Helper()
	conn := w.open(t)
	if _, err := io.WriteString(conn, "GET /sse HTTP/1.1\r\nHost: "+w.addr+"\r\n"+headers+"\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// connect opens a stream and reads its endpoint event.
func (w *world) connect(t testing.TB, headers string) *client {
	t.Helper()
	conn := w.dial(t, headers)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 {
		body, err := io.ReadAll(resp.Body)
		t.Fatalf("status %d: %s (%v)", resp.StatusCode, body, err)
	}
	c := &client{w: w, conn: conn, resp: resp, events: sse.NewReader(resp.Body, 1<<24), headers: headers}
	name, data := c.next(t)
	if name != "endpoint" {
		t.Fatalf("the first event is %q", name)
	}
	c.endpoint = data
	return c
}

// greet opens a stream and does the handshake.
func (w *world) greet(t testing.TB, revision string) *client {
	t.Helper()
	c := w.connect(t, "")
	c.send(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	c.want(t, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"`+revision+`","capabilities":{},"serverInfo":{"name":"desk","version":"1"}}}`)
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// next returns the next event that is no comment; "" and "" at the end of the stream.
func (c *client) next(t testing.TB) (name, data string) {
	t.Helper()
	for {
		event, err := c.events.Next()
		var stuck net.Error
		switch {
		case errors.As(err, &stuck) && stuck.Timeout():
			t.Fatal("no event came")
		case err != nil:
			return "", ""
		case event.Kind == sse.Message:
			return event.Name, string(event.Data)
		}
	}
}

// want demands a message.
func (c *client) want(t testing.TB, frame string) {
	t.Helper()
	if name, data := c.next(t); name != "message" || data != frame {
		t.Fatalf("want the message %s\ngot %s %s", frame, name, data)
	}
}

// post sends a message and returns status and body.
func (c *client) post(t testing.TB, body string) (int, string) {
	t.Helper()
	return c.w.raw(t, "POST "+c.endpoint+" HTTP/1.1\r\nHost: "+c.w.addr+"\r\nContent-Type: application/json\r\n"+c.headers+
		fmt.Sprintf("Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
}

// send demands that a message is taken.
func (c *client) send(t testing.TB, body string) {
	t.Helper()
	if status, text := c.post(t, body); status != 202 || text != "Accepted\n" {
		t.Fatalf("POST %s: %d %s", body, status, text)
	}
}

// raw writes a request to a connection of its own and returns status and body of the response.
func (w *world) raw(t testing.TB, request string) (int, string) {
	t.Helper()
	resp := webtest.AskOn(t, w.open(t), request)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// onBothWays runs a test on connections taken over from net/http and on those that are not.
func onBothWays(t *testing.T, run func(t *testing.T, opts Options)) {
	t.Run("taken over", func(t *testing.T) { run(t, Options{}) })
	t.Run("net/http", func(t *testing.T) { run(t, Options{NoHijack: true}) })
}

func call(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"_meta":{"progressToken":5}}}`, id, tool)
}

func answer(id int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}
