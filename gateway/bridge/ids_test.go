package bridge_test

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/transport"
)

// TestIDs holds that two requests whose ids differ in type alone, and those of a second client with the same ids, each get
// their own answer under the id as it was sent.
func TestIDs(t *testing.T) {
	for _, upModern := range []bool{false, true} {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: everything(nil)})
		first, second := serve(t, w.bridge.Server()), serve(t, w.bridge.Server())
		for _, conn := range []transport.Conn{first, second} {
			open(t, conn)
		}
		for who, conn := range map[string]transport.Conn{"first": first, "second": second} {
			for _, id := range []string{`1`, `"1"`} {
				write(t, conn, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"echo","arguments":{"text":"`+who+" "+strings.Trim(id, `"`)+" "+kind(id)+`"}}}`)
			}
		}
		for who, conn := range map[string]transport.Conn{"first": first, "second": second} {
			for range 2 {
				got := next(t, conn)
				for _, id := range []string{`1`, `"1"`} {
					if strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+id+`,`) != strings.Contains(got, `"`+who+" 1 "+kind(id)+`"`) {
						t.Errorf("%s client: %s", who, got)
					}
				}
			}
		}
	}
}

func kind(id string) string {
	if id[0] == '"' {
		return "text"
	}
	return "number"
}

// open does the legacy handshake.
func open(t *testing.T, conn transport.Conn) {
	t.Helper()
	write(t, conn, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if got := next(t, conn); !strings.Contains(got, `"id":0`) {
		t.Fatalf("the handshake is answered by %s", got)
	}
	write(t, conn, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func write(t *testing.T, conn transport.Conn, frame string) {
	t.Helper()
	if err := conn.Write(t.Context(), []byte(frame)); err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, conn transport.Conn) string {
	t.Helper()
	for {
		frame, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(frame), `"method":"notifications/`) {
			return string(frame)
		}
	}
}
