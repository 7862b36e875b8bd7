package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Incoming is one request being served: the call, the way back, and the peer it belongs to.
type Incoming struct {
	*era.Call
	X    transport.Exchange
	Peer *Peer // nil for a stateless exchange

	engine  *Engine
	pace    *Pace // how long such requests take; nil for unknown
	ctx     context.Context
	cancel  context.CancelCauseFunc // nil for a stateless exchange: its context ends with the connection
	gate    gate                    // its place among the stateless requests
	counted bool                    // among the running requests of its peer; guarded by the peer
	state   atomic.Int32
	parked  atomic.Bool            // the stream goes on after run has returned
	gone    atomic.Pointer[func()] // what to do when a parked request is cancelled or its client goes
}

// States of a request. It moves once, from running to one of the others.
const (
	stateRunning = iota
	stateCancelled
	stateFinished
)

// ErrCancelled is the cause of a context that ended because the peer cancelled the request.
var ErrCancelled = errors.New("the peer has cancelled the request")

// admit decodes a request and registers it, or answers it with the refusal and returns nil.
func (e *Engine) admit(ctx context.Context, x transport.Exchange) *Incoming {
	m, codec := x.Message(), x.Codec()
	var headers era.Headers
	if x.OverHTTP() {
		headers = x
	}
	call, err := codec.DecodeCall(m, headers)
	if err != nil {
		e.refuse(ctx, x, err)
		return nil
	}
	in := &Incoming{Call: call, X: x, Peer: peerOf(x), engine: e, ctx: ctx}
	if in.Peer == nil {
		return in
	}
	in.ctx, in.cancel = context.WithCancelCause(ctx)
	if refusal := in.Peer.register(in); refusal != nil {
		in.cancel(refusal)
		e.refuse(ctx, x, refusal)
		return nil
	}
	return in
}

// refuse answers a request that no handler will see.
func (e *Engine) refuse(ctx context.Context, x transport.Exchange, err error) {
	refusal := &era.Refusal{}
	if !errors.As(err, &refusal) {
		e.opts.OnError(fmt.Errorf("decode %s: %w", x.Message().Method, err))
		refusal.Err = internalError().Err
	}
	e.send(ctx, x, nil, refusal.Outcome())
}

// enter takes a place among the running requests; without one it queues (a reader's request) or answers "busy".
func (in *Incoming) enter(mayQueue bool) bool {
	if in.Row != nil && in.Row.Long {
		return true
	}
	if in.Peer != nil {
		switch in.Peer.enter(in, mayQueue) {
		case entered:
			return true
		case queued:
			return false
		}
		in.Finish(busy(mayQueue))
		return false
	}
	place, ok := in.engine.gates.enter(in.X.Principal(), in.engine.opts)
	if !ok {
		in.Finish(busy(mayQueue))
		return false
	}
	in.gate = place
	return true
}

func busy(pipe bool) *era.Outcome {
	o := &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Too many requests are running at once; try again in a moment")}
	if !pipe {
		o.Row = era.RowBusy
	}
	return o
}

// start runs a request where it came in when it is likely to be short, and on a goroutine of its own otherwise.
func (in *Incoming) start() {
	_, inline := in.X.(transport.Inline)
	if pacer, ok := in.engine.handler.(Pacer); ok {
		in.pace = pacer.Pace(in)
	}
	if !inline || in.Peer == nil || in.pace == nil || in.pace.slow() {
		in.spawn()
		return
	}
	in.Peer.running.Add(1)
	defer in.Peer.running.Done()
	in.run()
}

// spawn runs a request of a peer on a goroutine that the peer's Close waits for.
func (in *Incoming) spawn() {
	if in.Peer == nil {
		go in.run() // a stateless exchange: its binding waits for the answer
		return
	}
	if !in.Peer.start(in.run) {
		in.Finish(nil) // the peer was closed meanwhile, which has cancelled the request
	}
}

// run calls the handler and answers.
func (in *Incoming) run() {
	if in.pace != nil {
		defer in.pace.note(time.Now())
	}
	if out := in.guard(); out != nil {
		in.Finish(out)
	}
}

func (in *Incoming) guard() (out *era.Outcome) {
	defer func() {
		if v := recover(); v != nil {
			in.engine.opts.OnError(panicError{in.Method(), v, stack()})
			out = internalError()
		}
	}()
	return in.engine.handler.Call(in.ctx, in)
}

// Finish answers the request, once; what comes after the first time, or after a cancellation by the peer, is dropped. It
// may be called from any goroutine.
func (in *Incoming) Finish(o *era.Outcome) {
	first := in.state.CompareAndSwap(stateRunning, stateFinished)
	cancelled := in.state.Load() == stateCancelled
	if !first && !cancelled {
		return
	}
	in.release()
	if cancelled || (in.Peer == nil && !in.parked.Load() && in.ctx.Err() != nil) {
		in.X.Drop()
		return
	}
	in.engine.send(in.ctx, in.X, in.Row, o)
}

// release gives the request's place and id back, before its answer lets the peer use the id again.
func (in *Incoming) release() {
	in.gate.leave()
	if in.Peer != nil {
		in.Peer.unregister(in)
		in.cancel(nil)
	}
}

// stop marks the request as cancelled by the peer and ends its context.
func (in *Incoming) stop(cause error) {
	if !in.state.CompareAndSwap(stateRunning, stateCancelled) {
		return
	}
	if in.cancel != nil {
		in.cancel(cause)
	}
	in.leave()
}

// leave ends a parked request, once.
func (in *Incoming) leave() {
	if gone := in.gone.Swap(nil); gone != nil {
		(*gone)()
		in.release()
		in.X.Drop()
	}
}

// park lets the request's stream outlive its handler where the wire can do that, and tells whether it does. gone is called,
// once, when the peer cancels the request or its connection ends, but not when it is answered.
func (in *Incoming) park(gone func()) bool {
	parker, ok := in.X.(transport.Parker)
	if !ok {
		return false
	}
	in.parked.Store(true)
	if !parker.Park(func() { in.stop(transport.ErrClosed) }) {
		in.parked.Store(false)
		return false
	}
	in.gone.Store(&gone)
	if in.state.Load() == stateCancelled { // it went while it was being parked
		in.leave()
	}
	return true
}

// Live tells whether the request still runs: neither answered nor cancelled.
func (in *Incoming) Live() bool {
	return in.state.Load() == stateRunning && (in.parked.Load() || in.ctx.Err() == nil)
}

// Notify sends a notification that belongs to this request. It fails with transport.ErrUndeliverable when the client has
// no way to take it, and does nothing once the request has ended.
func (in *Incoming) Notify(ctx context.Context, n *era.Notice) error {
	if !in.Live() {
		return context.Cause(in.ctx)
	}
	return sendNotice(ctx, in.X, in.Codec, n)
}

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

// send encodes an outcome and hands it to the exchange. The answer is written even when the call's own context has ended.
func (e *Engine) send(ctx context.Context, x transport.Exchange, row *era.Row, o *era.Outcome) {
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
	if err := x.Answer(ctx, frame, o.Row, code); err != nil {
		e.opts.OnError(fmt.Errorf("answer %s: %w", x.Message().Method, err))
	}
}

func codeOf(codec era.Codec, o *era.Outcome) int64 {
	if o.Err == nil {
		return jsonrpcInternal
	}
	return codec.WireError(o.Err).Code
}

const jsonrpcInternal = -32603 // JSON-RPC 2.0, "Error object"

// scratch holds the output buffers of answers and notifications; nothing that user code sees is in it.
var scratch = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

func giveBack(buf *[]byte) {
	const most = 64 << 10 // a rare large answer must not stay in memory
	if cap(*buf) <= most {
		scratch.Put(buf)
	}
}

// panicError is a panic of user code.
type panicError struct {
	method string
	value  any
	stack  string
}

func (p panicError) Error() string {
	return fmt.Sprintf("the handler of %s panicked: %v\n%s", p.method, p.value, p.stack)
}

func stack() string { return string(debug.Stack()) }

var _ transport.Outlet = transport.Exchange(nil)
