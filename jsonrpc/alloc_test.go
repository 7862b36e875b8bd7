//go:build !race

// The race detector makes pools forget, so allocations are counted without it.

package jsonrpc_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

const modernCall = `{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello","n":7},` +
	`"_meta":{"claim":"some revision","info":{"name":"client","version":"1.0.0"},"capabilities":{"elicitation":{}}}}}`

// A message costs itself; the frame is the caller's.
const decodeAllocs = 2

func TestDecodeAllocations(t *testing.T) {
	frame := []byte(modernCall)
	if n := testing.AllocsPerRun(200, func() {
		if _, err := jsonrpc.Decode(frame, lift); err != nil {
			t.Fatal(err)
		}
	}); n > decodeAllocs {
		t.Errorf("Decode allocates %v times, want at most %d", n, decodeAllocs)
	}
}

func TestMemberAllocations(t *testing.T) {
	frame := []byte(modernCall)
	if n := testing.AllocsPerRun(200, func() {
		if _, ok := jsonrpc.Member(frame, "params"); !ok {
			t.Fatal("not found")
		}
	}); n > 1 {
		t.Errorf("Member allocates %v times, want none for the names it passes", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	frame := []byte(modernCall)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if _, err := jsonrpc.Decode(frame, lift); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLeanParams(b *testing.B) {
	m := decode(b, modernCall)
	b.ReportAllocs()
	for b.Loop() {
		m.LeanParams(nil, []int{metaClaim, metaInfo})
	}
}

func BenchmarkAppend(b *testing.B) {
	m := decode(b, modernCall)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = m.Append(buf[:0])
	}
}
