package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

func sendNotice(ctx context.Context, to transport.Outlet, codec era.Codec, n *era.Notice) error {
	buf := scratch.Get().(*[]byte)
	defer giveBack(buf)
	frame, err := codec.AppendNotice((*buf)[:0], n)
	if err != nil {
		return err
	}
	*buf = frame
	return to.Send(ctx, frame)
}

// answerTime bounds the writing of an answer to a peer that does not read.
const answerTime = 30 * time.Second

// send answers, and reports an answer that cannot be given.
func (e *Engine) send(ctx context.Context, x transport.Exchange, row *era.Row, o *era.Outcome) {
	if err := e.answer(ctx, x, row, o); err != nil {
		e.opts.OnError(fmt.Errorf("answer %s: %w", x.Message().Method, err))
	}
}

// answer encodes an outcome and hands it to the exchange. The answer is written even when the call's own context has ended.
func (e *Engine) answer(ctx context.Context, x transport.Exchange, row *era.Row, o *era.Outcome) error {
	buf := scratch.Get().(*[]byte)
	defer giveBack(buf)
	frame, err := era.AppendOutcome((*buf)[:0], x.Codec(), x.Message().ID, row, o)
	*buf = frame
	var code int64
	if o.Err != nil || err != nil {
		code = codeOf(x.Codec(), o)
	}
	if err != nil {
		e.opts.OnError(fmt.Errorf("encode the result of %s: %w", x.Message().Method, err))
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), answerTime)
		defer cancel()
	}
	return x.Answer(ctx, frame, o.Row, code)
}

func codeOf(codec era.Codec, o *era.Outcome) int64 {
	if o.Err == nil {
		return int64(mcp.CodeInternal)
	}
	return codec.WireError(o.Err).Code
}

// scratch holds the output buffers of answers and notifications; nothing that user code sees is in it.
var scratch = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

func giveBack(buf *[]byte) {
	const most = 64 << 10 // a rare large answer must not stay in memory
	if cap(*buf) <= most {
		scratch.Put(buf)
	}
}
