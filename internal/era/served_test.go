package era_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// The rows of refusal that no codec judges are written down from a whole server over HTTP: row 1 is the binding's, rows 9
// to 12 are the server's. Headers that every request has are left out of the file.

type servedStep struct {
	row    string
	method string // of HTTP; empty means POST
	header map[string]string
	call   string // method of the call
	params string // its params without braces
	body   string // sent instead of a call
}

var servedRows = []servedStep{
	{row: "1: HTTP method", method: http.MethodPut},
	{row: "1: Host", header: map[string]string{"Host": "elsewhere.example"}, call: "tools/list"},
	{row: "1: Origin", header: map[string]string{"Origin": "https://elsewhere.example"}, call: "tools/list"},
	{row: "1: media type", header: map[string]string{"Content-Type": "text/plain"}, call: "tools/list"},
	{row: "1: Accept", header: map[string]string{"Accept": "text/html"}, call: "tools/list"},
	{row: "1: size", header: map[string]string{"Content-Type": "application/json"}, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"` + strings.Repeat("x", servedBody) + `"}}`},
	{row: "1: JSON", body: `{"jsonrpc":"2.0","id":1,`},
	{row: "9: no such tool", call: "tools/call", params: `"name":"nothing"`},
	{row: "9: no such prompt", call: "prompts/get", params: `"name":"nothing"`},
	{row: "9: no such resource", call: "resources/read", params: `"uri":"book:0"`},
	{row: "10: a header that repeats an argument", header: map[string]string{"Mcp-Param-City": "Bergen"}, call: "tools/call", params: `"name":"forecast","arguments":{"city":"Oslo"}`},
	{row: "11: a capability the request does not declare", header: map[string]string{"Mcp-Param-City": "Oslo"}, call: "tools/call", params: `"name":"forecast","arguments":{"city":"Oslo"}`},
	{row: "12: the state", header: map[string]string{"Mcp-Param-City": "Oslo"}, call: "tools/call", params: `"name":"forecast","arguments":{"city":"Oslo"},"requestState":"forged"`},
	{row: "12: a parameter of the method", call: "tools/call", params: `"name":"forecast","arguments":[]`},
	{row: "12: an argument of the tool", call: "tools/call", params: `"name":"forecast","arguments":{}`},
}

const servedBody = 2048

func servedServer(t *testing.T) *server.Server {
	s := server.New(mcp.Implementation{Name: "library", Version: "1.0.0"}, server.Options{HTTP: server.HTTPOptions{MaxBodyBytes: servedBody}})
	err := s.AddRawTool(mcp.Tool{
		Name:        "forecast",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}},"required":["city"]}`),
	}, func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return nil, mcp.NeedInput().ListRoots("where")
	})
	if err != nil {
		t.Fatal(err)
	}
	s.AddPrompt(mcp.Prompt{Name: "review"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	s.AddResource(mcp.Resource{URI: "book:1", Name: "one"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	return s
}

// TestServedRefusals holds the answers of a whole server to what rows 1 and 9 to 12 refuse.
func TestServedRefusals(t *testing.T) {
	for _, tc := range []struct{ era, revision string }{{"legacy", mcp.Version20251125}, {"modern", mcp.Version20260728}} {
		t.Run(tc.era, func(t *testing.T) {
			s := servedServer(t)
			h := s.Handler()
			defer func() {
				if err := s.Shutdown(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			}()
			session := ""
			if tc.era == "legacy" {
				w := servedStep{call: "initialize", params: `"protocolVersion":"` + tc.revision + `","capabilities":{},"clientInfo":{"name":"reader","version":"2.0.0"}`}.send(h, tc.revision, "")
				session = w.Header().Get("Mcp-Session-Id")
				servedStep{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`}.send(h, tc.revision, session)
			}
			var out bytes.Buffer
			fmt.Fprintf(&out, "# testdata/%s/%s: what a server refuses over HTTP before and behind the codec; row, headers that differ, frames\n", tc.era, servedFile)
			check := checkFor(t, tc.revision)
			for _, step := range servedRows {
				w := step.send(h, tc.revision, session)
				step.write(&out, w, tc.era == "modern")
				if answer := bytes.TrimSpace(w.Body.Bytes()); strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
					check.answer(t, answer, step.call)
				}
			}
			compareGolden(t, filepath.Join("testdata", tc.era, servedFile), out.String())
		})
	}
}

const servedFile = "served.txt"

func (s servedStep) frame(modern bool) string {
	if s.body != "" || s.call == "" {
		return s.body
	}
	params := s.params
	if modern {
		if params != "" {
			params += ","
		}
		params += `"_meta":{"` + mcp.MetaProtocolVersion + `":"` + mcp.Version20260728 + `","` + mcp.MetaClientInfo +
			`":{"name":"reader","version":"2.0.0"},"` + mcp.MetaClientCapabilities + `":{}}`
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + s.call + `","params":{` + params + `}}`
}

func (s servedStep) send(h http.Handler, revision, session string) *httptest.ResponseRecorder {
	method := s.method
	if method == "" {
		method = http.MethodPost
	}
	modern := mcp.IsModern(revision)
	r := httptest.NewRequest(method, "http://127.0.0.1/mcp", io.NopCloser(strings.NewReader(s.frame(modern))))
	set := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	if modern {
		set["Mcp-Protocol-Version"], set["Mcp-Method"] = revision, s.call
		var params struct{ Name, URI string }
		if json.Unmarshal([]byte("{"+s.params+"}"), &params) == nil && params.Name+params.URI != "" {
			set["Mcp-Name"] = params.Name + params.URI
		}
	} else if session != "" {
		set["Mcp-Protocol-Version"], set["Mcp-Session-Id"] = revision, session
	}
	for _, headers := range []map[string]string{set, s.header} {
		for name, value := range headers {
			if r.Header.Set(name, value); name == "Host" {
				r.Host = value
			}
		}
	}
	r.Header.Del("Host")
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, loopback))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func (s servedStep) write(out io.Writer, w *httptest.ResponseRecorder, modern bool) {
	fmt.Fprintf(out, "\n# row %s\n", s.row)
	var names []string
	for name := range s.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(out, "H> %s: %s\n", name, s.header[name])
	}
	if s.method != "" {
		fmt.Fprintf(out, "C> %s\n", s.method)
	} else {
		fmt.Fprintf(out, "C> %s\n", strings.ReplaceAll(s.frame(modern), strings.Repeat("x", servedBody), "xxx..."))
	}
	fmt.Fprintf(out, "S> %d %s\n", w.Code, strings.TrimSpace(w.Body.String()))
}

// compareGolden compares with a golden file, or rewrites it.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run with -update and read what it writes", err)
	}
	if got != string(want) {
		t.Errorf("the transcript has changed.\ngot:\n%s\nwant:\n%s", got, want)
	}
}
