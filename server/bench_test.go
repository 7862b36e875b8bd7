package server_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

type echoIn struct {
	Text string `json:"text"`
}

// echoServer has one echo tool among fifty others.
func echoServer(t testing.TB) *server.Server {
	s := newServer(server.Options{})
	for i := range 50 {
		rawTool(t, s, fmt.Sprint("other", i), nothing)
	}
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Request, in echoIn) (string, error) { return in.Text, nil })
	return s
}

// rally is a connection on which one frame after the other is answered.
func rally(t testing.TB, s *server.Server, opening ...string) func(frame []byte) {
	own, theirs := transport.Pair(0)
	ended := make(chan error, 1)
	ctx := context.Background()
	go func() { ended <- s.Serve(ctx, theirs) }()
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	once := func(frame []byte) {
		if err := own.Write(ctx, frame); err != nil {
			t.Fatal(err)
		}
		if _, err := own.Read(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, frame := range opening {
		once([]byte(frame))
	}
	return once
}

const (
	greeting   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	modernCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	legacyCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`
	modernList = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
)

func BenchmarkCall(b *testing.B) {
	for _, c := range []struct {
		name    string
		opening []string
		frame   string
	}{
		{"modern call", nil, modernCall},
		{"legacy call", []string{greeting}, legacyCall},
		{"modern list", nil, modernList},
	} {
		b.Run(c.name, func(b *testing.B) {
			once := rally(b, echoServer(b), c.opening...)
			frame := []byte(c.frame)
			b.ReportAllocs()
			for b.Loop() {
				once(frame)
			}
		})
	}
}

// Adding many tools takes time in proportion to their number.
func BenchmarkAddTools(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s := newServer(server.Options{})
		for i := range 1000 {
			rawTool(b, s, fmt.Sprint("tool", i), nothing)
		}
	}
}
