package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// TaskLine is how work that goes on after the answer of its call reaches the client. Its methods may be called concurrently.
type TaskLine interface {
	// ID is the id of the task.
	ID() string

	// Ask puts questions and returns when all have an answer, under the keys of the questions. It fails when they cannot be
	// answered any more, and with the cause of ctx.
	Ask(ctx context.Context, questions mcp.InputRequests) (mcp.InputResponses, error)

	// Say tells in words how far the work is.
	Say(ctx context.Context, message string)
}

// TaskOutcome is what a tool call has come to: a result or an error. Its members have a JSON form, to be kept.
type TaskOutcome struct {
	Result     json.RawMessage `json:"result,omitempty"`     // neutral, as of a call that was answered at once
	IsError    bool            `json:"isError,omitempty"`    // the tool reports a failure in the result
	WrapOutput bool            `json:"wrapOutput,omitempty"` // see [RawResult]
	Error      json.RawMessage `json:"error,omitempty"`      // code, message and data; nil where there is a result
}

// Detached is a tool call whose work goes on after its answer.
type Detached struct{ r *Request }

// Detach makes work of a tool call that may outlive it. Questions of the work go to the line and wait there; its progress is
// words on the line, and where the client's revision has it, goes to the client too.
func (r *Request) Detach(line TaskLine) *Detached {
	d := &Request{server: r.server, in: r.in, tool: r.tool, line: line, record: r.record, answers: r.answers, responses: r.responses, run: 1}
	if from := r.progress(); from != nil {
		d.goesOn(from)
	}
	a := &asker{r: d, chain: seal.NewChain()}
	if before := r.asks.Load(); before != nil {
		a.chain, a.once = before.done()
	} else if r.record != nil {
		a.chain, a.once = r.record.Chain, r.record.Once
	}
	d.asks.Store(a)
	d.byCall.Store(true)
	return &Detached{d}
}

// Changed tells the client that the task has changed, where it hears of that without asking. It does not wait.
func (d *Detached) Changed() { d.r.in.TellTask(d.r.line.ID()) }

// Work runs fn under ctx and returns what the call has come to, as the tool's own handler would have answered it. Questions
// that fn returns are put, and it runs again with the answers. A panic is contained. It runs on the caller's goroutine.
func (d *Detached) Work(ctx context.Context, fn func(ctx context.Context, req *Request) (any, error)) TaskOutcome {
	for r := d.r; ; {
		value, err := r.contained(r.under(ctx), fn)
		var ask *mcp.InputRequired
		if errors.As(err, &ask) {
			next, failed := r.next(ctx, ask)
			if failed == nil {
				r = next
				continue
			}
			err = failed
		}
		return r.kept(value, err)
	}
}

// done is what the next run has to know of the steps of this one.
func (a *asker) done() (seal.ChainID, []seal.OnceResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.chain, a.once
}

// contained runs fn and makes an error of its panic.
func (r *Request) contained(ctx context.Context, fn func(ctx context.Context, req *Request) (any, error)) (value any, err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover() // nil for runtime.Goexit, and then this goroutine ends all the same
		r.server.report(fmt.Errorf("the work of %s %q panicked: %v\n%s", r.Method(), r.Name(), v, debug.Stack()))
		err = mcp.Errorf(mcp.CodeInternal, "Internal error")
	}()
	value, err = fn(ctx, r)
	returned = true
	return value, err
}

// kept makes an outcome of what fn has returned. Encoding runs code of the tool's types, so a panic is contained here too.
func (r *Request) kept(value any, err error) (out TaskOutcome) {
	defer func() {
		if v := recover(); v != nil {
			r.server.report(fmt.Errorf("encoding the result of %s %q panicked: %v\n%s", r.Method(), r.Name(), v, debug.Stack()))
			out = outcomeOf(r, &era.Outcome{}) // an internal error
		}
	}()
	return outcomeOf(r, r.concluded(value, err))
}

// next puts the questions that a run has returned, and makes the run that finds the answers.
func (r *Request) next(ctx context.Context, ask *mcp.InputRequired) (*Request, error) {
	if err := r.server.canPut(r, ask); err != nil {
		return nil, err
	}
	answers := mcp.InputResponses{}
	if len(ask.Requests) > 0 {
		got, err := r.park(ctx, ask.Requests)
		if err != nil {
			return nil, err
		}
		answers = got
	} else if err := sleep(ctx, firstPause); err != nil {
		return nil, err
	}
	record := r.nextRecord()
	record.State = ask.State
	next := &Request{server: r.server, in: r.in, tool: r.tool, line: r.line, record: record, answers: answers, run: int(record.Round) + 1}
	next.goesOn(record.Progress)
	next.byCall.Store(true)
	return next, nil
}

// park puts questions to the line of a task and returns the answers that fit.
func (r *Request) park(ctx context.Context, questions mcp.InputRequests) (mcp.InputResponses, error) {
	got, err := r.line.Ask(ctx, fit(r, questions))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &cannotAsk{why: err.Error()}
	}
	answers := make(mcp.InputResponses, len(got))
	for key, answer := range got {
		if err := checkAnswer(remembered(questions[key]), answer); err != nil {
			r.server.dropped(r, key, err)
			continue
		}
		answers[key] = answer
	}
	return answers, nil
}

// concluded is the answer that a tool's handler would have given.
func (r *Request) concluded(value any, err error) *era.Outcome {
	var out output
	if err == nil {
		out, err = r.tool.encode(value)
	}
	switch {
	case err != nil:
		return r.server.toolFailure(r, r.tool, err)
	case out.isText:
		return &era.Outcome{Result: appendText(nil, out.text)}
	}
	return r.server.toolResult(r, r.tool, out.result)
}

// outcomeOf makes an outcome that can be kept. An error gets the number that it has on the wire of its client.
func outcomeOf(r *Request, out *era.Outcome) TaskOutcome {
	if out.Err == nil && out.Result == nil {
		out = &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Internal error")}
	}
	if out.Err == nil {
		failed, _ := jsonrpc.Member(out.Result, "isError")
		return TaskOutcome{Result: jsonrpc.AppendRaw(nil, out.Result), IsError: string(failed) == "true", WrapOutput: out.WrapOutput}
	}
	wire := r.in.Codec.WireError(out.Err)
	raw, err := jsonv2.Marshal(struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitzero"`
	}{wire.Code, wire.Message, wire.Data})
	if err != nil {
		r.server.report(fmt.Errorf("keep the error of a task: %w", err))
		raw = []byte(`{"code":-32603,"message":"Internal error"}`)
	}
	return TaskOutcome{Error: raw}
}
