package server

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Progress tells the client how far the request has come, if it wants to know. total is 0 when unknown, message may be
// empty. Progress that does not grow is not sent. Errors of the connection are not reported: the context tells.
func (r *Request) Progress(ctx context.Context, progress, total float64, message string) {
	if r.line != nil && message != "" {
		r.line.Say(ctx, message)
	}
	token, ok := r.in.ProgressToken()
	if !ok || math.IsNaN(progress) || math.IsInf(progress, 0) || math.IsNaN(total) || math.IsInf(total, 0) || r.quiet("progress") {
		return
	}
	if r.first != nil { // all runs tell of one piece of work
		r.first.Progress(ctx, progress, total, message)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock() // held while sending, so that the values leave in their order
	if r.told && progress <= r.last {
		return
	}
	r.told, r.last = true, progress
	params := append([]byte(`{"progressToken":`), token...)
	params = append(params, `,"progress":`...)
	params = strconv.AppendFloat(params, progress, 'f', -1, 64)
	if total != 0 {
		params = append(params, `,"total":`...)
		params = strconv.AppendFloat(params, total, 'f', -1, 64)
	}
	if message != "" {
		params = append(params, `,"message":`...)
		params = jsonrpc.AppendString(params, message)
	}
	r.notify(ctx, &era.Notice{Method: mcp.NotifyProgress, Params: append(params, '}')})
}

// progress is how far the client has been told that the call has come; nil while it has been told nothing.
func (r *Request) progress() *float64 {
	if r.first != nil {
		return r.first.progress()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.told {
		return nil
	}
	last := r.last
	return &last
}

// goesOn makes progress go on from where the run before has left it.
func (r *Request) goesOn(from *float64) {
	if from == nil || r.first != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told, r.last = true, *from
}

// Notify sends a notification that belongs to this request; params is a raw object or nil. For relays and vendor
// notifications. What a run goes over again that has been sent before is not sent twice. It fails when the client's revision does not have the method or there is no way to send it.
func (r *Request) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if r.round.Load() != nil {
		r.late("sends " + method)
		return ErrSuspended
	}
	if r.replays() {
		return nil
	}
	return r.send(ctx, &era.Notice{Method: method, Params: params})
}

// quiet tells whether what the handler tells of its work is kept from the client: it has been told before, or the run has
// ended.
func (r *Request) quiet(what string) bool {
	if r.round.Load() != nil {
		r.late("sends " + what)
		return true
	}
	return r.replays()
}

// notify sends what may be lost: a client that takes no stream goes without.
func (r *Request) notify(ctx context.Context, n *era.Notice) {
	_ = r.send(ctx, n) // best effort by the specification; the request's own fate is told by its context
}

// send sends a notification on the stream of the request. Of a request that was answered the client hears elsewhere, where it
// takes that, and with the task that it belongs to.
func (r *Request) send(ctx context.Context, n *era.Notice) error {
	if r.line == nil {
		return r.in.Notify(ctx, n)
	}
	n.Params = related(n.Params, r.line.ID())
	return r.in.NotifyLater(ctx, n)
}
