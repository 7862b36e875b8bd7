package streamhttp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/webtest"
)

// desk answers the requests of the tests by the name of the tool.
type desk struct {
	mu      sync.Mutex
	notices []string
	waiting chan struct{} // gets one for each "wait" that has begun
	ended   chan error    // gets the cause with which a "wait" ended
	steps   chan int      // what a "step" reports as progress, one by one; 0 ends it
}

func (d *desk) Notice(_ context.Context, n *era.Notice, _ transport.Exchange) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notices = append(d.notices, n.Method)
}

func (d *desk) noticed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.notices...)
}

func (d *desk) Call(ctx context.Context, in *engine.Incoming) *era.Outcome {
	switch in.Method() {
	case "initialize":
		return result(`{"protocolVersion":"` + in.Codec.Revision() + `","capabilities":{},"serverInfo":{"name":"desk","version":"1"}}`)
	case "subscriptions/listen":
		return in.Listen(ctx, mcp.SubscriptionFilter{ToolsListChanged: true})
	case "tools/call":
		return d.tool(ctx, in)
	}
	return result(`{"tools":[]}`)
}

func (d *desk) tool(ctx context.Context, in *engine.Incoming) *era.Outcome {
	raw, _ := in.Param(era.LiftName)
	switch name, _ := jsonrpc.Text(raw); name {
	case "progress":
		token, _ := in.ProgressToken()
		params := fmt.Sprintf(`{"progressToken":%s,"progress":1}`, token)
		err := in.Notify(ctx, &era.Notice{Method: "notifications/progress", Params: json.RawMessage(params)})
		return said(fmt.Sprint("sent: ", err))
	case "ask":
		out := &era.Outgoing{Method: "ping"}
		answer, err := in.Peer.Call(ctx, webtest.OnStream{X: in.X}, out, engine.CallOptions{Timeout: 5 * time.Second})
		return said(fmt.Sprint("asked: ", answer != nil, " ", err))
	case "step":
		d.waiting <- struct{}{}
		token, _ := in.ProgressToken()
		for n := <-d.steps; n != 0; n = <-d.steps {
			params := fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, token, n)
			if err := in.Notify(ctx, &era.Notice{Method: "notifications/progress", Params: json.RawMessage(params)}); err != nil {
				return said("failed: " + err.Error())
			}
		}
	case "poll": // closes its stream, before and after something was sent; who came back sooner would lose it once more
		pauser := in.X.(transport.Pauser)
		first := pauser.Pause(20 * time.Millisecond)
		params := json.RawMessage(`{"progressToken":5,"progress":1}`)
		err := in.Notify(ctx, &era.Notice{Method: "notifications/progress", Params: params})
		second := pauser.Pause(0)
		d.waiting <- struct{}{}
		return said(fmt.Sprint("paused: ", first, " ", second, " ", err))
	case "wait":
		d.waiting <- struct{}{}
		<-ctx.Done()
		d.ended <- context.Cause(ctx)
		return said("waited")
	case "stubborn":
		d.waiting <- struct{}{}
		<-d.ended // whatever its context says
		return said("released")
	case "sleep":
		time.Sleep(time.Minute)
		return said("slept")
	case "large":
		return said(strings.Repeat("x", 100_000))
	case "refuse":
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeMissingCapability, "no")}
	case "unknown":
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInvalidParams, "no such tool"), Row: era.RowTarget}
	}
	return said("hello")
}

func result(raw string) *era.Outcome { return &era.Outcome{Result: json.RawMessage(raw)} }

func said(text string) *era.Outcome {
	return result(string(append(jsonrpc.AppendString([]byte(`{"content":[{"type":"text","text":`), text), `}]}`...)))
}

var eventually = webtest.Eventually

// world is a server with an engine behind it.
type world struct {
	desk    *desk
	engine  *engine.Engine
	handler *Handler
	url     string
	addr    string
}

func newHandler(t testing.TB, opts Options, served ...string) *world {
	t.Helper()
	set, err := negotiate.New(era.Config{Side: era.ServerSide, Served: served, Info: mcp.Implementation{Name: "desk", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{waiting: make(chan struct{}, 1000), ended: make(chan error, 1000), steps: make(chan int)}
	e := engine.New(d, engine.Options{IDPrefix: "s-"})
	return &world{desk: d, engine: e, handler: New(e, set, opts)}
}

func newWorld(t testing.TB, opts Options, served ...string) *world {
	t.Helper()
	w := newHandler(t, opts, served...)
	srv := httptest.NewServer(w.handler)
	w.url, w.addr = srv.URL+"/mcp", srv.Listener.Addr().String()
	t.Cleanup(func() {
		w.handler.Close()
		srv.Close()
	})
	return w
}

// overTLS serves the handler, with another one around it where wrap is not nil.
func (w *world) overTLS(t *testing.T, http2 bool, wrap func(http.Handler) http.Handler) *httptest.Server {
	var handler http.Handler = w.handler
	if wrap != nil {
		handler = wrap(handler)
	}
	srv := httptest.NewUnstartedServer(handler)
	srv.EnableHTTP2 = http2
	srv.StartTLS()
	t.Cleanup(func() {
		w.handler.Close()
		srv.Close()
	})
	return srv
}

const (
	meta       = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	legacyList = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// modern makes a request of the modern era and its headers.
func modern(method, name, more string) (body string, headers [][2]string) {
	headers = [][2]string{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}}
	params := meta
	if name != "" {
		params = `"name":"` + name + `",` + meta
		headers = append(headers, [2]string{"Mcp-Name", name})
	}
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + more + `}}`, headers
}

func legacyCall(tool string) string {
	return `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + tool + `","_meta":{"progressToken":5}}}`
}

// ask sends one request and reads the whole answer. A header with an empty value is left out.
func (w *world) ask(t testing.TB, method, body string, headers ...[2]string) *answer {
	t.Helper()
	resp := w.start(t.Context(), t, method, body, headers...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &answer{resp.StatusCode, resp.Header, string(text)}
}

func (w *world) start(ctx context.Context, t testing.TB, method, body string, headers ...[2]string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second) // a stream that stays silent must not hang the test
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req, headers)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func setHeaders(req *http.Request, headers [][2]string) {
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	replaced := map[string]bool{}
	for _, pair := range headers {
		name := http.CanonicalHeaderKey(pair[0])
		if !replaced[name] {
			req.Header.Del(name)
			replaced[name] = true
		}
		switch {
		case name == "Host":
			req.Host = pair[1]
		case pair[1] != "":
			req.Header.Add(name, pair[1])
		}
	}
}

type answer struct {
	status int
	header http.Header
	body   string
}

// code returns the code of the JSON-RPC error in the body, or 0.
func (a *answer) code() int64 {
	m, err := jsonrpc.Decode([]byte(a.body), nil)
	if err != nil || m.Error == nil {
		return 0
	}
	return m.Error.Code
}

// open begins a session and returns its header.
func (w *world) open(t testing.TB) [2]string {
	t.Helper()
	a := w.ask(t, "POST", initialize)
	id := a.header.Get("Mcp-Session-Id")
	if a.status != 200 || id == "" {
		t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	session := [2]string{"Mcp-Session-Id", id}
	if a := w.ask(t, "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session); a.status != 202 {
		t.Fatalf("initialized: %d %s", a.status, a.body)
	}
	return session
}

// events reads the data lines of an open stream.
type events struct{ lines *bufio.Scanner }

func readEvents(body io.Reader) *events { return &events{bufio.NewScanner(body)} }

// next returns the data of the next event that has any, or "" at the end of the stream.
func (e *events) next() string {
	for e.lines.Scan() {
		if data, ok := strings.CutPrefix(e.lines.Text(), "data: "); ok && data != "" {
			return data
		}
	}
	return ""
}

// checkLeaks fails the test when it ends with more goroutines of this package than it began with.
func checkLeaks(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		webtest.NoneLeft(t, "streamhttp.(*Handler)", "streamhttp.(*stream", "streamhttp.(*Client)")
	})
}
