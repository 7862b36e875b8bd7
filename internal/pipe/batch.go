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
func (s *server) takeBatch(ctx context.Context, frame []byte) {
	messages, route := s.set.ClassifyBatch(frame, nil, s.peer.Codec(), s.opts.MaxBatch)
	if route.Refusal != nil {
		s.report(s.answer(ctx, refusalFrame(route, jsonrpc.ID{})))
		return
	}
	b := &batch{server: s, left: len(messages)}
	for _, m := range messages {
		s.hand(ctx, m, b)
	}
}

func (b *batch) answer(ctx context.Context, frame []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.out) > 0 {
		b.out = append(b.out, ',')
	} else {
		b.out = append(b.out, '[')
	}
	b.out = append(b.out, frame...)
	return b.finish(ctx)
}

func (b *batch) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.server.report(b.finish(context.Background()))
}

// finish writes the array after its last element; b.mu is held.
func (b *batch) finish(ctx context.Context) error {
	if b.left--; b.left > 0 || len(b.out) == 0 {
		return nil
	}
	return b.server.conn.Write(ctx, append(b.out, ']'))
}
