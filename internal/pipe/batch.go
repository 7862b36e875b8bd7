package pipe

import (
	"context"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// batch is one array, whose answers leave as one array.
type batch struct {
	server  *server
	answers *jsonrpc.Answers
}

// takeBatch judges an array as a whole, then each element by itself.
func (s *server) takeBatch(ctx context.Context, frame []byte, t *turn) {
	messages, route := s.set.ClassifyBatch(frame, nil, s.peer.Codec(), s.opts.MaxBatch)
	if route.Refusal != nil {
		t.leave()
		s.report(s.answer(ctx, refusalFrame(route, jsonrpc.ID{})))
		return
	}
	answers := jsonrpc.NewAnswers(len(messages) + 1) // one more, so that the array is not written before all are registered
	b := &batch{server: s, answers: answers}
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
	if array, _ := b.answers.End(frame); array != nil {
		return b.server.write(ctx, array)
	}
	return nil
}
