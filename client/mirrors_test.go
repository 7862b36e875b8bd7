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

const markedOneLine = `{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}`

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
