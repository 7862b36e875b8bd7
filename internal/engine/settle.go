package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// retryPause is how long a round without questions waits before the handler runs again.
const retryPause = 250 * time.Millisecond

// mostQuestions bounds what is asked at once on behalf of one call.
const mostQuestions = 100

// Settle asks what a handler wants to know, where the client's revision has no results that ask: the questions go out as
// requests on the call's own stream and the handler runs again with the answers, until it answers or ctx ends. Whoever made
// the round bounds how many there are.
//
// The engine does it with what a handler has returned. A handler calls it itself, from the goroutine it was called on, to
// see the end of a call.
func (in *Incoming) Settle(ctx context.Context, out *era.Outcome) *era.Outcome {
	for out != nil && out.Input != nil && out.Input.Rerun != nil && !in.Codec.Traits().InputRounds {
		round := out.Input
		answers, err := in.askRound(ctx, round)
		if err != nil {
			return round.Rerun.Fail(err)
		}
		out = in.guard(func() *era.Outcome { return round.Rerun.Again(ctx, answers, round.State) })
	}
	return out
}

// askRound asks the questions of one round and returns the answers by the same keys; nil where there was no question.
func (in *Incoming) askRound(ctx context.Context, round *era.InputRound) (json.RawMessage, error) {
	var keys []jsonrpc.Field
	var questions []Question
	for f := range jsonrpc.Fields(round.Requests) {
		raw, _ := jsonrpc.Member(f.Value, "method")
		method, ok := jsonrpc.Text(raw)
		if !ok {
			return nil, fmt.Errorf("question %.60s names no method", f.Name)
		}
		params, _ := jsonrpc.Member(f.Value, "params")
		keys, questions = append(keys, f), append(questions, Question{Method: method, Params: params})
	}
	if len(questions) == 0 {
		return nil, pause(ctx)
	}
	answers, err := in.Ask(ctx, questions)
	if err != nil {
		return nil, err
	}
	o := era.OpenObject(nil)
	for i, key := range keys {
		o.Resume(jsonrpc.AppendRaw(o.KeyOf(key), answers[i]))
	}
	return o.Close(), nil
}

// pause waits before a retry that nobody was asked for.
func pause(ctx context.Context) error {
	timer := time.NewTimer(retryPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Question is one request to the client of a call that is being served.
type Question struct {
	Method string
	Params json.RawMessage // an object; nil for none
}

// ErrNoWay says that a client cannot be asked. Its text is fit for the peer.
var ErrNoWay = errors.New("this connection has no way to ask the client; it takes a session, notifications/initialized, and a client that accepts text/event-stream")

// Context is what the request runs under.
func (in *Incoming) Context() context.Context { return in.ctx }

// MayAsk tells whether questions can go to the client at all. Whether its stream takes them shows when they are sent.
func (in *Incoming) MayAsk() bool {
	if !in.Codec.Traits().ServerMayCall || in.Peer == nil {
		return false
	}
	if in.Method() == mcp.MethodInitialize { // waiting for its answer would never end
		return in.Peer.Ready()
	}
	return in.Peer.settled(in.ctx)
}

// Ask sends requests to the client on the call's own stream, all at once, and returns their results in the order of the
// questions. The first failure ends the others; the client is told of each that it need not answer any more, before Ask
// returns. Each waits no longer than Options.AskTimeout, and no longer than Options.AskGrace while the client has no stream.
//
// It fails with ErrNoWay, at once, where there is no way to the client; with ErrUnreachable; with mcp.CodeRequestTimeout;
// with the cause of the context; and with the client's own refusal.
func (in *Incoming) Ask(ctx context.Context, questions []Question) ([]json.RawMessage, error) {
	switch {
	case !in.MayAsk():
		return nil, ErrNoWay
	case len(questions) > mostQuestions:
		return nil, fmt.Errorf("%d questions at once are too many; ask at most %d", len(questions), mostQuestions)
	}
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	defer in.watchReach(ctx, abort)()
	answers := make([]json.RawMessage, len(questions))
	var asking sync.WaitGroup
	for i, q := range questions {
		asking.Go(func() { // ends with its answer, its time limit or ctx
			answer, err := in.askOne(ctx, q)
			if err != nil {
				abort(err) // the first one counts
				return
			}
			answers[i] = answer
		})
	}
	asking.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return answers, nil
}

// refusedError is a question that the client answers with an error of its own.
type refusedError struct {
	method string
	err    *mcp.Error
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the client answered %s with error %d: %s", e.method, e.err.Code, e.err.Message)
}

func (e *refusedError) Unwrap() error { return e.err }

func (in *Incoming) askOne(ctx context.Context, q Question) (json.RawMessage, error) {
	out := &era.Outgoing{Method: q.Method, Params: in.withElicitationID(q)}
	outcome, err := in.Peer.Call(ctx, ownStream{in.X}, out, CallOptions{
		Timeout: max(in.engine.opts.AskTimeout, 0), Codec: in.Codec, TellFirst: true,
	})
	var own *mcp.Error
	switch {
	case err == nil && outcome.Err == nil:
		return outcome.Result, nil
	case err == nil:
		return nil, &refusedError{q.Method, outcome.Err}
	case ctx.Err() != nil, errors.As(err, &own):
		return nil, err
	case !errors.Is(err, transport.ErrUndeliverable) && !errors.Is(err, transport.ErrClosed):
		in.engine.opts.OnError(fmt.Errorf("ask the client: %s: %w", q.Method, err)) // of the wire, and not for the peer
	}
	return nil, ErrNoWay
}

// withElicitationID gives a page to visit the id that the revision wants it to have. Spec 2025-11-25, client/elicitation,
// "URL Mode Elicitation Requests".
func (in *Incoming) withElicitationID(q Question) json.RawMessage {
	if q.Method != mcp.MethodElicit || mcp.ElicitMode(q.Params) != mcp.ElicitModeURL {
		return q.Params
	}
	if _, has := jsonrpc.Member(q.Params, "elicitationId"); has || !in.Codec.Traits().URLElicitation {
		return q.Params
	}
	return jsonrpc.With(nil, q.Params, "elicitationId", jsonrpc.AppendString(nil, NewUUID()))
}

// NewUUID makes a random UUID (RFC 9562, version 4).
func NewUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// ownStream sends requests of this side on the stream of a call it serves. The answers come as messages of their own: on
// the same pipe, or posted in the session.
type ownStream struct{ x transport.Exchange }

var _ transport.Exchanger = ownStream{}

// Exchange implements transport.Exchanger.
func (s ownStream) Exchange(ctx context.Context, out transport.Outbound) (elsewhere bool, err error) {
	return true, s.x.Send(ctx, out.Frame)
}

// Shared implements transport.Exchanger: a cancellation has to be written.
func (s ownStream) Shared() bool { return true }

// Close has nothing to end: the stream belongs to the call.
func (s ownStream) Close() error { return nil }
