package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// What goes through the raw door keeps its tokens: numbers, escapes, unknown members and their order.
func TestRawTokens(t *testing.T) {
	const body = `{"z":1.0,"content":[{"type":"text","text":"\u00e9\/"}],"n":12345678901234567890,"_meta":{"b":1e2,"a":null}}`
	eras(t, script{"tools/call": result(body)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		params := json.RawMessage(`{"name":"x","arguments":{"q":1.50,"é":"\u00e9"},"_meta":{"progressToken":"theirs","k":1e0},"extra":[1,  2]}`)
		got, err := c.Raw(t.Context(), "tools/call", params, client.RawOptions{})
		if err != nil || string(got.Result) != body {
			t.Errorf("got %+v, %v", got, err)
		}
		sent := string(p.last(t, "tools/call").Params)
		for _, token := range []string{`"arguments":{"q":1.50,"é":"\u00e9"}`, `"k":1e0`, `"extra":[1,  2]`} {
			if !strings.Contains(sent, token) {
				t.Errorf("%s is not in %s", token, sent)
			}
		}
		if strings.Contains(sent, "theirs") {
			t.Errorf("a token that nobody listens to was passed on: %s", sent)
		}
	})
}

func TestRawProgress(t *testing.T) {
	rest := script{"tools/call": says(
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{token},"progress":1.0,"total":2}}`,
		`{"jsonrpc":"2.0","id":{id},"error":{"code":-7,"message":"no","data":[1.0]}}`,
	)}
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		var progress []string
		_, err := c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"x","_meta":{"progressToken":"theirs"}}`), client.RawOptions{
			OnProgress: func(params json.RawMessage) { progress = append(progress, string(params)) },
		})
		var fault *mcp.Error
		if !errors.As(err, &fault) || fault.Code != -7 || string(fault.Data) != "[1.0]" || !fault.Remote {
			t.Errorf("got %v", err)
		}
		if len(progress) != 1 || !strings.Contains(progress[0], `"progress":1.0,"total":2`) || strings.Contains(progress[0], "theirs") {
			t.Errorf("progress %q", progress)
		}
	})
}

func TestRawEraGate(t *testing.T) {
	eras(t, script{"x/vendor": result(`{"ok":true}`)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		absent := map[string]string{"modern": "logging/setLevel", "legacy": "subscriptions/listen"}[era]
		if _, err := c.Raw(t.Context(), absent, nil, client.RawOptions{}); !errors.Is(err, mcp.CodeMethodNotSupported) {
			t.Errorf("%s: %v", absent, err)
		}
		if got, err := c.Raw(t.Context(), "x/vendor", nil, client.RawOptions{}); err != nil || string(got.Result) != `{"ok":true}` {
			t.Errorf("vendor method: %+v, %v", got, err)
		}
		if sent := p.methods(); strings.Contains(sent, absent) { // the vendor's answer shows that all before it has arrived
			t.Errorf("%s went out among %s", absent, sent)
		}
	})
}

// A relay names its own client in one request, where the era has a place for that.
func TestRawIdentity(t *testing.T) {
	eras(t, script{"tools/call": result(`{"content":[]}`)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		_, err := c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"x"}`), client.RawOptions{
			ClientInfo: json.RawMessage(`{"name":"far","version":"9"}`), ClientCapabilities: json.RawMessage(`{"sampling":{}}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		sent := string(p.last(t, "tools/call").Frame())
		if named := strings.Contains(sent, `"far"`) && strings.Contains(sent, `"sampling"`); named != (era == "modern") || strings.Contains(sent, "rialto-client") {
			t.Errorf("sent %s", sent)
		}
	})
}

func TestStream(t *testing.T) {
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		s, err := c.Start(t.Context(), "tools/call", json.RawMessage(`{"name":"x","_meta":{"progressToken":1}}`), client.RawOptions{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // Start came back before any answer
		call := p.last(t, "tools/call")
		for i := range 3 {
			p.write(call, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{token},"progress":%d}}`, i))
		}
		p.write(call, `{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}`)
		for i := range 3 {
			m, err := s.Next(t.Context())
			if err != nil || m.Method != mcp.NotifyProgress || !strings.Contains(string(m.Params), fmt.Sprintf(`"progress":%d`, i)) {
				t.Errorf("message %d: %+v, %v", i, m, err)
			}
		}
		if _, err := s.Next(t.Context()); err != io.EOF {
			t.Errorf("after the last: %v", err)
		}
		if r, err := s.Result(); err != nil || string(r.Result) != `{"content":[]}` {
			t.Errorf("result %+v, %v", r, err)
		}
	})
}

func TestStreamClose(t *testing.T) {
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		s, err := c.Start(t.Context(), "tools/call", json.RawMessage(`{"name":"x"}`), client.RawOptions{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.Close()
		s.Close()
		synctest.Wait()
		if _, err := s.Result(); !errors.Is(err, context.Canceled) || !strings.HasSuffix(p.methods(), "notifications/cancelled") {
			t.Errorf("%v, sent %s", err, p.methods())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Start(ctx, "tools/call", json.RawMessage(`{"name":"x"}`), client.RawOptions{Timeout: -1}); err != nil {
			t.Fatal(err)
		} // left alone: the client's Close ends it
	})
}

// A raw listen lasts, and its news come on its stream, not to the hooks.
func TestStreamListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		news := func(method string) string {
			return `{"jsonrpc":"2.0","method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`
		}
		conn, p := play(modern(script{"subscriptions/listen": says(news("notifications/subscriptions/acknowledged"))}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{OnNotification: func(_ context.Context, method string, _ json.RawMessage) { t.Errorf("%s went to the hook", method) }})
		s, err := c.Start(t.Context(), "subscriptions/listen", json.RawMessage(`{"notifications":{"toolsListChanged":true}}`), client.RawOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		call := p.last(t, "subscriptions/listen")
		p.write(call, news("notifications/tools/list_changed"), `{"jsonrpc":"2.0","id":{id},"result":{}}`)
		for _, want := range []string{"notifications/subscriptions/acknowledged", "notifications/tools/list_changed"} {
			if m, err := s.Next(t.Context()); err != nil || m.Method != want {
				t.Errorf("got %+v, %v; want %s", m, err, want)
			}
		}
		if _, err := s.Result(); err != nil {
			t.Error(err)
		}
	})
}
