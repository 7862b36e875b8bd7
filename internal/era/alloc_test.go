package era_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

const hotFrame = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"progressToken":17}}}`

var hotHeaders = posted(mcp.Version20260728, "tools/call", "echo")

// TestAllocations holds what the hot path of a server may allocate: one call a request, and nothing for an answer that
// fits its buffer.
func TestAllocations(t *testing.T) {
	modern, modernClient := codecs(t, mcp.Version20260728)
	legacy, _ := codecs(t, mcp.Version20251125)
	m := decode(t, hotFrame)
	list := decode(t, modernCall("tools/list", ""))
	row := rowOf(modern, "tools/call", era.ServerSide)
	listRow := rowOf(modern, "prompts/list", era.ServerSide)
	buf := make([]byte, 0, 4096)
	plain := &era.Outcome{Result: raw(`{"content":[{"type":"text","text":"hello"}]}`), Plain: true}
	cached := &era.Outcome{Result: raw(`{"prompts":[]}`), Plain: true, Cache: mcp.CacheFor(60e9, mcp.CachePublic)}
	unplain := &era.Outcome{Result: raw(`{"content":[],"structuredContent":{"a":1},"_meta":{"example.com/a":1}}`)}
	out := &era.Outgoing{ID: m.ID, Method: "tools/call", Params: raw(`{"name":"echo","arguments":{"text":"hello"}}`), Token: raw(`17`)}
	for _, tc := range []struct {
		name string
		most float64
		run  func() error
	}{
		{"modern DecodeCall over HTTP", 1, func() error { _, err := modern.DecodeCall(m, hotHeaders); return err }},
		{"modern DecodeCall over a pipe", 1, func() error { _, err := modern.DecodeCall(m, nil); return err }},
		{"modern DecodeCall of a list", 1, func() error { _, err := modern.DecodeCall(list, nil); return err }},
		{"modern AppendResult, plain", 0, func() error { _, err := modern.AppendResult(buf, row, plain); return err }},
		{"modern AppendResult, plain with a hint", 0, func() error { _, err := modern.AppendResult(buf, listRow, cached); return err }},
		{"modern AppendResult, with a _meta", 0, func() error { _, err := modern.AppendResult(buf, row, unplain); return err }},
		{"modern AppendCall", 0, func() error { _, err := modernClient.AppendCall(buf, out); return err }},
		{"legacy DecodeCall", 1, func() error { _, err := legacy.DecodeCall(m, nil); return err }},
		{"legacy AppendResult", 0, func() error { _, err := legacy.AppendResult(buf, row, plain); return err }},
	} {
		var err error
		if got := testing.AllocsPerRun(200, func() { err = tc.run() }); got > tc.most {
			t.Errorf("%s: %v allocations, at most %v are allowed", tc.name, got, tc.most)
		}
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func BenchmarkDecodeCall(b *testing.B) {
	for _, revision := range []string{mcp.Version20260728, mcp.Version20251125} {
		codec, _ := codecs(b, revision)
		m := decode(b, hotFrame)
		b.Run(revision, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := codec.DecodeCall(m, hotHeaders); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendResult(b *testing.B) {
	result := raw(`{"content":[{"type":"text","text":"hello"}]}`)
	for _, revision := range []string{mcp.Version20260728, mcp.Version20251125} {
		codec, _ := codecs(b, revision)
		row := rowOf(codec, "tools/call", era.ServerSide)
		buf := make([]byte, 0, 1024)
		for name, o := range map[string]*era.Outcome{"plain": {Result: result, Plain: true}, "scanned": {Result: result}} {
			b.Run(revision+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := codec.AppendResult(buf, row, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
