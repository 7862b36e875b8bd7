package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
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
	counted bool                    // has a place among the running requests of its peer; guarded by the peer
	state   atomic.Int32
	parked  atomic.Bool                   // the stream goes on after run has returned
	told    atomic.Pointer[chan struct{}] // closed when the peer has been told why it ends; nil where it is not
	gone    atomic.Pointer[func()]        // what to do when a parked request is cancelled or its client goes
}

// States of a request: running to finished, or running to cancelled to dropped. Each move is made once, by whoever may do
// what goes with it.
const (
	stateRunning   = iota
	stateCancelled // its context has ended; the handler may still run
	stateFinished  // answered
	stateDropped   // ended without an answer
)

// ErrCancelled is the cause of a context that ended because the peer cancelled the request.
var ErrCancelled = errors.New("the peer has cancelled the request")

// ErrEnded is what a call on a request gets that has been answered.
var ErrEnded = errors.New("the request has been answered")

// admit decodes a request and registers it. The error is for refuse.
func (e *Engine) admit(ctx context.Context, x transport.Exchange) (*Incoming, error) {
	m, codec := x.Message(), x.Codec()
	var headers era.Headers
	if x.OverHTTP() {
		headers = x
	}
	call, err := codec.DecodeCall(m, headers)
	if err != nil {
		return nil, err
	}
	if e.closed.Load() {
		return nil, &era.Refusal{Row: era.RowBusy, Err: mcp.Errorf(mcp.CodeInternal, "%v", ErrShutdown)}
	}
	in := &Incoming{Call: call, X: x, Peer: peerOf(x), engine: e, ctx: ctx}
	if in.Peer == nil {
		return in, nil
	}
	in.ctx, in.cancel = context.WithCancelCause(ctx)
	if refusal := in.Peer.register(in); refusal != nil {
		in.cancel(refusal)
		return nil, refusal
	}
	return in, nil
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

// long tells whether the request stays open by design.
func (in *Incoming) long() bool { return in.Row != nil && in.Row.Long }

// enter takes a place among the running requests; without one a reader's request queues.
func (in *Incoming) enter(mayQueue bool) entry {
	if in.Peer != nil {
		return in.Peer.enter(in, mayQueue)
	}
	if in.long() {
		return entered
	}
	place, ok := in.engine.gates.enter(in.X.Principal(), in.engine.opts)
	if !ok {
		return refused
	}
	in.gate = place
	return entered
}

func busy(row int) *era.Outcome {
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Too many requests are running at once; try again in a moment"), Row: row}
}

// start runs a request where it came in when it is likely to be short, and on a goroutine of its own otherwise.
func (in *Incoming) start() {
	reader, inline := in.X.(transport.Inline)
	if pacer, ok := in.engine.handler.(Pacer); ok {
		in.pace = pacer.Pace(in)
	}
	if inline && in.Peer != nil && in.pace != nil && !in.pace.slow() {
		reader.Inline()
		in.runHere()
		return
	}
	go in.runHere() // Close of the peer waits for it; for a stateless exchange its binding, which waits for the answer
}

// runHere runs a request that has entered.
func (in *Incoming) runHere() {
	if in.Peer != nil {
		defer in.Peer.done()
	}
	in.run()
}

// run calls the handler and answers.
func (in *Incoming) run() {
	if in.pace != nil {
		defer in.pace.note(time.Now())
	}
	if out := in.Settle(in.ctx, in.guard(nil)); out != nil {
		in.Finish(out)
	}
}

// guard calls the handler, or again where it is not nil, and contains panics.
func (in *Incoming) guard(again func() *era.Outcome) (out *era.Outcome) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		in.engine.opts.OnError(panicError{in.Method(), v, stack()})
		out = internalError()
		if v == nil { // runtime.Goexit: this goroutine ends here and run will not go on
			in.Finish(out)
		}
	}()
	if again != nil {
		out = again()
	} else {
		out = in.engine.handler.Call(in.ctx, in)
	}
	returned = true
	return out
}

// Finish answers the request, once; what comes after the first time, or after a cancellation by the peer, is dropped. It
// may be called from any goroutine.
func (in *Incoming) Finish(o *era.Outcome) {
	switch {
	case in.state.CompareAndSwap(stateRunning, stateFinished):
		in.forget(o)
		if in.Peer == nil && !in.parked.Load() && in.ctx.Err() != nil {
			in.X.Drop()
		} else {
			in.engine.send(in.ctx, in.X, in.Row, o)
		}
		in.over(o.Err == nil)
	case in.state.CompareAndSwap(stateCancelled, stateDropped):
		in.forget(nil)
		in.X.Drop()
		in.over(false)
	default:
		if told := in.told.Load(); told != nil { // who returns from here may let go of the exchange
			<-*told
		}
	}
}

// over gives back what the request held, once it has been answered or dropped.
func (in *Incoming) over(good bool) {
	if in.Peer != nil && in.Method() == mcp.MethodInitialize {
		in.Peer.greetedBack(good)
	}
	in.release()
}

// forget gives the request's id back, before its answer lets the peer use the id again.
func (in *Incoming) forget(o *era.Outcome) {
	if in.Peer == nil {
		return
	}
	if in.Method() == mcp.MethodInitialize && o != nil && o.Err != nil {
		in.Peer.ungreet()
	}
	in.Peer.unregister(in)
}

// release gives the request's place back, after its answer: a peer that does not read gets no more places than any other.
func (in *Incoming) release() {
	in.gate.leave()
	if in.Peer != nil {
		in.Peer.vacate(in)
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
		in.Finish(nil)
	}
}

// park lets the request's stream outlive its handler where the wire can do that, and tells whether it does. gone is called,
// once, when the peer cancels the request or its connection ends; when it is answered it need not be.
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
	if in.state.Load() != stateRunning { // it ended while it was being parked
		in.leave()
	}
	return true
}

// Live tells whether the request still runs: neither answered nor cancelled.
func (in *Incoming) Live() bool {
	return in.state.Load() == stateRunning && (in.parked.Load() || in.ctx.Err() == nil)
}

// Notify sends a notification that belongs to this request. It fails with transport.ErrUndeliverable when the client has
// no way to take it. Once the request has ended it sends nothing and fails with the cause of that, or with ErrEnded.
func (in *Incoming) Notify(ctx context.Context, n *era.Notice) error {
	if in.Live() {
		return sendNotice(ctx, in.X, in.Codec, n)
	}
	if err := context.Cause(in.ctx); err != nil {
		return err
	}
	return ErrEnded
}

// panicError is a panic of user code, or with a nil value the end of its goroutine by runtime.Goexit.
type panicError struct {
	method string
	value  any
	stack  string
}

func (p panicError) Error() string {
	if p.value == nil {
		return fmt.Sprintf("the handler of %s ended its goroutine\n%s", p.method, p.stack)
	}
	return fmt.Sprintf("the handler of %s panicked: %v\n%s", p.method, p.value, p.stack)
}

func stack() string { return string(debug.Stack()) }

var _ transport.Outlet = transport.Exchange(nil)
