package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
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
	whole := req.TaskHoldsResult()
	state, err := d.look(ctx, req, v, ref, id, whole)
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
func (d *taskDesk) look(ctx context.Context, req *server.Request, v *view, ref taskRef, id string, whole bool) (json.RawMessage, error) {
	if r, ok := d.ended(ctx, ref, id); ok {
		return held(r, whole), nil
	} else if ref.ID == "" {
		return nil, unknownTask()
	}
	answer, err := d.ask(ctx, req, v, ref, upstream.Call{Method: mcp.MethodGetTask, Brief: !whole})
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

// passed takes the steps around the result, or the error, of a task that has ended, and puts what comes of that into its state.
func (d *taskDesk) passed(ctx context.Context, req *server.Request, v *view, ref taskRef, state json.RawMessage) (json.RawMessage, error) {
	result, has := jsonrpc.Member(state, "result")
	raw, _ := jsonrpc.Member(state, "error")
	failure := (&mcp.Task{Error: raw}).Err()
	if !has && failure == nil {
		return state, nil
	}
	passed, err := walk(ctx, v.rules.Steps, d.passage(req, v, ref), func(context.Context) (*server.RawResult, error) {
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
	state, err := d.state(ctx, req, v, ref, id)
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
	if state, err := d.state(ctx, req, v, ref, id); err == nil && mcp.TaskStatus(member(state, "status")).Final() {
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

// result serves tasks/result of 2025-11-25: it waits for the end of the task and answers as its call would have been answered.
// Meanwhile the questions of the task go to the client on the stream of this request.
func (d *taskDesk) result(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	id, ref, v, err := d.taskOf(ctx, req)
	if err != nil {
		return nil, err
	}
	p := d.passage(req, v, ref)
	result, err := walk(ctx, v.rules.Steps, p, func(ctx context.Context) (*server.RawResult, error) {
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

// taskPage is the number of tasks of one page of a list.
const taskPage = 50

var errCursor = mcp.InvalidParams("unknown cursor; begin again without one")

// list serves tasks/list, where its senders can be told apart: the tasks of all servers that the sender has begun here, the
// oldest first. A server's own list is not asked for: over a connection that many share it is the list of all of them.
func (d *taskDesk) list(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	owner := taskOwner(req)
	if owner == "" {
		return nil, mcp.MethodNotFound(req.Method())
	}
	raw, _ := jsonrpc.Member(req.Params(), "cursor")
	after, ok := jsonrpc.Text(raw)
	if raw != nil && (!ok || after == "") {
		return nil, errCursor
	}
	records, err := d.kept.List(ctx, owner, after, taskPage+1)
	switch {
	case errors.Is(err, tasks.ErrNotFound):
		return nil, errCursor
	case err != nil:
		return nil, err
	}
	more := len(records) > taskPage
	records = records[:min(len(records), taskPage)]
	page := []byte(`{"tasks":[`)
	for _, entry := range d.entries(ctx, req, records) {
		if entry == nil {
			continue
		}
		if page[len(page)-1] != '[' {
			page = append(page, ',')
		}
		page = append(page, entry...)
	}
	page = append(page, ']')
	if more {
		page = jsonrpc.AppendString(append(page, `,"nextCursor":`...), records[len(records)-1].ID)
	}
	return &server.RawResult{Result: append(page, '}')}, nil
}

// entries asks for the tasks of one page, some at once. Nil stands for one that is gone.
func (d *taskDesk) entries(ctx context.Context, req *server.Request, records []tasks.Record) []json.RawMessage {
	const atOnce = 8
	entries, place := make([]json.RawMessage, len(records)), make(chan struct{}, atOnce)
	var asking sync.WaitGroup
	for i := range records {
		place <- struct{}{}
		asking.Go(func() { // ends with its request
			defer func() { <-place }()
			defer d.b.guard("the list of tasks", nil)
			entries[i] = d.entry(ctx, req, &records[i])
		})
	}
	asking.Wait()
	return entries
}

// entry is one task of a list. Of a server that cannot be asked now it is what is known here.
func (d *taskDesk) entry(ctx context.Context, req *server.Request, r *tasks.Record) json.RawMessage {
	ref, v, err := d.open(ctx, req, r.ID)
	if err != nil {
		return nil
	}
	state, err := d.state(ctx, req, v, ref, r.ID)
	switch {
	case err == nil:
		return state
	case errors.Is(err, mcp.CodeInvalidParams):
		return nil
	}
	return held(r, false)
}
