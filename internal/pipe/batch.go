package pipe

import (
	"context"
	"sync"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// batch collects the answers to one array; they leave as one array, in the order in which they are ready.
type batch struct {
	server *server

	mu   sync.Mutex
	left int
	out  []byte
}

// takeBatch judges an array as a whole, then each element by itself.
func (s *server) takeBatch(ctx context.Context, frame []byte, t *turn) {
	messages, route := s.set.ClassifyBatch(frame, nil, s.peer.Codec(), s.opts.MaxBatch)
	if route.Refusal != nil {
		t.leave()
		s.report(s.answer(ctx, refusalFrame(route, jsonrpc.ID{})))
		return
	}
	b := &batch{server: s, left: len(messages) + 1} // one more, so that the array is not written before all are registered
	for _, m := range messages {
		s.hand(ctx, m, b, nil)
	}
	t.leave()
	s.report(b.settle(ctx, nil))
}

func (b *batch) answer(ctx context.Context, frame []byte) error { return b.settle(ctx, frame) }
func (b *batch) drop()                                          { b.server.report(b.settle(context.Background(), nil)) }

// settle takes the end of one element, with its answer if it has one, and writes the array after the last.
func (b *batch) settle(ctx context.Context, frame []byte) error {
	b.mu.Lock()
	if frame != nil {
		b.out = append(append(b.out, ','), frame...)
	}
	b.left--
	out, last := b.out, b.left == 0
	b.mu.Unlock()
	if !last || len(out) == 0 {
		return nil
	}
	out[0] = '[' // in place of the first comma
	return b.server.write(ctx, append(out, ']'))
}
