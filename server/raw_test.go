package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// answering is a raw handler with one answer.
func answering(result *server.RawResult, err error) server.RawHandler {
	return func(context.Context, *server.Request) (*server.RawResult, error) { return result, err }
}

func rawResult(result string) *server.RawResult {
	return &server.RawResult{Result: json.RawMessage(result)}
}

// A vendor's method exists on every revision while somebody handles it.
func TestHandle(t *testing.T) {
	for _, revision := range mcp.Versions() {
		s := newServer(server.Options{})
		w := dial(t, s, revision)
		w.want("example/add", `"a":1`, "error -32601")
		s.Handle("example/add", func(_ context.Context, r *server.Request) (*server.RawResult, error) {
			return &server.RawResult{Result: json.RawMessage(`{"got":` + member(t, r.Params(), "a") + `}`)}, nil
		})
		w.want("example/add", `"a":1.0e2`, `{"got":1.0e2}`)
		s.Handle("example/add", answering(rawResult(`{"new":true}`), nil))
		w.want("example/add", ``, `{"new":true}`)
		s.Handle("example/add", answering(nil, server.ErrUnhandled))
		w.want("example/add", ``, "error -32601")
		s.Handle("example/add", nil)
		w.want("example/add", ``, "error -32601")
	}
}

// What is no JSON object does not reach the client, and the connection lives on.
func TestRawResultsAreChecked(t *testing.T) {
	for name, result := range map[string]*server.RawResult{
		"nothing":        nil,
		"empty":          {},
		"no object":      rawResult(`[1]`),
		"cut off":        rawResult(`{"a":`),
		"two values":     rawResult(`{"a":1}{"b":2}`),
		"questions":      {InputRequests: json.RawMessage(`{"a":{"method":"roots/list"}}`)}, // no vendor's method may ask
		"trailing brace": rawResult(`{}}`),
	} {
		s := newServer(server.Options{})
		s.Handle("example/x", answering(result, nil))
		for _, revision := range bothEras {
			t.Run(name+"/"+revision, func(t *testing.T) {
				w := dial(t, s, revision)
				w.want("example/x", ``, "error -32603")
				w.want("tools/list", ``, `{"tools":[]}`)
			})
		}
	}
}

// White space around the object is no fault; line breaks never leave.
func TestRawResultWithWhiteSpace(t *testing.T) {
	s := newServer(server.Options{})
	s.Handle("example/x", answering(rawResult("\n {\"a\":\n[1,\r\n2]} \n"), nil))
	for _, revision := range bothEras {
		m := dial(t, s, revision).call("example/x", ``)
		if got := member(t, m.Result, "a"); got != "[1,2]" {
			t.Errorf("%s: got %s", revision, m.Frame())
		}
	}
}

// The fallback sees what a relay needs, and what it returns leaves token for token.
func TestFallback(t *testing.T) {
	const wild = `{"content":[{"type":"text","text":"\u0041\/"}],"n":12345678901234567890.10e5,"zz":{"b":1,"a":2},"_meta":{"k":1.0}}`
	for _, revision := range bothEras {
		var seen []string
		s := newServer(server.Options{Fallback: func(_ context.Context, r *server.Request) (*server.RawResult, error) {
			_, caps := r.Envelope()
			seen = append(seen, fmt.Sprintf("%s|%s|%s|%s|%v", r.Method(), r.Name(), r.Params(), caps, r.Principal() == nil))
			if r.Name() == "gone" || r.Method() == "example/gone" {
				return nil, server.ErrUnhandled
			}
			return rawResult(wild), nil
		}})
		rawTool(t, s, "own", nothing)
		w := dialWith(t, s, revision, `{"roots":{}}`)
		for _, call := range [][3]string{
			{"tools/call", "far", `"name":"far","arguments":{"n":1.0,"s":"\u0041"},"x":1e3`},
			{"prompts/get", "far", `"name":"far"`},
			{"resources/read", "far:1", `"uri":"far:1"`},
			{"completion/complete", "", `"ref":{"type":"ref/prompt","name":"far"},"argument":{"name":"a","value":""}`},
			{"example/far", "", `"a":[1.0]`},
		} {
			seen = nil
			m := w.call(call[0], call[2])
			want := fmt.Sprintf("%s|%s|{%s}|%s|true", call[0], call[1], call[2], `{"roots":{}}`)
			if len(seen) != 1 || seen[0] != want {
				t.Errorf("%s: the fallback should see %q, it saw %q", revision, want, seen)
			}
			for _, token := range []string{`"content":[{"type":"text","text":"\u0041\/"}]`, `"n":12345678901234567890.10e5`, `"zz":{"b":1,"a":2}`, `"k":1.0`} {
				if !strings.Contains(string(m.Result), token) {
					t.Errorf("%s: %s is missing in %s", revision, token, m.Result)
				}
			}
		}
		seen = nil
		w.want("tools/call", `"name":"own"`, `{"content":[]}`)
		if seen != nil {
			t.Errorf("%s: the fallback was asked for what is registered", revision)
		}
		w.want("tools/call", `"name":"gone"`, "error -32602")
		w.want("example/gone", ``, "error -32601")
		w.want("tools/call", `"name":"far","arguments":[1]`, "error -32602")
		if revision == legacy {
			w.want("server/discover", ``, "error -32601") // a fallback revives no method of the other era
		} else {
			w.want("ping", ``, "error -32601")
		}
	}
}

// Questions of an upstream and the answers to them pass as they are, on the era that has them.
func TestRelayedQuestions(t *testing.T) {
	const questions = `{"q":{"method":"roots/list","params":{"x":1.0}}}`
	s := newServer(server.Options{Fallback: func(_ context.Context, r *server.Request) (*server.RawResult, error) {
		responses, state := r.Retry()
		if r.Run() == 1 {
			return &server.RawResult{InputRequests: json.RawMessage(questions), RequestState: json.RawMessage(`"\u0041"`)}, nil
		}
		return &server.RawResult{Result: json.RawMessage(`{"responses":` + string(responses) + `,"state":` + string(state) + `,"params":` + string(r.Params()) + `}`)}, nil
	}})
	w := dial(t, s, modern)
	w.want("tools/call", `"name":"x"`, `{"inputRequests":`+questions+`,"requestState":"\u0041"}`)
	w.want("tools/call", `"name":"x","inputResponses":{"q":{"roots":[1.0]}},"requestState":"\u0041"`,
		`{"responses":{"q":{"roots":[1.0]}},"state":"\u0041","params":{"name":"x"}}`)
	w.want("tools/call", `"name":"x","inputResponses":[1]`, "error -32602")
	w.want("tools/call", `"name":"x","requestState":7`, `error -32602 {"reason":"invalid_request_state"}`)

	// Where the revision has no rounds they are asked on the way.
	w = dialWith(t, s, legacy, `{"roots":{}}`)
	w.start("tools/call", `"name":"x","requestState":"forged"`)
	w.Reply(w.Expect(`{"method":"roots/list","params":{"x":1}}`), `{"roots":[1.0]}`)
	if got, want := plain(w.Next()), `{"responses":{"q":{"roots":[1.0]}},"state":"\u0041","params":{"name":"x"}}`; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	refusedToAsk(t, "tools/call", dial(t, s, legacy).call("tools/call", `"name":"x"`), "roots")
}

// An output that the upstream lists with a schema that is no object is wrapped for legacy clients as the list is.
func TestRelayedWrap(t *testing.T) {
	s := newServer(server.Options{Fallback: func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(`{"content":[],"structuredContent":{"a":1.0}}`), WrapOutput: true}, nil
	}})
	dial(t, s, legacy).want("tools/call", `"name":"x"`, `{"content":[],"structuredContent":{"result":{"a":1.0}}}`)
	dial(t, s, modern).want("tools/call", `"name":"x"`, `{"content":[],"structuredContent":{"a":1.0}}`)
}

// An extension's methods exist where it is enabled, and for those who declare it.
func TestExtensions(t *testing.T) {
	shelf := mcp.Extension{Identifier: "com.example/shelf", Settings: json.RawMessage(`{"depth":2}`), Requests: []string{"shelf/sort", "tasks/get"}}
	closed := newServer(server.Options{})
	open := newServer(server.Options{Extensions: []mcp.Extension{shelf}})
	for _, method := range shelf.Requests {
		open.Handle(method, answering(rawResult(`{"ok":true}`), nil))
	}
	dial(t, closed, modern).want("shelf/sort", ``, "error -32601")
	w := dial(t, open, modern)
	w.want("shelf/sort", ``, `error -32021 {"requiredCapabilities":{"extensions":{"com.example/shelf":{}}}}`)
	w.want("server/discover", ``, `{"supportedVersions":["2026-07-28"],"capabilities":{"logging":{},"extensions":{"com.example/shelf":{"depth":2}}}}`)
	w.caps = `{"extensions":{"com.example/shelf":{}}}`
	w.want("shelf/sort", ``, `{"ok":true}`)
	w.want("tasks/get", ``, `{"ok":true}`) // of the specification in another revision, here by the extension
	open.Handle("shelf/sort", nil)
	w.want("shelf/sort", ``, "error -32601") // enabled, but nobody serves it
}
