//go:build !race

// The race detector makes pools forget, so allocations are counted without it.

package seal_test

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/seal"
)

const smallCall = `{"name":"book","arguments":{"city":"Oslo","nights":3,"rooms":[{"beds":2,"view":true}],"budget":120.50},"_meta":{"progressToken":7}}`

func TestDigestAllocations(t *testing.T) {
	params := []byte(smallCall)
	if n := testing.AllocsPerRun(200, func() {
		if _, err := seal.DigestCall("tools/call", params); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a digest allocates %v times, want none", n)
	}
}

func BenchmarkDigest(b *testing.B) {
	for name, params := range map[string]string{
		"small":   smallCall,
		"escapes": `{"name":"book","arguments":{"b":"\u00e9\n\"","a":"x\/y"}}`,
		"deep":    `{"arguments":` + strings.Repeat(`{"b":1,"a":`, 120) + `0` + strings.Repeat("}", 120) + `}`,
		"100KiB":  `{"name":"put","arguments":{"rows":[` + strings.Repeat(`{"id":12345,"name":"a row of some length","price":9.50},`, 1900) + `0]}}`,
	} {
		b.Run(name, func(b *testing.B) {
			raw := []byte(params)
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := seal.DigestCall("tools/call", raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSeal(b *testing.B) {
	s := sealer(b, seal.Options{})
	payload := make([]byte, 500)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Seal(b.Context(), binding, link, payload, now, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	s := sealer(b, seal.Options{})
	token := mint(b, s, strings.Repeat("x", 500))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Open(b.Context(), token, binding, now); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenRefused(b *testing.B) {
	token := mint(b, sealer(b, seal.Options{Ring: ring(b, 1)}), strings.Repeat("x", 500))
	other := binding
	other.Principal = "another"
	for _, c := range []struct {
		name string
		s    *seal.Sealer
		b    seal.Binding
	}{
		{"key", sealer(b, seal.Options{}), binding}, {"bound", sealer(b, seal.Options{Ring: ring(b, 1)}), other},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.s.Open(b.Context(), token, c.b, now); err == nil {
					b.Fatal("opened")
				}
			}
		})
	}
}
