package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Limits of what a server may ask on behalf of one call.
const (
	mostQuestions = 100  // in one round
	mostRepeats   = 1000 // rounds without a question, which only ask for patience
)

// Pauses before a call is repeated that the server only wants repeated.
const (
	firstRepeat = 250 * time.Millisecond // doubles
	lastRepeat  = 10 * time.Second
)

// converse sends a request and answers what the server wants to know before it answers, by the handlers of Options. Each
// round is a request of its own, through the middleware; call.Total bounds them together.
func (c *Client) converse(ctx context.Context, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	began := time.Now()
	outcome, err := c.send(ctx, out, call)
	if err != nil || outcome.Input == nil && !c.wantsVisit(outcome) {
		return outcome, err
	}
	t := &talk{c: c, out: out, call: call, began: began, pause: firstRepeat}
	return t.goOn(ctx, outcome)
}

// talk is a call that the server answers with questions.
type talk struct {
	c       *Client
	out     *era.Outgoing
	call    engine.CallOptions
	began   time.Time
	round   int // of those with questions
	repeats int
	pause   time.Duration
	visited bool // the pages of one refusal were offered
}

func (t *talk) goOn(ctx context.Context, outcome *era.Outcome) (*era.Outcome, error) {
	ctx, cancel := t.within(ctx)
	defer cancel()
	for {
		next := repeated(t.out)
		var err error
		switch {
		case outcome.Input != nil:
			next.InputResponses, err = t.answer(ctx, outcome.Input)
			next.RequestState = outcome.Input.State
		case !t.visited && t.c.wantsVisit(outcome):
			t.visited = true
			err = t.visit(ctx, outcome.Err)
		default:
			outcome.Cache = mcp.CacheFor(0, mcp.CachePrivate) // what was asked for is not the next caller's
			return outcome, nil
		}
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		if outcome, err = t.c.send(ctx, next, t.call); err != nil {
			return nil, err
		}
		t.out = next
	}
}

// within bounds the rest of the talk by the time of the whole call and by the life of the client.
func (t *talk) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.c.life, func() {
		cancel(mcp.Errorf(mcp.CodeConnectionClosed, "the connection ended while the server's questions were being answered"))
	})
	end := func() { stop(); cancel(nil) }
	if t.call.Total <= 0 {
		return ctx, end
	}
	cause := mcp.Errorf(mcp.CodeRequestTimeout, "no answer to %s within %s, the questions of the server included", t.out.Method, t.call.Total)
	timed, free := context.WithDeadlineCause(ctx, t.began.Add(t.call.Total), cause)
	return timed, func() { free(); end() }
}

// answer answers one round: an object of the answers by the keys of the questions, nil where there was no question.
func (t *talk) answer(ctx context.Context, in *era.InputRound) (json.RawMessage, error) {
	questions, err := readRound(in.Requests)
	if err != nil {
		return nil, err
	}
	if len(questions) == 0 {
		return nil, t.wait(ctx)
	}
	t.pause = firstRepeat
	if t.round++; t.round > t.c.opts.MaxInputRounds && t.c.opts.MaxInputRounds > 0 {
		return nil, mcp.Errorf(mcp.CodeInputRoundsExceeded, "the server asked for input more than %d times for one %s; see Options.MaxInputRounds",
			t.c.opts.MaxInputRounds, t.out.Method).Because(inputRequired(in))
	}
	for _, q := range questions { // before the user is asked anything
		if !t.c.answers(q.method, q.params) {
			return nil, mcp.Errorf(mcp.CodeInputHandlerMissing, "the server asks for input by %s, which no handler in Options takes; set one, or CallOptions.ManualInput", q.method).
				Because(inputRequired(in))
		}
	}
	if err := t.askAll(ctx, questions); err != nil {
		return nil, err
	}
	o := era.OpenObject(nil)
	for _, q := range questions {
		o.Resume(jsonrpc.AppendRaw(o.KeyOf(q.key), q.answer))
	}
	return o.Close(), nil
}

// wait holds a call back that the server wants repeated with nothing but its state.
func (t *talk) wait(ctx context.Context) error {
	if t.repeats++; t.repeats > mostRepeats {
		return mcp.Errorf(mcp.CodeInputRoundsExceeded, "the server wanted %s repeated more than %d times without a question", t.out.Method, mostRepeats)
	}
	timer := time.NewTimer(t.pause)
	defer timer.Stop()
	t.pause = min(2*t.pause, lastRepeat)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// question is one of a round, and its answer.
type question struct {
	key    jsonrpc.Field
	method string
	params json.RawMessage
	answer json.RawMessage
}

// readRound reads the questions of a round in their order.
func readRound(requests json.RawMessage) ([]*question, error) {
	var all []*question
	for f := range jsonrpc.Fields(requests) {
		raw, _ := jsonrpc.Member(f.Value, "method")
		method, ok := jsonrpc.Text(raw)
		switch {
		case len(all) == mostQuestions:
			return nil, mcp.Errorf(mcp.CodeInvalidResult, "the server asks more than %d questions at once", mostQuestions)
		case !ok:
			return nil, mcp.Errorf(mcp.CodeInvalidResult, "the server asks for input %.60s without naming a method", f.Name)
		case method != mcp.MethodElicit && method != mcp.MethodCreateMessage && method != mcp.MethodListRoots:
			return nil, mcp.Errorf(mcp.CodeInvalidResult, "the server asks for input %.60s by %.60q; only %s, %s and %s ask",
				f.Name, method, mcp.MethodElicit, mcp.MethodCreateMessage, mcp.MethodListRoots)
		}
		params, _ := jsonrpc.Member(f.Value, "params")
		all = append(all, &question{key: f, method: method, params: params})
	}
	return all, nil
}

// askAll gives all questions of a round to their handlers at once. The first failure ends the others.
func (t *talk) askAll(ctx context.Context, questions []*question) error {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	var asking sync.WaitGroup
	for _, q := range questions {
		asking.Go(func() { // ends with its handler
			err := errors.New("its handler has ended its goroutine")
			defer func() {
				if err != nil {
					abort(fmt.Errorf("answer the server's question %s (%s): %w", q.key.Name, q.method, detailed(err))) // the first one counts
				}
			}()
			err = t.ask(ctx, q)
		})
	}
	asking.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// ask runs one handler and contains its panic.
func (t *talk) ask(ctx context.Context, q *question) (err error) {
	defer func() {
		if v := recover(); v != nil {
			t.c.faults.report(fmt.Errorf("the handler of %s panicked: %v\n%s", q.method, v, debug.Stack()))
			err = fmt.Errorf("its handler panicked: %v", v)
		}
	}()
	key, _ := jsonrpc.Text(q.key.Name)
	from := Origin{Method: t.out.Method, Key: key, Round: t.round}
	if own, ok := t.call.Tag.(*rawCall); ok {
		from.Tag = own.tag
	}
	if t.c.handles(q.method, q.params) {
		q.answer, err = t.c.answer(ctx, q.method, q.params, from)
	} else {
		q.answer, err = t.c.opts.OnRequest(ctx, &IncomingRequest{Method: q.method, Params: q.params, Tag: from.Tag})
	}
	if err == nil && !isObject(q.answer) {
		err = fmt.Errorf("the answer is no JSON object: %.60q", q.answer)
	}
	return err
}

// answers tells whether there is a handler for a question of a round: a typed one, or the one for everything.
func (c *Client) answers(method string, params json.RawMessage) bool {
	return c.handles(method, params) || c.opts.OnRequest != nil
}

// wantsVisit tells whether a server of 2025-11-25 refuses a call until the user has visited pages, and there is a handler
// for that. Spec 2025-11-25, client/elicitation, "URL Mode With Elicitation Required Error".
func (c *Client) wantsVisit(o *era.Outcome) bool {
	if o.Err == nil || !o.Err.Remote || o.Err.Code != mcp.CodeURLElicitationRequired || c.opts.ElicitURL == nil || !c.traits().URLElicitation {
		return false
	}
	pages, _ := o.Err.URLElicitationData()
	return len(pages) > 0
}

// visit offers the pages of a refusal one after the other. When it succeeds, the call may be repeated, once.
func (t *talk) visit(ctx context.Context, refusal *mcp.Error) error {
	pages, _ := refusal.URLElicitationData()
	if len(pages) > mostQuestions {
		return refusal.Because(fmt.Errorf("more than %d pages at once", mostQuestions))
	}
	for _, page := range pages {
		raw, err := encode(page)
		if err != nil {
			return refusal.Because(err)
		}
		q := &question{key: jsonrpc.Field{Name: []byte(`"url"`)}, method: mcp.MethodElicit, params: jsonrpc.With(nil, raw, "mode", []byte(`"url"`))}
		if err := t.askAll(ctx, []*question{q}); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return refusal.Because(err)
		}
		if action, _ := mcp.Meta(q.answer).Text("action"); action != string(mcp.ElicitAccept) {
			return refusal.Because(fmt.Errorf("the user does not visit the page: %s", action))
		}
	}
	return nil
}
