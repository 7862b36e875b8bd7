package bridge_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// regional registers a tool with an argument that the header Mcp-Param-<header> repeats.
func regional(header string) func(*server.Server) {
	return func(s *server.Server) {
		tool := mcp.Tool{Name: "where", InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"region":{"type":"string","x-mcp-header":"` + header + `"},"level":{"type":"integer","x-mcp-header":"Level"}}}`)}
		err := s.AddRawTool(tool, func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("in " + string(req.Arguments()) + req.Header("Mcp-Param-"+header))}}, nil
		})
		if err != nil {
			panic(err)
		}
	}
}

// TestMirrors: a tool with arguments that headers repeat is reached by clients of both eras, over HTTP and in memory,
// under a name that the gateway has made. The headers of the upstream are made from the body.
func TestMirrors(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{},
			backend{name: "a", modern: upModern, http: true, fill: regional("Region")}, backend{name: "b", modern: upModern, fill: regional("Other")})
		seen := `in {"region":"Zürich"}`
		if upModern {
			seen += "=?base64?WsO8cmljaA==?="
		}
		for door, dial := range map[string]func(*testing.T, bool, client.Options) *client.Client{"in memory": w.dial, "HTTP": w.dialHTTP} {
			c := dial(t, modern, client.Options{})
			var name string
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(tool.Name, "a") {
					name = tool.Name
				}
			}
			for range 2 { // a second client has not listed
				got, err := c.CallTool(t.Context(), name, map[string]any{"region": "Zürich"})
				if err != nil || got.Text() != seen {
					t.Errorf("%s: %q answers %+v, %v; want %s", door, name, got, err, seen)
				}
				c = dial(t, modern, client.Options{})
			}
		}
	})
}

// TestMirrorsChanged holds that a server which declares other headers than it listed is reached all the same.
func TestMirrorsChanged(t *testing.T) {
	for _, modern := range []bool{false, true} {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: true, http: true, fill: regional("Region")})
		c := w.dial(t, modern, client.Options{})
		regional("District")(w.servers["a"])
		got, err := c.CallTool(t.Context(), "where", map[string]any{"region": "north"})
		if want := `in {"region":"north"}north`; err != nil || got.Text() != want {
			t.Errorf("modern %t: got %+v, %v; want %s", modern, got, err, want)
		}
	}
}

// TestMirrorsOutOfRange holds that an integer which the upstream's header cannot hold is refused by name.
func TestMirrorsOutOfRange(t *testing.T) {
	w := newWorld(t, route.Naming{}, backend{name: "a", modern: true, http: true, fill: regional("Region")})
	got := fault(t, w.dial(t, false, client.Options{}), "tools/call", `{"name":"where","arguments":{"level":9007199254740992}}`)
	if got.Code != mcp.CodeInvalidParams || !strings.Contains(got.Message, `"level"`) {
		t.Errorf("got %v", got)
	}
}

// TestMirrorsChecked holds that the gateway judges what its own clients repeat, whatever the server behind it is.
func TestMirrorsChecked(t *testing.T) {
	for _, upModern := range []bool{false, true} {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: regional("Region")})
		url := listen(t, w.bridge.Server())
		for header, want := range map[string]int{"north": 200, "south": 400, "": 400} {
			body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"where","arguments":{"region":"north"},` +
				`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
			status, answer := post(t, url, body, header)
			if status != want || strings.Contains(answer, "-32020") != (want == 400) || !strings.Contains(answer, `"id":7`) {
				t.Errorf("the header %q is answered with %d %s, want %d", header, status, answer, want)
			}
		}
	}
}

func post(t *testing.T, url, body, region string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "where",
	} {
		req.Header.Set(name, value)
	}
	if region != "" {
		req.Header.Set("Mcp-Param-Region", region)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}
