package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorder stands between a client and a server over HTTP and keeps what passes.
type recorder struct {
	mu        sync.Mutex
	exchanges []*exchange
}

// exchange is one HTTP request and its answer, which may be a stream.
type exchange struct {
	header  http.Header
	request []byte
	status  int

	mu     sync.Mutex
	answer bytes.Buffer
}

func (e *exchange) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answer.Write(p)
}

// record lets a client work with a server and returns the frames that passed.
func record(t *testing.T, server string, work func(address string)) frames {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	web := httptest.NewServer(r.proxy(target))
	defer web.Close()
	work(web.URL + target.Path)
	r.mu.Lock()
	defer r.mu.Unlock()
	return framesOf(t, r.exchanges)
}

// drive lets a driver run a plan.
func drive(t *testing.T, driver string, plan Plan) func(address string) {
	return func(address string) {
		i := slices.IndexFunc(Drivers(), func(d Driver) bool { return d.Name == driver })
		if report := Drivers()[i].Run(t, Target{URL: address}, plan); report.Error != nil {
			t.Fatalf("%s: connect: %s", driver, report.Error.Message)
		}
	}
}

// proxy passes everything on.
func (r *recorder) proxy(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		FlushInterval: -1, // streams pass as they flow
		Transport:     r,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = target.Scheme, target.Host, ""
		},
	}
}

// RoundTrip keeps the request, and the answer while it is read.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	e := &exchange{header: req.Header.Clone()}
	if req.Body != nil {
		var err error
		if e.request, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(e.request))
	}
	req.Header.Set("Accept-Encoding", "identity") // what is kept should be readable
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	e.status = res.StatusCode
	r.mu.Lock()
	r.exchanges = append(r.exchanges, e)
	r.mu.Unlock()
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(res.Body, e), res.Body}
	return res, nil
}

// frames are the shapes of what passed, by what it was: "tools/call 2 request" is the second call of the plan.
type frames map[string][]string

// framesOf takes every POST apart. Frames of one kind are told apart by their order, which is that of the plan.
func framesOf(t *testing.T, exchanges []*exchange) frames {
	t.Helper()
	all, seen := frames{}, map[string]int{}
	for _, e := range exchanges {
		var head struct {
			Method string          `json:"method"`
			ID     json.RawMessage `json:"id"`
		}
		if len(e.request) == 0 || json.Unmarshal(e.request, &head) != nil {
			continue // a stream that is opened, a session that ends
		}
		seen[head.Method]++
		name := fmt.Sprintf("%s %d", head.Method, seen[head.Method])
		all[name+" request"] = append(shapeOf(t, e.request), headers(e.header)...)
		e.mu.Lock()
		for _, message := range messages(e.answer.Bytes()) {
			kind := "answer"
			if method, ok := methodOf(message); ok {
				kind = method
			}
			all[name+" "+kind] = shapeOf(t, message)
		}
		all[name+" status"] = []string{fmt.Sprint(e.status)}
		e.mu.Unlock()
	}
	return all
}

func methodOf(message []byte) (string, bool) {
	var head struct {
		Method string `json:"method"`
	}
	return head.Method, json.Unmarshal(message, &head) == nil && head.Method != ""
}

// messages reads an answer: one JSON object, or the data of an event stream.
func messages(answer []byte) (out [][]byte) {
	if bytes.HasPrefix(bytes.TrimSpace(answer), []byte("{")) {
		return [][]byte{answer}
	}
	for line := range bytes.Lines(answer) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			out = append(out, data)
		}
	}
	return out
}

// headers are the names of the headers that the protocol is about.
func headers(h http.Header) (out []string) {
	for name := range h {
		if name == "Accept" || name == "Content-Type" || strings.HasPrefix(name, "Mcp-") {
			out = append(out, "header "+name)
		}
	}
	return out
}

// opaque members hold what is not the protocol's business: the application's values, and schemas, which each library
// writes in its own way.
var opaque = map[string]bool{"inputSchema": true, "outputSchema": true, "arguments": true, "structuredContent": true, "data": true}

// telling members are compared with their values.
var telling = map[string]bool{
	"jsonrpc": true, "code": true, "resultType": true, "type": true, "role": true, "isError": true, "mimeType": true,
	"protocolVersion": true, "io.modelcontextprotocol/protocolVersion": true, "listChanged": true, "subscribe": true,
}

// shapeOf lists the members of a frame as sorted paths; elements of an array count together.
func shapeOf(t *testing.T, frame []byte) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(frame, &v); err != nil {
		t.Fatalf("no JSON: %q", frame)
	}
	paths := map[string]bool{}
	walk("", "", v, paths)
	return slices.Sorted(maps.Keys(paths))
}

func walk(path, name string, v any, paths map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		paths[path+"{}"] = true
		if opaque[name] {
			return
		}
		for member, value := range v {
			walk(path+"."+member, member, value, paths)
		}
	case []any:
		paths[path+"[]"] = true
		for _, element := range v {
			walk(path+"[]", name, element, paths)
		}
	default:
		if telling[name] {
			path += fmt.Sprint("=", v)
		}
		paths[path] = true
	}
}
