package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// unknown is the answer for a task that there is not, or that belongs to somebody else.
func unknown() *mcp.Error {
	return mcp.InvalidParams("unknown task: it does not exist, or its time is over")
}

// taskOf reads the id of a request.
func taskOf(req *server.Request) (string, error) {
	raw, _ := mcp.Member(req.Params(), "taskId")
	id, ok := jsonrpc.Text(raw)
	if !ok {
		return "", mcp.InvalidParams("%s needs a taskId", req.Method())
	}
	return id, nil
}

// target finds the task that a request names. The errors are for the client.
func (h *Host) target(ctx context.Context, req *server.Request) (Record, *live, error) {
	id, err := taskOf(req)
	if err != nil {
		return Record{}, nil, err
	}
	r, l, err := h.owned(ctx, req, id)
	switch {
	case errors.Is(err, ErrNotFound):
		return r, nil, unknown()
	case err != nil:
		return r, nil, fmt.Errorf("read a task: %w", err)
	}
	return r, l, nil
}

// get serves tasks/get.
func (h *Host) get(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	r, _, err := h.target(ctx, req)
	if err != nil {
		return nil, err
	}
	return &server.RawResult{Result: r.wire()}, nil
}

// update serves tasks/update: answers to questions of the task. Those that nobody waits for are passed over.
func (h *Host) update(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	raw, _ := mcp.Member(req.Params(), "inputResponses")
	if !jsonrpc.IsObject(raw) {
		return nil, mcp.InvalidParams("tasks/update needs inputResponses: an object of answers by the key of their question")
	}
	r, l, err := h.target(ctx, req)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Status.Final(): // nobody waits for them
	case l != nil:
		l.answer(answersIn(raw))
	default:
		if err := h.reach(ctx, &r, word{Task: r.ID}, raw); err != nil {
			return nil, err
		}
	}
	return &server.RawResult{Result: json.RawMessage("{}")}, nil
}

// answersIn reads answers by the key of their question.
func answersIn(raw json.RawMessage) mcp.InputResponses {
	answers := mcp.InputResponses{}
	for key, answer := range jsonrpc.Members(raw) {
		answers[key] = answer
	}
	return answers
}

// errCancelled is the cause of a context whose task was cancelled.
var errCancelled = errors.New("the task was cancelled")

// cancel serves tasks/cancel: the task has ended from now on, and its work is told to stop.
func (h *Host) cancel(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	r, l, err := h.target(ctx, req)
	if err != nil {
		return nil, err
	}
	ended, err := h.settle(ctx, r.ID, func(r *Record) { r.Status, r.Message = mcp.TaskCancelled, "cancelled by the client" })
	if err != nil {
		return nil, err
	}
	switch {
	case l != nil:
		l.end(errCancelled)
		if ended {
			l.detached.Changed()
		}
	case ended && h.server.Bus() != nil:
		_ = h.reach(ctx, &r, word{Task: r.ID, End: true}, nil) // the task has ended; work that nobody can reach ends with its time
	}
	if !ended && req.EndsTasksOnce() {
		return nil, mcp.InvalidParams("the task has ended already and cannot be cancelled")
	}
	if r, _, err = h.target(ctx, req); err != nil {
		return nil, err
	}
	return &server.RawResult{Result: r.wire()}, nil
}

// list serves tasks/list, where its senders can be told apart: the tasks of the sender, the oldest first.
func (h *Host) list(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	owner := ownerOf(req)
	if owner == "" {
		return nil, mcp.MethodNotFound(req.Method())
	}
	raw, _ := mcp.Member(req.Params(), "cursor")
	after, ok := jsonrpc.Text(raw)
	if raw != nil && (!ok || after == "") {
		return nil, mcp.InvalidParams("unknown cursor; begin again without one")
	}
	records, err := h.store.List(ctx, owner, after, h.opts.PageSize+1)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, mcp.InvalidParams("unknown cursor; begin again without one")
	case err != nil:
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	more := len(records) > h.opts.PageSize
	records = records[:min(len(records), h.opts.PageSize)]
	page := []byte(`{"tasks":[`)
	for i, r := range records {
		if i > 0 {
			page = append(page, ',')
		}
		h.mu.Lock()
		l := h.live[r.ID]
		h.mu.Unlock()
		if l != nil && !r.Status.Final() {
			l.show(&r)
		}
		page = append(page, r.entry()...)
	}
	page = append(page, ']')
	if more {
		page = append(page, `,"nextCursor":`...)
		page = jsonrpc.AppendString(page, records[len(records)-1].ID)
	}
	return &server.RawResult{Result: append(page, '}')}, nil
}
