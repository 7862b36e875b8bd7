package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// stub is a connection to a server of 51 tools that answers at once.
type stub struct{ tools, answer json.RawMessage }

func newStub() *stub {
	var tools []string
	for i := range 50 {
		tools = append(tools, fmt.Sprintf(`{"name":"other%d","inputSchema":{"type":"object"}}`, i))
	}
	tools = append(tools, `{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`)
	return &stub{
		json.RawMessage(`{"tools":[` + strings.Join(tools, ",") + `]}`), json.RawMessage(`{"content":[{"type":"text","text":"hello"}]}`),
	}
}

func (s *stub) Call(_ context.Context, call upstream.Call) (*upstream.Answer, error) {
	if call.Method == mcp.MethodListTools {
		return &upstream.Answer{Result: s.tools}, nil
	}
	return &upstream.Answer{Result: s.answer}, nil
}

func (s *stub) Version() string { return mcp.ModernVersions()[0] }
func (s *stub) Capabilities() mcp.ServerCapabilities {
	return mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{ListChanged: true}}
}
func (s *stub) Watch(context.Context, []string, func(string)) error { return nil }
func (s *stub) OnChange(func(upstream.Kinds))                       {}
func (s *stub) Done() <-chan struct{}                               { return nil }
func (s *stub) Err() error                                          { return nil }
func (s *stub) Close() error                                        { return nil }

// overHTTP is a server of one tool over HTTP that does next to nothing itself.
func overHTTP(b *testing.B) upstream.Dialer {
	s := server.New(mcp.Implementation{Name: "far", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Request, in textIn) (string, error) { return in.Text, nil })
	web := httptest.NewServer(s.Handler())
	b.Cleanup(web.Close)
	dial := upstream.Dialing(client.Options{Info: mcp.Implementation{Name: "front", Version: "1"}}, nil)
	return func(ctx context.Context, entry manager.Server) (upstream.Conn, error) {
		entry.Transport, entry.URL = manager.HTTP, web.URL
		return dial(ctx, entry)
	}
}

// thrown takes an answer and throws it away.
type thrown struct {
	header http.Header
	status int
	size   int
}

func (w *thrown) Header() http.Header             { return w.header }
func (w *thrown) WriteHeader(status int)          { w.status = status }
func (w *thrown) Flush()                          {}
func (w *thrown) SetReadDeadline(time.Time) error { return nil }
func (w *thrown) Write(b []byte) (int, error) {
	w.size += len(b)
	return len(b), nil
}

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

const benchMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}`

// BenchmarkRelay is what a request through the gateway costs: without net/http in front and with a server that answers at once;
// for a caller that is known; where ten rules are asked, the last of which decides; and with a server over HTTP. Compare the
// allocations, and the time of two versions that run in turns.
func BenchmarkRelay(b *testing.B) {
	near := newStub()
	nearby := func(context.Context, manager.Server) (upstream.Conn, error) { return near, nil }
	ann := &mcp.Principal{Issuer: "https://login.example", Subject: "ann", ClientID: "c"}
	const call = `"name":"echo","arguments":{"text":"hello"}`
	for _, c := range []struct {
		name, method, version, params string
		who                           *mcp.Principal
		rules                         int
		dial                          upstream.Dialer
	}{
		{"modern call", "tools/call", modern, call + "," + benchMeta, nil, 0, nearby},
		{"modern call of somebody known", "tools/call", modern, call + "," + benchMeta, ann, 0, nearby},
		{"modern call under ten rules", "tools/call", modern, call + "," + benchMeta, ann, 10, nearby},
		{"modern list", "tools/list", modern, benchMeta, nil, 0, nearby},
		{"legacy call", "tools/call", legacy, call, nil, 0, nearby},
		{"modern call over HTTP", "tools/call", modern, call + "," + benchMeta, nil, 0, overHTTP(b)},
		{"legacy call over HTTP", "tools/call", legacy, call, nil, 0, overHTTP(b)},
	} {
		b.Run(c.name, func(b *testing.B) {
			handler := raiseFor(b, c.dial, rulesOf(b, c.rules))
			body := `{"jsonrpc":"2.0","id":1,"method":"` + c.method + `","params":{` + c.params + `}}`
			reader := strings.NewReader(body)
			ctx := b.Context()
			if c.who != nil {
				ctx = transport.WithGrant(ctx, &transport.Grant{Principal: c.who})
			}
			req := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/mcp", nil)
			req.Body, req.ContentLength = io.NopCloser(reader), int64(len(body))
			req.Header = http.Header{
				"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Mcp-Protocol-Version": {c.version}, "Mcp-Method": {c.method},
			}
			if c.method == mcp.MethodCallTool {
				req.Header["Mcp-Name"] = []string{"echo"}
			}
			original := req.Body
			w := &thrown{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				w.status, w.size = 0, 0
				reader.Reset(body)
				req.Body = original
				handler.ServeHTTP(w, req)
				if w.size == 0 || w.status != http.StatusOK && w.status != 0 {
					b.Fatalf("status %d, %d bytes", w.status, w.size)
				}
			}
		})
	}
}

// rulesOf are rules of a policy that look at who calls, at the tool and at its arguments.
func rulesOf(b *testing.B, n int) bridge.Rules {
	var s policy.Settings
	for i := range n {
		s.Rules = append(s.Rules, policy.Rule{
			Name: fmt.Sprint("rule ", i), Do: policy.Deny,
			When: fmt.Sprintf(`principal.subject == "bob%d" || tool == "drop%d" && size(arguments.text) > 10`, i, i),
		})
	}
	rules, err := policy.New(policy.Options{}).Over(s, bridge.Rules{})
	if err != nil {
		b.Fatal(err)
	}
	return rules
}

// raiseFor is a gateway without sessions in front of one server.
func raiseFor(b *testing.B, dial upstream.Dialer, rules bridge.Rules) http.Handler {
	var front *bridge.Bridge
	set := upstream.New([]manager.Server{{Name: "far"}}, upstream.Options{Dial: dial, OnChange: func() { front.Changed() }})
	var err error
	front, err = bridge.New(mcp.Implementation{Name: "front", Version: "1"}, set, bridge.Options{
		Rules: rules, StartWait: time.Nanosecond, Server: server.Options{HTTP: server.HTTPOptions{Sessionless: true}},
	})
	if err != nil {
		b.Fatal(err)
	}
	set.Start()
	set.Settled(b.Context())
	b.Cleanup(func() {
		front.Close()
		set.Close()
	})
	return front.Server().Handler()
}
