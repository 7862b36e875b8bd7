package pipe

import (
	"context"
	"sync"

	"github.com/rialto-mcp/rialto/internal/negotiate"
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
	elements, err := jsonrpc.SplitBatch(frame, s.opts.MaxBatch)
	if err != nil {
		s.refuse(ctx, err)
		return
	}
	messages := make([]*jsonrpc.Message, len(elements))
	faults := make([]error, len(elements))
	for i, raw := range elements {
		messages[i], faults[i] = jsonrpc.Decode(raw, negotiate.Lift)
	}
	if refusal := s.set.ClassifyBatch(messages, s.peer.Codec()); refusal != nil {
		s.report(s.answer(ctx, refusalFrame(negotiate.Route{Refusal: refusal}, jsonrpc.ID{})))
		return
	}
	b := &batch{server: s, left: len(messages)}
	for i, m := range messages {
		if m == nil {
			fe := faults[i].(*jsonrpc.FrameError)
			s.report(b.answer(ctx, jsonrpc.AppendError(nil, fe.ID, &jsonrpc.Error{Code: fe.Code, Message: fe.Error()})))
			continue
		}
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
