package bridge

import (
	"context"
	"encoding/json"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// get serves tasks/get.
func (d *taskDesk) get(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	id, ref, v, err := d.taskOf(ctx, req)
	if err != nil {
		return nil, err
	}
	state, err := d.state(ctx, req, v, ref, id)
	if err != nil {
		return nil, err
	}
	return &server.RawResult{Result: state}, nil
}

// state is a task as the sender of a request sees it.
func (d *taskDesk) state(ctx context.Context, req *server.Request, v *view, ref taskRef, id string) (json.RawMessage, error) {
	return d.stateBy(ctx, req, v, ref, id, upstream.Call{Method: mcp.MethodGetTask})
}

// stateBy is state with what its server is asked, where that is needed.
func (d *taskDesk) stateBy(ctx context.Context, req *server.Request, v *view, ref taskRef, id string, get upstream.Call) (json.RawMessage, error) {
	whole := req.TaskHoldsResult()
	get.Brief = !whole
	state, err := d.look(ctx, req, v, ref, id, get)
	if err != nil {
		return nil, err
	}
	if whole {
		if state, err = d.passed(ctx, req, v, ref, state); err != nil {
			return nil, err
		}
		state = d.askable(ctx, req, ref, state)
	}
	return jsonrpc.With(nil, state, "taskId", jsonrpc.AppendString(nil, id)), nil
}

// look asks how far a task is, as its server has it, or as it is held here.
func (d *taskDesk) look(ctx context.Context, req *server.Request, v *view, ref taskRef, id string, get upstream.Call) (json.RawMessage, error) {
	if r, ok := d.ended(ctx, ref, id); ok {
		return held(r, !get.Brief), nil
	} else if ref.ID == "" {
		return nil, unknownTask()
	}
	answer, err := d.ask(ctx, req, v, ref, get)
	if err != nil {
		return nil, err
	}
	return answer.Result, nil
}

// ended finds a task whose end is settled here: one that is held, or that its client has cancelled.
func (d *taskDesk) ended(ctx context.Context, ref taskRef, id string) (*tasks.Record, bool) {
	r, err := d.kept.Get(ctx, id)
	if err != nil || !r.Status.Final() {
		return nil, false
	}
	return &r, true
}

// askable leaves of the questions of a task those that the client has declared to answer. A server that can be told so is; of one
// that cannot they are left, since it was told with its call.
func (d *taskDesk) askable(ctx context.Context, req *server.Request, ref taskRef, state json.RawMessage) json.RawMessage {
	questions, ok := jsonrpc.Member(state, "inputRequests")
	if !ok {
		return state
	}
	client, left, some := req.ClientCapabilities(), json.RawMessage("{}"), false
	for key, q := range jsonrpc.Members(questions) {
		params, _ := jsonrpc.Member(q, "params")
		if refusal := answerable(client, member(q, "method"), params); refusal != nil {
			_, err := d.b.askTask(ctx, ref, upstream.Call{Method: mcp.MethodUpdateTask, Caller: caller(ctx, req), Refuse: map[string]error{key: refusal}})
			if err == nil {
				continue
			}
		}
		left, some = jsonrpc.With(nil, left, key, q), true
	}
	if some {
		return jsonrpc.With(nil, state, "inputRequests", left)
	}
	return jsonrpc.With(nil, jsonrpc.Without(state, "inputRequests"), "status", []byte(`"`+mcp.TaskWorking+`"`))
}

// update serves tasks/update.
func (d *taskDesk) update(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	answers, _ := jsonrpc.Member(req.Params(), "inputResponses")
	if !jsonrpc.IsObject(answers) {
		return nil, mcp.InvalidParams("tasks/update needs inputResponses: an object of answers by the key of their question")
	}
	id, ref, v, err := d.taskOf(ctx, req)
	if err != nil {
		return nil, err
	}
	if _, ended := d.ended(ctx, ref, id); !ended {
		params := jsonrpc.With(nil, json.RawMessage("{}"), "inputResponses", answers)
		if _, err := d.ask(ctx, req, v, ref, upstream.Call{Method: mcp.MethodUpdateTask, Params: params}); err != nil {
			return nil, err
		}
	}
	return &server.RawResult{Result: json.RawMessage("{}")}, nil
}

var errEnded = mcp.InvalidParams("the task has ended already and cannot be cancelled")

// cancel serves tasks/cancel. Where a task has ended with that for its client, it has for all times here, whatever its server
// makes of it.
func (d *taskDesk) cancel(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	id, ref, v, err := d.taskOf(ctx, req)
	if err != nil {
		return nil, err
	}
	state, err := d.stateBy(ctx, req, v, ref, id, upstream.Call{Method: mcp.MethodGetTask, Ahead: true}) // a cancellation waits for no place
	if err != nil {
		return nil, err
	}
	if mcp.TaskStatus(member(state, "status")).Final() {
		if req.EndsTasksOnce() {
			return nil, errEnded
		}
		return &server.RawResult{Result: state}, nil
	}
	if _, err := d.ask(ctx, req, v, ref, upstream.Call{Method: mcp.MethodCancelTask}); err != nil {
		return d.overtaken(ctx, req, v, ref, id, err)
	}
	if req.EndsTasksOnce() {
		state = d.cancelled(ctx, id, state)
	}
	d.wake(ref)
	return &server.RawResult{Result: state}, nil
}

// overtaken answers a cancellation that the server has refused: when the task has ended meanwhile that is none for clients that
// may cancel such a one.
func (d *taskDesk) overtaken(ctx context.Context, req *server.Request, v *view, ref taskRef, id string, refusal error) (*server.RawResult, error) {
	if req.EndsTasksOnce() {
		return nil, refusal
	}
	if state, err := d.stateBy(ctx, req, v, ref, id, upstream.Call{Method: mcp.MethodGetTask, Ahead: true}); err == nil && mcp.TaskStatus(member(state, "status")).Final() {
		return &server.RawResult{Result: state}, nil
	}
	return nil, refusal
}

// cancelled makes a task one that was cancelled.
func (d *taskDesk) cancelled(ctx context.Context, id string, state json.RawMessage) json.RawMessage {
	_, err := d.kept.Update(ctx, id, func(r *tasks.Record) error {
		r.Status, r.Message = mcp.TaskCancelled, "cancelled by the client"
		return nil
	})
	if err != nil { // it was begun before this process, or the list was full: the server alone knows
		d.b.opts.Logger.Debug("a cancelled task is not in the list: " + err.Error())
	}
	return jsonrpc.With(nil, jsonrpc.Without(state, "inputRequests"), "status", []byte(`"`+mcp.TaskCancelled+`"`))
}
