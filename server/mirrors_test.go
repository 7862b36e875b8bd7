package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// A raw handler that answers for tools which are not registered checks what headers repeat as the server does for its own.
func TestMirrorsOfFallback(t *testing.T) {
	mirrors, err := server.NewMirrors(json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(mcp.Implementation{Name: "relay", Version: "1"}, server.Options{
		Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}},
		Fallback: func(_ context.Context, req *server.Request) (*server.RawResult, error) {
			if err := mirrors.Check(req); err != nil {
				return nil, err
			}
			return &server.RawResult{Result: json.RawMessage(`{"content":[]}`)}, nil
		},
	})
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	cases := []struct {
		name, args, header string
		status             int
		want               string
	}{
		{"the same", `{"region":"north"}`, "north", 200, `"content":[]`},
		{"encoded", `{"region":"north"}`, "=?base64?bm9ydGg=?=", 200, `"content":[]`},
		{"another", `{"region":"north"}`, "south", 400, `-32020`},
		{"missing", `{"region":"north"}`, "", 400, `-32020`},
		{"nothing to repeat", `{}`, "", 200, `"content":[]`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"there","arguments":` + tc.args + `,` + meta + `}}`
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
				"Mcp-Method": "tools/call", "Mcp-Name": "there", "Mcp-Param-Region": tc.header,
			} {
				if value != "" {
					req.Header.Set(name, value)
				}
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tc.status || !strings.Contains(string(got), tc.want) {
				t.Errorf("got %d %s (%v), want %d with %s", resp.StatusCode, got, err, tc.status, tc.want)
			}
		})
	}
}

func TestNewMirrors(t *testing.T) {
	if m, err := server.NewMirrors(json.RawMessage(`{"type":"object"}`)); m != nil || err != nil {
		t.Errorf("a schema without declarations: %v, %v", m, err)
	}
	if m, err := server.NewMirrors(json.RawMessage(`{"properties":{"n":{"type":"number","x-mcp-header":"N"}}}`)); m != nil || err == nil {
		t.Errorf("a wrong declaration: %v, %v", m, err)
	}
}
