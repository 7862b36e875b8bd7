package pipe_test

import (
	"context"
	"testing"

	"github.com/rialto-mcp/rialto/internal/engine"
)

// BenchmarkModernCall is one tools/call at a time through pipe and engine over the in-memory pair, run by the reader itself
// and on a goroutine of its own.
func BenchmarkModernCall(b *testing.B) {
	paces := map[string]*engine.Pace{"inline": {}, "spawned": nil}
	for name, pace := range paces {
		b.Run(name, func(b *testing.B) {
			w := serve(b, &handler{pace: func(*engine.Incoming) *engine.Pace { return pace }}, engine.Options{})
			frame := []byte(modernCall("1", "echo"))
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if err := w.client.Write(ctx, frame); err != nil {
					b.Fatal(err)
				}
				if _, err := w.client.Read(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
