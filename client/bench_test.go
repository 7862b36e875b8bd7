package client_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// BenchmarkCallTool is a call over the memory pair; the scripted server's own work is part of it.
func BenchmarkCallTool(b *testing.B) {
	for name, s := range map[string]func(script) script{"modern": modern, "legacy": legacy} {
		b.Run(name, func(b *testing.B) {
			conn, p := play(s(script{"tools/call": func(p *peer, m *jsonrpc.Message) {
				p.mu.Lock()
				p.seen = p.seen[:0]
				p.mu.Unlock()
				answer := jsonrpc.Message{ID: m.ID, Result: json.RawMessage(`{"content":[{"type":"text","text":"hi"}]}`)}
				p.conn.Write(context.Background(), answer.Append(nil)) // fails only after the end
			}}))
			defer p.conn.Close()
			c, err := client.Connect(b.Context(), conn, client.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.CallTool(b.Context(), "echo", json.RawMessage(`{"text":"hi"}`)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
