package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	rialto "github.com/rialto-mcp/rialto/server"
)

const markedSchema = `{"type":"object","properties":{
	"text":{"type":"string","x-mcp-header":"Text"},
	"count":{"type":"integer","x-mcp-header":"Count"},
	"flag":{"type":"boolean","x-mcp-header":"Flag"},
	"plain":{"type":"number"},
	"place":{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"level":{"type":"integer","x-mcp-header":"Level"}}}}}`

// strict is our own server over HTTP, which refuses a call whose headers do not repeat what they should, and notes them.
type strict struct {
	*rialto.Server
	url string

	mu     sync.Mutex
	calls  [][]string // the Mcp-Param headers of each call
	posts  []string   // the methods
	params []string   // the Mcp-Param headers of all requests
}

func serveStrict(t *testing.T, opts rialto.Options, tools map[string]string) *strict {
	t.Helper()
	s := &strict{Server: rialto.New(mcp.Implementation{Name: "strict", Version: "1"}, opts)}
	for name, schema := range tools {
		s.add(t, name, schema)
	}
	h := s.Handler()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.note(r)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		ts.Close()
	})
	s.url = ts.URL
	return s
}

func (s *strict) add(t *testing.T, name, schema string) {
	t.Helper()
	err := s.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(_ context.Context, req *rialto.Request) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(string(req.Arguments()))}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *strict) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if method := r.Header.Get("Mcp-Method"); method != "" && method != mcp.MethodListen {
		s.posts = append(s.posts, method)
	}
	call := []string{}
	for name, values := range r.Header {
		if rest, ok := strings.CutPrefix(name, "Mcp-Param-"); ok {
			call = append(call, rest+": "+strings.Join(values, "|"))
		}
	}
	slices.Sort(call)
	s.params = append(s.params, call...)
	if r.Header.Get("Mcp-Method") == mcp.MethodCallTool {
		s.calls = append(s.calls, call)
	}
}

// last takes out what the calls so far had in their headers, and the methods of all requests.
func (s *strict) last() (calls [][]string, posts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, posts = s.calls, strings.Join(s.posts, " ")
	s.calls, s.posts = nil, nil
	return calls, posts
}

func (s *strict) dial(t *testing.T, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.DialHTTP(t.Context(), s.url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// list reads all tools, as a client does before it calls one.
func list(t *testing.T, c *client.Client) (names []string) {
	t.Helper()
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// Each value goes out in the form that the specification gives it, and the server takes it.
func TestMirrorsValues(t *testing.T) {
	cases := []struct{ name, args, want string }{
		{"text", `{"text":"us-west1"}`, "Text: us-west1"},
		{"spaces within", `{"text":"a b  c"}`, "Text: a b  c"},
		{"empty text", `{"text":""}`, "Text: "},
		{"spaces around", `{"text":" padded "}`, "Text: =?base64?IHBhZGRlZCA=?="},
		{"tab", `{"text":"a\tb"}`, "Text: =?base64?YQli?="},
		{"lines", `{"text":"a\r\nX: y"}`, "Text: =?base64?YQ0KWDogeQ==?="},
		{"not ASCII", `{"text":"Hello, 世界"}`, "Text: =?base64?SGVsbG8sIOS4lueVjA==?="},
		{"escaped", `{"text":"\u0041\/"}`, "Text: A/"},
		{"looks encoded", `{"text":"=?base64?literal?="}`, "Text: =?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{"integer", `{"count":42}`, "Count: 42"},
		{"negative", `{"count":-7}`, "Count: -7"},
		{"largest", `{"count":9007199254740991}`, "Count: 9007199254740991"},
		{"fraction of zero", `{"count":1.0}`, "Count: 1"},
		{"exponent", `{"count":12e2}`, "Count: 1200"},
		{"true", `{"flag":true}`, "Flag: true"},
		{"false", `{"flag":false}`, "Flag: false"},
		{"within objects", `{"place":{"region":"north","level":3}}`, "Level: 3, Region: north"},
		{"unmarked", `{"plain":1.5}`, ""},
		{"absent", `{}`, ""},
		{"all", `{"flag":true,"count":1,"text":"x"}`, "Count: 1, Flag: true, Text: x"},
	}
	s := serveStrict(t, rialto.Options{}, map[string]string{"marked": markedSchema})
	c := s.dial(t, client.Options{})
	list(t, c)
	s.last()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			result, err := c.CallTool(t.Context(), "marked", json.RawMessage(tc.args))
			if err != nil || result.IsError {
				t.Fatalf("got %v, %v", text(result), err)
			}
			calls, posts := s.last()
			if len(calls) != 1 || posts != mcp.MethodCallTool || strings.Join(calls[0], ", ") != tc.want {
				t.Errorf("%s was sent with %q, want %q", posts, calls, tc.want)
			}
		})
	}
}

// What has no single value has no header: the call goes out, and it is the schema that refuses it.
func TestMirrorsWithoutValue(t *testing.T) {
	s := serveStrict(t, rialto.Options{}, map[string]string{"marked": markedSchema})
	c := s.dial(t, client.Options{})
	list(t, c)
	for _, args := range []string{`{"text":null}`, `{"text":["x"]}`, `{"text":{}}`, `{"place":null}`, `{"place":"north"}`} {
		s.last()
		result, err := c.CallTool(t.Context(), "marked", json.RawMessage(args))
		if err != nil || !result.IsError {
			t.Errorf("%s: got %v, %v", args, text(result), err)
		}
		if calls, _ := s.last(); len(calls) != 1 || len(calls[0]) != 0 {
			t.Errorf("%s was sent with %q", args, calls)
		}
	}
}

// An integer that the specification calls out of range fails here, with the name of the argument, and is not sent.
func TestMirrorsOutOfRange(t *testing.T) {
	s := serveStrict(t, rialto.Options{}, map[string]string{"marked": markedSchema})
	c := s.dial(t, client.Options{})
	list(t, c)
	s.last()
	for args, argument := range map[string]string{
		`{"count":9007199254740992}`: "count", `{"count":-9007199254740992}`: "count", `{"count":92233720368547758080}`: "count",
		`{"count":1e20}`: "count", `{"count":1e999999999}`: "count", `{"place":{"level":9007199254740992}}`: "place.level",
	} {
		_, err := c.CallTool(t.Context(), "marked", json.RawMessage(args))
		var fault *mcp.Error
		if !errors.As(err, &fault) || fault.Code != mcp.CodeInvalidParams || fault.Remote || !strings.Contains(err.Error(), `"`+argument+`"`) {
			t.Errorf("%s: got %v, want an error of this side about %s", args, err, argument)
		}
	}
	if _, posts := s.last(); posts != "" {
		t.Errorf("%s was sent", posts)
	}
}

// The raw doors know the same as the typed ones; a definition that the caller gives comes before it.
func TestMirrorsRaw(t *testing.T) {
	s := serveStrict(t, rialto.Options{}, map[string]string{"marked": markedSchema})
	params := json.RawMessage(`{"name":"marked","arguments":{"text":"x"}}`)
	tool := json.RawMessage(`{"name":"marked","inputSchema":` + markedSchema + `}`)
	doors := map[string]func(c *client.Client, o client.RawOptions) error{
		"Raw": func(c *client.Client, o client.RawOptions) error {
			_, err := c.Raw(t.Context(), mcp.MethodCallTool, params, o)
			return err
		},
		"Start": func(c *client.Client, o client.RawOptions) error {
			stream, err := c.Start(t.Context(), mcp.MethodCallTool, params, o)
			if err != nil {
				return err
			}
			_, err = stream.Result()
			return err
		},
	}
	for name, call := range doors {
		t.Run(name, func(t *testing.T) {
			c := s.dial(t, client.Options{})
			s.last()
			if err := call(c, client.RawOptions{Tool: tool}); err != nil {
				t.Errorf("with a definition: %v", err)
			}
			if calls, posts := s.last(); fmt.Sprint(calls) != "[[Text: x]]" || posts != mcp.MethodCallTool {
				t.Errorf("with a definition %s was sent with %q", posts, calls)
			}
			err := call(c, client.RawOptions{Tool: json.RawMessage(`{"name":"marked","inputSchema":{}}`)})
			if !errors.Is(err, mcp.CodeHeaderMismatch) {
				t.Errorf("with a wrong definition: %v", err)
			}
			if _, posts := s.last(); posts != mcp.MethodCallTool {
				t.Errorf("with a wrong definition %s was sent", posts)
			}
			for _, broken := range []string{`[]`, `{"inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}}`} {
				if err := call(c, client.RawOptions{Tool: json.RawMessage(broken)}); err == nil || !strings.Contains(err.Error(), "RawOptions.Tool") {
					t.Errorf("%s: %v", broken, err)
				}
			}
			s.last()
			if _, err := c.Raw(t.Context(), mcp.MethodListTools, nil, client.RawOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := call(c, client.RawOptions{}); err != nil {
				t.Errorf("after a list: %v", err)
			}
			if calls, posts := s.last(); fmt.Sprint(calls) != "[[Text: x]]" || posts != "tools/list tools/call" {
				t.Errorf("after a list %s was sent with %q", posts, calls)
			}
		})
	}
}

// A tool that was never listed, and one that has changed since, cost one list and one repetition; then they are known.
func TestMirrorsRefused(t *testing.T) {
	const renamed = `{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Words"}}}`
	tools := map[string]string{"a": `{"type":"object"}`, "marked": markedSchema, "z": `{"type":"object"}`}
	s := serveStrict(t, rialto.Options{PageSize: 1}, tools)
	c := s.dial(t, client.Options{})
	call := func() {
		t.Helper()
		if result, err := c.CallTool(t.Context(), "marked", map[string]any{"text": "x"}); err != nil || text(result) != `{"text":"x"}` {
			t.Errorf("got %q, %v", text(result), err)
		}
	}
	s.last()
	call()
	calls, posts := s.last()
	if rest, ok := strings.CutPrefix(posts, "tools/call tools/list"); !ok || !strings.HasSuffix(rest, " tools/call") || strings.Count(posts, "call") != 2 ||
		fmt.Sprint(calls) != "[[] [Text: x]]" {
		t.Errorf("never listed: %s was sent with %q", posts, calls)
	}
	call()
	if calls, posts := s.last(); posts != "tools/call" || fmt.Sprint(calls) != "[[Text: x]]" {
		t.Errorf("known: %s was sent with %q", posts, calls)
	}
	s.add(t, "marked", renamed)
	call()
	if calls, _ := s.last(); fmt.Sprint(calls) != "[[Text: x] [Words: x]]" {
		t.Errorf("changed: sent with %q", calls)
	}
	call()
	if calls, posts := s.last(); posts != "tools/call" || fmt.Sprint(calls) != "[[Words: x]]" {
		t.Errorf("known anew: %s was sent with %q", posts, calls)
	}
	s.add(t, "marked", `{"type":"object"}`)
	list(t, c)
	s.last()
	call()
	if calls, posts := s.last(); posts != "tools/call" || fmt.Sprint(calls) != "[[]]" {
		t.Errorf("no longer marked: %s was sent with %q", posts, calls)
	}
}

// A server that refuses whatever comes is asked twice at most, and its own error is what the caller gets.
func TestMirrorsRefusedForGood(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":{id},"result":{"tools":[{"name":"marked","inputSchema":` + markedOneLine + `}]}}`
	const broken = `{"jsonrpc":"2.0","id":{id},"result":{"tools":[{"name":"marked","inputSchema":{"properties":{"a":{"x-mcp-header":""}}}}]}}`
	const empty = `{"jsonrpc":"2.0","id":{id},"result":{"tools":[]}}`
	cases := []struct{ name, list, sent, fault string }{
		{"always", list, "tools/call tools/list tools/call", ""},
		{"not in the list", empty, "tools/call tools/list", ""},
		{"declared wrongly", broken, "tools/call tools/list", "must be a non-empty string"},
		{"no list", rpcError(-32603), "tools/call tools/list", `headers for tool "marked"`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, reactions{
				"server/discover": answer(200, jsonType, discoverOK), "tools/list": answer(200, jsonType, tc.list),
				"tools/call": answer(400, jsonType, rpcError(-32020)),
			})
			faults := make(chan error, 10)
			c, err := client.DialHTTP(t.Context(), s.URL, client.Options{OnError: func(err error) { faults <- err }})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.CallTool(t.Context(), "marked", map[string]any{"text": "x"})
			var fault *mcp.Error
			if !errors.As(err, &fault) || fault.Code != mcp.CodeHeaderMismatch || !fault.Remote {
				t.Errorf("got %v", err)
			}
			if got := s.sent(); got != "server/discover "+tc.sent {
				t.Errorf("sent were %s", got)
			}
			if tc.fault != "" {
				if err := <-faults; !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("reported was %v", err)
				}
			}
		})
	}
}

const markedOneLine = `{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}`

// What a client knows of a list that has changed is used until the new one is read.
func TestMirrorsStale(t *testing.T) {
	s := serveStrict(t, rialto.Options{}, map[string]string{"marked": markedSchema})
	c := s.dial(t, client.Options{})
	list(t, c)
	changed := make(chan struct{}, 1)
	defer c.OnToolsChange(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for told := false; !told; { // the stream opens in the background
		s.add(t, "other", `{"type":"object"}`)
		s.RemoveTool("other")
		select {
		case <-changed:
			told = true
		case <-t.Context().Done():
			t.Fatal("no news")
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.last()
	if _, err := c.CallTool(t.Context(), "marked", map[string]any{"text": "x"}); err != nil {
		t.Error(err)
	}
	if calls, posts := s.last(); posts != "tools/call" || fmt.Sprint(calls) != "[[Text: x]]" {
		t.Errorf("%s was sent with %q", posts, calls)
	}
}

// wrongTools declare headers in ways that the specification forbids; the others are good.
func wrongTools() (page string, wrong map[string]string) {
	property := func(p string) string { return `{"type":"object","properties":{` + p + `}}` }
	schemas := map[string]string{
		"empty":          property(`"a":{"type":"string","x-mcp-header":""}`),
		"object":         property(`"a":{"type":"object","x-mcp-header":"A"}`),
		"array":          property(`"a":{"type":"array","x-mcp-header":"A"}`),
		"null":           property(`"a":{"type":"null","x-mcp-header":"A"}`),
		"number":         property(`"a":{"type":"number","x-mcp-header":"A"}`),
		"several types":  property(`"a":{"type":["string","null"],"x-mcp-header":"A"}`),
		"twice":          property(`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}`),
		"twice by case":  property(`"a":{"type":"string","x-mcp-header":"Ab"},"b":{"type":"string","x-mcp-header":"aB"}`),
		"space":          property(`"a":{"type":"string","x-mcp-header":"My A"}`),
		"colon":          property(`"a":{"type":"string","x-mcp-header":"A:b"}`),
		"not ASCII":      property(`"a":{"type":"string","x-mcp-header":"Région"}`),
		"control":        property(`"a":{"type":"string","x-mcp-header":"A\tb"}`),
		"under items":    property(`"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`),
		"keyword hidden": property(`"a":{"type":"number","x-mcp-\u0068eader":"A"}`),
	}
	var entries []string
	for name, schema := range schemas {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema))
	}
	entries = append(entries, `{"name":"valid","inputSchema":`+markedOneLine+`}`, `{"name":"plain","inputSchema":{"type":"object"}}`)
	return `{"tools":[` + strings.Join(entries, ",") + `]}`, schemas
}

// A tool that declares headers wrongly is left out of typed lists over HTTP, alone, and reported by name; a raw list and the
// other wires keep it.
func TestMirrorsWrongDeclarations(t *testing.T) {
	page, wrong := wrongTools()
	body := `{"jsonrpc":"2.0","id":{id},"result":` + page + `}`
	s := serve(t, reactions{"server/discover": answer(200, jsonType, discoverOK), "tools/list": answer(200, jsonType, body)})
	var mu sync.Mutex
	var faults []string
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{OnError: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, err.Error())
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := list(t, c); !slices.Equal(got, []string{"valid", "plain"}) {
		t.Errorf("listed are %q", got)
	}
	mu.Lock()
	for name := range wrong {
		if !slices.ContainsFunc(faults, func(f string) bool {
			return strings.Contains(f, fmt.Sprintf("%q", name)) && strings.Contains(f, "x-mcp-header at /properties/")
		}) {
			t.Errorf("%q is not among the faults %q", name, faults)
		}
	}
	mu.Unlock()
	raw, err := c.Raw(t.Context(), mcp.MethodListTools, nil, client.RawOptions{})
	if err != nil || string(raw.Result) != page {
		t.Errorf("a raw list is %s, %v", raw.Result, err)
	}
	tools, _ := mcp.Member(raw.Result, "tools")
	var entries []json.RawMessage
	if err := json.Unmarshal(tools, &entries); err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name, _ := mcp.Meta(entry).Text("name")
		if _, isWrong := wrong[name]; isWrong != (c.CheckTool(entry) != nil) {
			t.Errorf("CheckTool answers %v for %s", c.CheckTool(entry), entry)
		}
	}

	old := serve(t, reactions{
		"server/discover": answer(404, "text/plain", "no"), "initialize": answer(200, jsonType, initializOK), "tools/list": answer(200, jsonType, body),
	})
	legacy, err := client.DialHTTP(t.Context(), old.URL, client.Options{Mode: client.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	defer legacy.Close()
	conn, p := play(modern(script{"tools/list": result(page)}))
	defer p.conn.Close()
	for name, c := range map[string]*client.Client{"legacy HTTP": legacy, "modern, in memory": connect(t, conn, client.Options{})} {
		if got := list(t, c); len(got) != len(wrong)+2 {
			t.Errorf("%s: listed are %q", name, got)
		}
		if err := c.CheckTool(entries[0]); err != nil {
			t.Errorf("%s: CheckTool answers %v", name, err)
		}
	}
}

// Off HTTP and on the legacy era nothing is repeated, and nothing refused for it.
func TestMirrorsElsewhere(t *testing.T) {
	s := serveStrict(t, rialto.Options{}, map[string]string{"marked": markedSchema})
	c := s.dial(t, client.Options{Mode: client.Legacy})
	list(t, c)
	result, err := c.CallTool(t.Context(), "marked", json.RawMessage(`{"text":"x","count":9007199254740992}`))
	if err != nil || result.IsError {
		t.Errorf("got %q, %v", text(result), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.params) > 0 {
		t.Errorf("sent were %q", s.params)
	}
}

// Calls and lists may run at once.
func TestMirrorsConcurrent(t *testing.T) {
	s := serveStrict(t, rialto.Options{}, map[string]string{"marked": markedSchema})
	c := s.dial(t, client.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if _, err := c.CallTool(t.Context(), "marked", map[string]any{"text": "x"}); err != nil {
					t.Error(err)
				}
				if _, err := c.ListTools(t.Context(), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
