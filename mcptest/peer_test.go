package mcptest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/transport"
)

// talk makes two calls as a client of one revision; the second has to fail.
func talk(ctx context.Context, conn transport.Conn) error {
	c, err := client.Connect(ctx, conn, client.Options{
		Info: mcp.Implementation{Name: "tester", Version: "1"}, Versions: []string{mcp.Version20250618},
	})
	if err != nil {
		return err
	}
	_, err = c.CallTool(ctx, "a", map[string]any{"n": []any{1, true}})
	if _, refused := c.CallTool(ctx, "b", nil); !errors.Is(refused, mcp.CodeInvalidParams) {
		err = errors.Join(err, fmt.Errorf("the second call: %v", refused))
	}
	return errors.Join(err, c.Close())
}

// A client against a server that is played: the peer expects, answers and refuses, and the record holds every frame.
func TestScriptedServer(t *testing.T) {
	peer, conn := mcptest.NewPeer(t)
	conn, record := mcptest.Record(conn)
	talked := make(chan error, 1)
	go func() { talked <- talk(t.Context(), conn) }() // waited for below
	peer.Reply(peer.Expect(`{"method":"initialize","params":{"protocolVersion":"*"}}`),
		`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"played","version":"1"}}`)
	peer.Expect(`{"method":"notifications/initialized"}`)
	peer.Reply(peer.Expect(`{"method":"tools/call","params":{"name":"a","arguments":{"n":[1,"*"]}}}`), `{"content":[]}`)
	peer.Fail(peer.Next(), -32602, "unknown tool: b")
	peer.ExpectEnd()
	if err := <-talked; err != nil {
		t.Fatal(err)
	}
	want := []string{
		`C> {"jsonrpc":"2.0","id":1,"method":"initialize",`, `S> {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18",`,
		`C> {"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`C> {"jsonrpc":"2.0","id":2,"method":"tools/call",`, `S> {"jsonrpc":"2.0","id":2,"result":{"content":[]}}`,
		`C> {"jsonrpc":"2.0","id":3,"method":"tools/call",`, `S> {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"unknown tool: b"}}`,
	}
	lines := strings.Split(strings.TrimSpace(record.String()), "\n")
	if len(lines) != len(want) {
		t.Fatalf("recorded\n%s", record)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %d is %s, want %s", i, lines[i], want[i])
		}
	}
	golden := filepath.Join(t.TempDir(), "sub", "talk.txt")
	record.Golden(t, golden, "two calls, one of them refused", true)
	record.Golden(t, golden, "two calls, one of them refused", false)
	if text, err := os.ReadFile(golden); err != nil || string(text) != "# two calls, one of them refused\n"+record.String() {
		t.Errorf("the golden file holds %s (%v)", text, err)
	}
}
