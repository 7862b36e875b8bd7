package cases_test

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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

const (
	modernRevision = mcp.Version20260728
	legacyRevision = mcp.Version20251125
	allowedOrigin  = "https://app.example"
	bodyLimit      = 8 << 10 // bytes of one body
	batchLimit     = 4
)

// library is a server that can break every row of the table of refusals: a tool whose argument a header repeats and whose
// handler needs a capability, a prompt, a resource, an extension, a method of a vendor.
func library(opts server.Options) *server.Server {
	opts.Extensions = []mcp.Extension{{
		Identifier: "com.example/shelf", Requests: []string{"shelf/sort"}, NameParam: map[string]string{"shelf/sort": "shelf"},
	}}
	opts.MaxBatch = batchLimit
	opts.HTTP.MaxBodyBytes = bodyLimit
	s := server.New(mcp.Implementation{Name: "library", Version: "1.0.0"}, opts)
	tool := func(name, schema string, h server.ToolHandler) {
		if err := s.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, h); err != nil {
			panic(err)
		}
	}
	tool("forecast", `{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"},"days":{"type":"integer","x-mcp-header":"Days"}},"required":["city"]}`,
		func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			if answer, _ := req.InputResponses().Roots("where"); answer != nil {
				return mcp.TextResult("dry"), nil
			}
			return nil, mcp.NeedInput().ListRoots("where")
		})
	tool("echo", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`,
		func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: req.Arguments()}, nil
		})
	tool("fail", `{"type":"object","properties":{"code":{"type":"integer"}}}`,
		func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			code, _ := jsonrpc.Member(req.Arguments(), "code")
			n, err := strconv.ParseInt(string(code), 10, 64)
			if err != nil {
				return nil, errors.New("the plain error of a handler")
			}
			return nil, mcp.Errorf(mcp.Code(n), "the handler says so")
		})
	s.AddPrompt(mcp.Prompt{Name: "review"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	s.AddResource(mcp.Resource{URI: "book:1", Name: "one"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{URI: "book:1", Text: "once"}}}, nil
	})
	sorted := func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(`{"sorted":true}`)}, nil
	}
	s.Handle("shelf/sort", sorted)
	s.Handle("vendor.example/sort", sorted)
	s.Handle("vendor.example/lost", func(context.Context, *server.Request) (*server.RawResult, error) {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "the handler says so")
	})
	return s
}

// place is a server behind a real listener.
type place struct {
	server *server.Server
	addr   string
}

func open(t testing.TB, opts server.Options) *place {
	t.Helper()
	s := library(opts)
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		web.Close()
	})
	return &place{server: s, addr: web.Listener.Addr().String()}
}

// post is one HTTP request, of which the bytes are written as they stand here.
type post struct {
	method  string // empty means POST
	headers [][2]string
	body    string
	length  string // in place of the body's own length; "-" for chunks
}

// with sets a header in place of what is there, or takes it away when the value is empty; it leaves p as it is.
func (p post) with(name, value string) post {
	kept := make([][2]string, 0, len(p.headers)+1)
	for _, h := range p.headers {
		if !strings.EqualFold(h[0], name) {
			kept = append(kept, h)
		}
	}
	if value != "" {
		kept = append(kept, [2]string{name, value})
	}
	p.headers = kept
	return p
}

// also adds a header beside what is there.
func (p post) also(name, value string) post {
	p.headers = append(append([][2]string(nil), p.headers...), [2]string{name, value})
	return p
}

// as gives the request another body.
func (p post) as(body string) post {
	p.body = body
	return p
}

func (p post) by(method string) post {
	p.method = method
	return p
}

// plainPost is a request with the headers that every client sends.
func plainPost(body string) post {
	return post{body: body, headers: [][2]string{
		{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"},
	}}
}

func (p post) bytes(addr string) string {
	method := p.method
	if method == "" {
		method = http.MethodPost
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s /mcp HTTP/1.1\r\n", method)
	if !p.has("Host") {
		fmt.Fprintf(&b, "Host: %s\r\n", addr)
	}
	for _, h := range p.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	switch {
	case p.length == "-":
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(p.body), p.body)
		return b.String()
	case p.length != "":
		fmt.Fprintf(&b, "Content-Length: %s\r\n", p.length)
	case p.body != "" || method == http.MethodPost:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(p.body))
	}
	b.WriteString("Connection: close\r\n\r\n")
	b.WriteString(p.body)
	return b.String()
}

func (p post) has(name string) bool {
	for _, h := range p.headers {
		if strings.EqualFold(h[0], name) {
			return true
		}
	}
	return false
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

// send writes a request to a connection of its own and reads the response; of a stream only the head and the first event.
func (w *place) send(t testing.TB, p post) *reply {
	t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, p.bytes(w.addr)); err != nil {
		t.Fatal(err)
	}
	method := p.method
	if method == "" {
		method = http.MethodPost
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no response to %q: %v", p.bytes(w.addr), err)
	}
	defer resp.Body.Close()
	r := &reply{status: resp.StatusCode, header: resp.Header}
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		r.body = firstEvent(t, resp.Body)
		return r
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("the response to %q breaks off: %v", p.bytes(w.addr), err)
	}
	r.body = strings.TrimSpace(string(text))
	return r
}

// firstEvent returns the data of the first event that has any, or "" where there is none yet within half a second.
func firstEvent(t testing.TB, body io.Reader) string {
	t.Helper()
	data := make(chan string, 1)
	go func() { // ends with the connection
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && text != "" {
				data <- text
				return
			}
		}
		data <- ""
	}()
	select {
	case text := <-data:
		return text
	case <-time.After(500 * time.Millisecond):
		return ""
	}
}

// answer is one row: what has to come back.
type answer struct {
	status int
	code   int64  // of the JSON-RPC error; 0 for none
	id     string // the raw id; "" for none
	data   string // the raw data of the error; "" for none, "*" for any
	text   string // what the body holds; "" for anything
	allow  string // the header Allow
}

// frame is a JSON-RPC answer taken apart.
type frame struct {
	id, data string
	code     int64
	isError  bool
}

// read takes an answer apart; ok is false for what is no JSON-RPC message.
func read(text string) (f frame, ok bool) {
	raw := json.RawMessage(text)
	if !json.Valid(raw) {
		return f, false
	}
	version, _ := jsonrpc.Member(raw, "jsonrpc")
	id, _ := jsonrpc.Member(raw, "id")
	fault, failed := jsonrpc.Member(raw, "error")
	data, _ := jsonrpc.Member(fault, "data")
	code, _ := jsonrpc.Member(fault, "code")
	n, err := strconv.ParseInt(string(code), 10, 64)
	return frame{string(id), string(data), n, failed}, string(version) == `"2.0"` && (!failed || err == nil)
}

func (a answer) check(t testing.TB, got *reply) {
	t.Helper()
	if got.status != a.status {
		t.Errorf("status %d, want %d: %s", got.status, a.status, got.body)
	}
	a.checkBody(t, got.body)
	if allow := got.header.Get("Allow"); allow != a.allow {
		t.Errorf("Allow is %q, want %q", allow, a.allow)
	}
}

// checkBody compares a body, or a line of a pipe.
func (a answer) checkBody(t testing.TB, body string) {
	t.Helper()
	f, ok := read(body)
	switch {
	case a.code != 0 && !ok:
		t.Errorf("want a JSON-RPC error %d, got %q", a.code, body)
	case f.code != a.code:
		t.Errorf("code %d, want %d: %s", f.code, a.code, body)
	case a.code != 0 && f.id != a.id:
		t.Errorf("id %q, want %q: %s", f.id, a.id, body)
	case a.code != 0 && a.data != "*" && f.data != a.data:
		t.Errorf("data %s, want %s", f.data, a.data)
	}
	if !strings.Contains(body, a.text) {
		t.Errorf("want %q in %s", a.text, body)
	}
	if strings.Contains(body, `"id":null`) {
		t.Errorf("an answer names no null id: %s", body)
	}
}

// row is one line of a table.
type row struct {
	name string
	post post
	want answer
}

// run sends every request of a table.
func run(t *testing.T, w *place, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { r.want.check(t, w.send(t, r.post)) })
	}
}

// session opens a legacy session and returns its id.
func (w *place) session(t testing.TB, revision string) string {
	t.Helper()
	got := w.send(t, plainPost(hello(revision)))
	id := got.header.Get("Mcp-Session-Id")
	if got.status != 200 || id == "" {
		t.Fatalf("initialize: %d %s", got.status, got.body)
	}
	if got := w.send(t, plainPost(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).with("Mcp-Session-Id", id)); got.status != 202 || got.body != "" {
		t.Fatalf("initialized: %d %s", got.status, got.body)
	}
	return id
}

func hello(revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, revision)
}

// claim is a _meta of the modern era with the version given.
func claim(version string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}`, version)
}

// call is a modern request with its headers; params are members with a comma behind each.
func call(method, name, params string) post {
	p := plainPost(`{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":{`+params+claim(modernRevision)+`}}`).
		with("MCP-Protocol-Version", modernRevision).with("Mcp-Method", method)
	return p.with("Mcp-Name", name)
}
