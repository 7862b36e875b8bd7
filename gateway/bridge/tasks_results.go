package bridge

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// However the result of a task is handed out (by tasks/get, by tasks/result, or with news of it), it takes the steps of the rules.

// passed takes the steps around the result, or the error, of a task that has ended, and puts what comes of that into its state.
func (d *taskDesk) passed(ctx context.Context, req *server.Request, v *view, ref taskRef, state json.RawMessage) (json.RawMessage, error) {
	result, has := jsonrpc.Member(state, "result")
	raw, _ := jsonrpc.Member(state, "error")
	failure := (&mcp.Task{Error: raw}).Err()
	if !has && failure == nil {
		return state, nil
	}
	passed, err := walk(ctx, v.rules.Steps, d.passage(req, v, ref), func(context.Context, *Passage) (*server.RawResult, error) {
		if !has {
			return nil, shownFault(v, destination{Target: ref.target()}, failure)
		}
		return shownResult(v, ref, result), nil
	})
	var fault *mcp.Error
	switch {
	case has && err == nil:
		return jsonrpc.With(nil, state, "result", passed.Result), nil
	case !has && errors.As(err, &fault) && fault == failure:
		return state, nil
	case !has && errors.As(err, &fault):
		told, err := json.Marshal(struct {
			Code    mcp.Code        `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		}{fault.Code, fault.Message, fault.Data})
		return jsonrpc.With(nil, state, "error", told), err
	}
	return nil, err
}

// passage is the fetching of a task's result. The call that it comes from has been a passage of its own.
func (d *taskDesk) passage(req *server.Request, v *view, ref taskRef) *Passage {
	return &Passage{Request: req, Entry: v.entry(route.Tool, ref.target()), Params: req.Params(), Task: true, Resumed: true}
}

// shownResult is the result of a task with the addresses that clients know.
func shownResult(v *view, ref taskRef, result json.RawMessage) *server.RawResult {
	return &server.RawResult{Result: toolBack(v, destination{Target: route.Target{Server: ref.Server}}, result), WrapOutput: v.wrapped[ref.target()]}
}

// result serves tasks/result of 2025-11-25: it waits for the end of the task and answers as its call would have been answered.
// Meanwhile the questions of the task go to the client on the stream of this request.
func (d *taskDesk) result(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	id, ref, v, err := d.taskOf(ctx, req)
	if err != nil {
		return nil, err
	}
	p := d.passage(req, v, ref)
	result, err := walk(ctx, v.rules.Steps, p, func(ctx context.Context, p *Passage) (*server.RawResult, error) {
		if r, ok := d.ended(ctx, ref, id); ok && r.Status == mcp.TaskCompleted {
			return shownResult(v, ref, r.Outcome.Result), nil
		} else if ok {
			return nil, errCancelled
		} else if ref.ID == "" {
			return nil, unknownTask()
		}
		return d.await(ctx, p, v, ref, id)
	})
	if err != nil {
		return nil, err
	}
	related := *result
	related.Result = withRelated(result.Result, id)
	return &related, nil
}

// await waits for the end of a task of a server. The errors are for the client.
func (d *taskDesk) await(ctx context.Context, p *Passage, v *view, ref taskRef, id string) (*server.RawResult, error) {
	ctx, stop := d.until(ctx)
	defer stop()
	w := &taskWait{
		b: d.b, ref: ref, caller: caller(ctx, p.Request),
		ask: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			return p.inPlace(ctx, method, withRelated(params, id))
		},
		over: func(ctx context.Context) bool { _, ended := d.ended(ctx, ref, id); return ended },
	}
	result, err := w.end(ctx)
	var fault *mcp.Error
	switch {
	case err == nil:
		return shownResult(v, ref, result), nil
	case errors.As(err, &fault) && !fault.Remote && !fault.Code.IsLocal():
		return nil, err
	case errors.Is(err, manager.ErrUnknownServer):
		return nil, unknownTask()
	}
	return nil, d.b.failure(ctx, p.Request, v, destination{Target: ref.target()}, err)
}

// withRelated adds to a message which task it belongs to. Spec 2025-11-25, basic/utilities/tasks, "Related Task Metadata".
func withRelated(obj json.RawMessage, id string) json.RawMessage {
	obj = cmpParams(obj)
	meta, ok := jsonrpc.Member(obj, "_meta")
	if !ok {
		meta = json.RawMessage("{}")
	}
	task := jsonrpc.With(nil, json.RawMessage("{}"), "taskId", jsonrpc.AppendString(nil, id))
	return jsonrpc.With(nil, obj, "_meta", jsonrpc.With(nil, meta, mcp.MetaRelatedTask, task))
}
