package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// result serves tasks/result of 2025-11-25: it waits until the task has ended and answers as its call would have been
// answered. Meanwhile the questions of the task go to the client on the stream of this request.
func (h *Host) result(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	carries, sent := true, map[string]bool{}
	for {
		r, l, err := h.target(ctx, req)
		switch {
		case err != nil:
			return nil, err
		case r.Status.Final():
			return resultOf(&r)
		case l == nil: // it runs in another process
			if carries && h.server.Bus() != nil {
				carries = h.pass(ctx, req, &r, sent)
			}
			err = sleep(ctx, r.Poll)
		default:
			err = h.attend(ctx, req, l, &carries)
		}
		if err != nil {
			return nil, err
		}
	}
}

// attend waits for a change of a task that runs here, and sends its questions if the request's stream carries any.
func (h *Host) attend(ctx context.Context, req *server.Request, l *live, carries *bool) error {
	stir := l.changes()
	if *carries {
		if questions := l.claim(); len(questions) > 0 {
			*carries = h.send(ctx, req, l, questions)
			return nil
		}
	}
	if r, err := h.store.Get(ctx, l.id); err != nil || r.Status.Final() {
		return nil //nolint:nilerr // the next look tells which
	}
	select {
	case <-stir:
	case <-l.ctx.Done():
		return sleep(ctx, settling) // its end is being kept
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// settling is the pause between the end of a task's work and the next look at what is kept of it.
const settling = 10 * time.Millisecond

// send asks the client what a task wants to know. It answers false when there is no way to it on this request; the questions
// then wait for another one.
func (h *Host) send(ctx context.Context, req *server.Request, l *live, questions mcp.InputRequests) bool {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })()
	marked := make(mcp.InputRequests, len(questions))
	for key, q := range questions {
		q.Params = withRelated(q.Params, l.id)
		marked[key] = q
	}
	answers, err := req.SendInput(ctx, marked)
	var refused *mcp.Error
	switch {
	case err == nil:
		l.answer(answers)
		return true
	case errors.As(err, &refused) && refused.Remote:
		l.release(questions, err)
		return true
	}
	l.release(questions, nil)
	return false
}

// resultOf is what the call of a task would have been answered.
func resultOf(r *Record) (*server.RawResult, error) {
	switch r.Status {
	case mcp.TaskCompleted:
		return &server.RawResult{Result: withRelated(r.Outcome.Result, r.ID), WrapOutput: r.Outcome.WrapOutput}, nil
	case mcp.TaskCancelled:
		return nil, mcp.Errorf(mcp.CodeInternal, "the task was cancelled and has no result")
	}
	failed := (&mcp.Task{Error: r.Outcome.Error}).Err()
	if failed == nil {
		return nil, errors.New("a task has failed without an error")
	}
	failed.Remote = false
	return nil, failed
}

// withRelated adds to a message which task it belongs to.
func withRelated(obj json.RawMessage, id string) json.RawMessage {
	if obj == nil {
		obj = json.RawMessage("{}")
	}
	meta, ok := jsonrpc.Member(obj, "_meta")
	if !ok {
		meta = json.RawMessage("{}")
	}
	task := jsonrpc.With(nil, json.RawMessage("{}"), "taskId", jsonrpc.AppendString(nil, id))
	return jsonrpc.With(nil, obj, "_meta", jsonrpc.With(nil, meta, mcp.MetaRelatedTask, task))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, settling))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
