package cases

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// patience is how long a test waits for what another goroutine is to bring about. It is a bound, not a pause.
const patience = 20 * time.Second

// world is a server behind a listener of its own.
type world struct {
	*server.Server
	handler interface {
		http.Handler
		Sessions() int
		Streams() int
	}
	addr    string
	lines   *switchboard  // instead of ports, in a bubble
	web     *http.Server  // the first of those that listen
	sockets atomic.Int64  // connections that the server has open
	waiting chan struct{} // gets one for each call of "wait" that has begun
	ended   chan error    // gets the cause with which a "wait" ended
}

// start serves a few tools on a loopback port until the test ends. around stands outside the handler, where authorization
// would.
func start(t testing.TB, opts server.Options, around ...func(http.Handler) http.Handler) *world {
	t.Helper()
	return startOn(t, nil, opts, around...)
}

// startOn is start on a listener in memory; nil means a loopback port.
func startOn(t testing.TB, lines *switchboard, opts server.Options, around ...func(http.Handler) http.Handler) *world {
	t.Helper()
	w := &world{
		Server: server.New(mcp.Implementation{Name: "cases", Version: "1"}, opts), lines: lines, waiting: make(chan struct{}, 4096), ended: make(chan error, 4096),
	}
	w.tool(t, "echo", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return mcp.TextResult("hello"), nil
	})
	w.tool(t, "wait", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
		w.waiting <- struct{}{}
		<-ctx.Done()
		w.ended <- context.Cause(ctx)
		return mcp.TextResult("waited"), nil
	})
	w.tool(t, "asks", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return nil, mcp.NeedInput().ListRoots("a")
	})
	w.handler = w.Handler().(interface {
		http.Handler
		Sessions() int
		Streams() int
	})
	var h http.Handler = w.handler
	for _, one := range around {
		h = one(h)
	}
	w.addr = w.listen(t, h)
	return w
}

// listen serves h on a port of its own until the test ends.
func (w *world) listen(t testing.TB, h http.Handler) string {
	t.Helper()
	var l net.Listener = w.lines
	if w.lines == nil {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	srv := &http.Server{Handler: h}
	if w.lines != nil {
		srv.IdleTimeout = bubbleIdle
	}
	if w.web == nil {
		w.web = srv
	}
	done := make(chan struct{})
	go func() { // ends with Close
		defer close(done)
		srv.Serve(counting{l, &w.sockets})
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := w.Shutdown(ctx); err != nil {
			t.Errorf("the server did not stop: %v", err)
		}
		srv.Close()
		<-done
	})
	return l.Addr().String()
}

// tool registers a tool without arguments.
func (w *world) tool(t testing.TB, name string, h server.ToolHandler) {
	t.Helper()
	if err := w.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, h); err != nil {
		t.Fatal(err)
	}
}

// stopWeb ends what net/http runs, by force when the grace is over.
func (w *world) stopWeb(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if w.web.Shutdown(ctx) == nil {
		return nil
	}
	return w.web.Close()
}

// began waits until one more call of "wait" has begun.
func (w *world) began(t testing.TB) {
	t.Helper()
	select {
	case <-w.waiting:
	case <-time.After(patience):
		t.Fatal("the call does not begin")
	}
}

// hasEnded waits until one more call of "wait" has been cancelled, and returns why.
func (w *world) hasEnded(t testing.TB) error {
	t.Helper()
	select {
	case err := <-w.ended:
		return err
	case <-time.After(patience):
		t.Fatal("the call goes on")
		return nil
	}
}

// prompt registers an empty prompt.
func (w *world) prompt(name string) {
	w.AddPrompt(mcp.Prompt{Name: name}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
}

// counting counts the connections that are open at the server's end.
type counting struct {
	net.Listener
	open *atomic.Int64
}

func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &countedConn{Conn: c, open: l.open}, nil
}

type countedConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// ask is one request as a test writes it.
type ask struct {
	method, path string   // POST and /mcp where empty
	head         []string // lines "Name: value" beside those every request has; one of the same name takes their place, "Name" alone leaves it out
	body         string
}

// text writes the request out.
func (w *world) text(a ask) string {
	if a.method == "" {
		a.method = "POST"
	}
	if a.path == "" {
		a.path = "/mcp"
	}
	lines := []string{"Host: " + w.addr}
	switch a.method {
	case "POST":
		lines = append(lines, "Content-Type: application/json", "Accept: application/json, text/event-stream", fmt.Sprintf("Content-Length: %d", len(a.body)))
	case "GET":
		lines = append(lines, "Accept: text/event-stream")
	}
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(a.head, func(own string) bool { return strings.EqualFold(fieldName(own), fieldName(line)) })
	})
	for _, line := range a.head {
		if strings.Contains(line, ":") {
			lines = append(lines, line)
		}
	}
	return a.method + " " + a.path + " HTTP/1.1\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n" + a.body
}

func fieldName(line string) string {
	name, _, _ := strings.Cut(line, ":")
	return name
}

// wire is one connection of a client that a test plays.
type wire struct {
	w    *world
	conn net.Conn
	in   *bufio.Reader
}

func (w *world) dial(t testing.TB) *wire {
	t.Helper()
	c := &wire{w: w}
	c.redial(t)
	t.Cleanup(c.close)
	return c
}

func (c *wire) redial(t testing.TB) {
	t.Helper()
	conn, err := c.w.reach()
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	c.conn, c.in = conn, bufio.NewReader(conn)
}

// reach makes a connection.
func (w *world) reach() (net.Conn, error) {
	if w.lines != nil {
		return w.lines.dial()
	}
	return net.Dial("tcp", w.addr)
}

// close ends the connection, in good order, and lets go of what was read ahead: tests of memory have thousands of these.
func (c *wire) close() {
	c.in = nil
	c.conn.Close()
}

// vanish ends the connection without a word: the other side gets a reset.
func (c *wire) vanish() {
	if tcp, ok := c.conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.close()
}

func (c *wire) write(t testing.TB, text string) {
	t.Helper()
	c.conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c.conn, text); err != nil {
		t.Fatalf("the request could not be written: %v", err)
	}
}

// head reads the head of a response and leaves its body to be read.
func (c *wire) head(t testing.TB) *http.Response {
	t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatalf("no response: %v", err)
	}
	return resp
}

// do sends a request and reads the whole answer, which may come before a large body is through. The connection is used for
// the next one too where the server lets it.
func (c *wire) do(t testing.TB, a ask) *answer {
	t.Helper()
	text := c.w.text(a)
	if len(text) < 64<<10 {
		c.write(t, text)
		return c.answer(t)
	}
	conn, done := c.conn, make(chan struct{})
	conn.SetDeadline(time.Now().Add(6 * patience)) // much is to be read, with the race detector slowly
	go func() {                                    // ends when all is written, or the server takes no more
		defer close(done)
		io.WriteString(conn, text)
	}()
	got := c.answer(t)
	<-done
	return got
}

func (c *wire) answer(t testing.TB) *answer {
	t.Helper()
	resp := c.head(t)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("the answer breaks off: %v", err)
	}
	if resp.Close {
		c.conn.Close()
		c.redial(t)
	}
	return &answer{resp.StatusCode, resp.Header, string(body)}
}

// do sends one request on a connection of its own.
func (w *world) do(t testing.TB, a ask) *answer {
	t.Helper()
	c := w.dial(t)
	defer func() { c.conn.Close() }()
	return c.do(t, a)
}

// answer is a response that has been read.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a *answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// code returns the code of the JSON-RPC error in the body, or 0.
func (a *answer) code() int64 {
	var m struct {
		Error struct{ Code int64 }
	}
	if json.Unmarshal([]byte(a.body), &m) != nil {
		return 0
	}
	return m.Error.Code
}

// is checks status and error code, and that a part of the body stands there.
func (a *answer) is(t testing.TB, status int, code int64, part string) {
	t.Helper()
	if a.status != status || a.code() != code || !strings.Contains(a.body, part) {
		t.Errorf("want %d with code %d and %q, got %s", status, code, part, a)
	}
}

const sessionHeader = "Mcp-Session-Id"

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// modern is a request of the modern era. name is what Mcp-Name says, members come before _meta; "" for none.
func modern(method, name, members string, head ...string) ask {
	lines := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	if name != "" {
		lines = append(lines, "Mcp-Name: "+name)
		members = fmt.Sprintf(`"name":%q,`, name) + members
	}
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(head, func(own string) bool { return strings.EqualFold(fieldName(own), fieldName(line)) })
	})
	return ask{head: append(lines, head...), body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, members, meta)}
}

// legacy is a request in a session, or in none where that is "".
func legacy(session, method, params string, head ...string) ask {
	if params == "" {
		params = "{}"
	}
	if session != "" {
		head = append(head, sessionHeader+": "+session, "MCP-Protocol-Version: 2025-11-25")
	}
	return ask{head: head, body: fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, method, params)}
}

// initialize asks for a session on a revision.
func initialize(version string, head ...string) ask {
	return ask{head: head, body: fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, version)}
}

// session opens a session and returns its id.
func (c *wire) session(t testing.TB, head ...string) string {
	t.Helper()
	a := c.do(t, initialize("2025-11-25", head...))
	id := a.header.Get(sessionHeader)
	if a.status != 200 || id == "" {
		t.Fatalf("initialize: %s, session %q", a, id)
	}
	told := ask{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, head: append(head, sessionHeader+": "+id)}
	if a := c.do(t, told); a.status != 202 || a.body != "" {
		t.Fatalf("initialized: %s", a)
	}
	return id
}

// eventually waits, within bounds, for what another goroutine brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
