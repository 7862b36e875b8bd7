package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

const (
	pageOrigin = "https://app.example" // of a page that may call
	bodyLimit  = 8 << 10               // bytes of one body
	batchLimit = 4                     // messages in one array
)

// libraryOptions are what a library needs beside its tools.
func libraryOptions(opts server.Options) server.Options {
	opts.Extensions = []mcp.Extension{{
		Identifier: "com.example/shelf", Requests: []string{"shelf/sort"}, NameParam: map[string]string{"shelf/sort": "shelf"},
	}}
	opts.MaxBatch = batchLimit
	opts.HTTP.MaxBodyBytes = bodyLimit
	return opts
}

// furnish makes a library of a server, at which every row of the table of refusals can be broken: a tool whose arguments
// headers repeat and whose handler needs a capability, a prompt, a resource, an extension, methods of a vendor.
func furnish(s *server.Server) error {
	forecast := `{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"},"days":{"type":"integer","x-mcp-header":"Days"},"unit":{"type":"string"}},"required":["city"]}`
	err := errors.Join(
		s.AddRawTool(mcp.Tool{Name: "forecast", InputSchema: json.RawMessage(forecast)}, func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			if answer, _ := req.InputResponses().Roots("where"); answer != nil {
				return mcp.TextResult("dry"), nil
			}
			return nil, mcp.NeedInput().ListRoots("where")
		}),
		s.AddRawTool(mcp.Tool{Name: "fail"}, func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			if _, after := jsonrpc.Member(req.Arguments(), "after"); after {
				req.Progress(ctx, 1, 2, "on the way") // which opens a stream
			}
			raw, _ := jsonrpc.Member(req.Arguments(), "code")
			code, err := strconv.ParseInt(string(raw), 10, 64)
			if err != nil {
				return nil, errors.New("the plain error of a handler")
			}
			return nil, mcp.Errorf(mcp.Code(code), "the handler says so")
		}),
	)
	s.AddPrompt(mcp.Prompt{Name: "review"}, func(_ context.Context, req *server.Request, _ map[string]string) (*mcp.GetPromptResult, error) {
		return nil, mcp.NeedInput().ListRoots("where")
	})
	s.AddResource(mcp.Resource{URI: "book:1", Name: "one"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{URI: "book:1", Text: "once"}}}, nil
	})
	sorted := func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(`{"sorted":true}`)}, nil
	}
	s.Handle("shelf/sort", sorted)
	s.Handle("vendor.example/sort", sorted)
	s.Handle("vendor.example/fail", func(_ context.Context, req *server.Request) (*server.RawResult, error) {
		raw, _ := jsonrpc.Member(req.Params(), "code")
		code, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return nil, errors.New("the plain error of a handler")
		}
		return nil, mcp.Errorf(mcp.Code(code), "the handler says so")
	})
	return err
}

// library is a furnished server behind a listener.
func library(t testing.TB, opts server.Options) *world {
	t.Helper()
	w := start(t, libraryOptions(opts))
	if err := furnish(w.Server); err != nil {
		t.Fatal(err)
	}
	return w
}

// wanted is what one row of a table has to be answered with.
type wanted struct {
	status int    // of HTTP; not looked at on a pipe
	code   int64  // of the JSON-RPC error; 0 for none
	id     string // of the error, as it stands there; "" for none
	data   string // of the error, as it stands there; "" for none, "*" for any
	text   string // that the body holds
	allow  string // the header Allow
}

// refusalRow is one line of a table of requests.
type refusalRow struct {
	name string
	ask  ask
	want wanted
}

// answers sends every request of a table.
func (w *world) answers(t *testing.T, rows []refusalRow) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { r.want.of(t, w.do(t, r.ask)) })
	}
}

// of checks an answer over HTTP.
func (want wanted) of(t testing.TB, a *answer) {
	t.Helper()
	if a.status != want.status {
		t.Errorf("status %d, want %d: %s", a.status, want.status, a.body)
	}
	if allow := a.header.Get("Allow"); allow != want.allow {
		t.Errorf("Allow is %q, want %q", allow, want.allow)
	}
	want.in(t, a.body)
}

// in checks a body, or a line of a pipe.
func (want wanted) in(t testing.TB, body string) {
	t.Helper()
	code, id, data, ok := errorIn(body)
	switch {
	case !ok && want.code != 0:
		t.Errorf("want an error with code %d, got %q", want.code, body)
	case code != want.code:
		t.Errorf("code %d, want %d: %s", code, want.code, body)
	case code != 0 && id != want.id:
		t.Errorf("id %q, want %q: %s", id, want.id, body)
	case code != 0 && want.data != "*" && data != want.data:
		t.Errorf("data %s, want %s", data, want.data)
	}
	if !strings.Contains(body, want.text) {
		t.Errorf("want %q in %s", want.text, body)
	}
	if strings.Contains(body, `"id":null`) {
		t.Errorf("an answer has an id or none, never null: %s", body)
	}
}

// errorIn takes a JSON-RPC error apart; ok is false for what is none.
func errorIn(body string) (code int64, id, data string, ok bool) {
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *struct {
			Code    int64           `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &m) != nil || m.Error == nil || m.JSONRPC != "2.0" || m.Error.Message == "" {
		return 0, "", "", false
	}
	return m.Error.Code, string(m.ID), string(m.Error.Data), true
}

// set puts lines in place of those of the same name; a name alone leaves the header out.
func (a ask) set(lines ...string) ask {
	for _, line := range lines {
		a.head = append(slices.DeleteFunc(slices.Clone(a.head), func(old string) bool {
			return strings.EqualFold(fieldName(old), fieldName(line))
		}), line)
	}
	return a
}

// posted is a POST of a body with no more headers than every request has.
func posted(body string, head ...string) ask { return ask{body: body, head: head} }

// by sends the request with another HTTP method.
func (a ask) by(method string) ask {
	a.method = method
	return a
}

// claims is a request of the modern era that claims a version, with the headers that repeat it.
func claims(version, method string) ask {
	return posted(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s}}`, method, claimOf(version)),
		"MCP-Protocol-Version: "+version, "Mcp-Method: "+method)
}

func claimOf(version string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}`, version)
}

const (
	served    = `{"supported":["2026-07-28"]}`
	unclaimed = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
)

// unservedData is the data of a refusal that tells which versions are served.
func unservedData(requested string) string {
	return fmt.Sprintf(`{"supported":["2026-07-28"],"requested":%q}`, requested)
}
