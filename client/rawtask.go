package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// RawTask is one task of the server for a relay: whatever the revision, it is read and answered in the form of the extension.
// Where the result of a task is fetched by a request that waits and that carries its questions, as on 2025-11-25, RawTask
// makes that request when the task wants input, and holds the questions until they are answered. Its methods may be called
// concurrently.
//
// Questions reach it by [RawTask.Ask], which whoever answers the server's requests (Options.OnRequest) has to call with those
// that name the task ([IncomingRequest.Task]).
type RawTask struct {
	c  *Client
	id string

	mu      sync.Mutex
	open    []*rawQuestion // in the order they came
	asked   int
	prefix  string             // of the keys, so that those of another RawTask for the same task differ
	came    chan struct{}      // closed at the next question
	waiting bool               // a request waits for the result and carries the questions
	end     context.CancelFunc // of that request; nil for none
}

// RawTask returns a task of the server by its id, without asking the server. Close frees what it holds.
func (c *Client) RawTask(id string) *RawTask {
	return &RawTask{c: c, id: id, prefix: "q-" + rand.Text()[:10] + "-", came: make(chan struct{})}
}

// ID returns the id that the server knows the task by.
func (t *RawTask) ID() string { return t.id }

// ToolTasks tells how a call of a tool, given as it was listed, may go on as a task on this server: mcp.TaskForbidden,
// mcp.TaskOptional, or mcp.TaskRequired where it runs in no other way. Where the server decides and says nothing of single
// tools, all of them are optional.
func (c *Client) ToolTasks(tool json.RawMessage) string {
	caps := c.ServerCapabilities()
	if !c.traits().Tasks {
		if _, ok := caps.Extensions[mcp.ExtensionTasks]; ok && c.traits().Listen {
			return mcp.TaskOptional
		}
		return mcp.TaskForbidden
	}
	execution, _ := jsonrpc.Member(tool, "execution")
	raw, _ := jsonrpc.Member(execution, "taskSupport")
	support, _ := jsonrpc.Text(raw)
	if !offersTasks(caps.Tasks) || support != mcp.TaskOptional && support != mcp.TaskRequired {
		return mcp.TaskForbidden
	}
	return support
}

// relatedTask is the id of the task that a message belongs to; "" for none.
func relatedTask(params json.RawMessage) string {
	meta, _ := jsonrpc.Member(params, "_meta")
	related, _ := jsonrpc.Member(meta, mcp.MetaRelatedTask)
	raw, _ := jsonrpc.Member(related, "taskId")
	id, _ := jsonrpc.Text(raw)
	return id
}

// declaring adds the extension of tasks to raw capabilities; nil stays nil, the client's own.
func declaring(capabilities json.RawMessage) json.RawMessage {
	if capabilities == nil {
		return nil
	}
	extensions, _ := jsonrpc.Member(capabilities, "extensions")
	if !jsonrpc.IsObject(extensions) {
		extensions = json.RawMessage("{}")
	}
	return jsonrpc.With(nil, capabilities, "extensions", jsonrpc.With(nil, extensions, mcp.ExtensionTasks, []byte("{}")))
}

// Get asks how far the task is, and returns it in the form of mcp.Task: with its questions while it waits for answers, and with
// its result or error once it has ended, fetched for that if need be. Of o the time limits, headers and what stands for the
// client count.
func (t *RawTask) Get(ctx context.Context, o RawOptions) (json.RawMessage, error) {
	state, err := t.call(ctx, mcp.MethodGetTask, nil, o)
	if err != nil || !t.c.traits().TaskResults {
		return state, err
	}
	switch status := statusOf(state); status {
	case mcp.TaskCompleted, mcp.TaskFailed:
		t.Close()
		return t.whole(ctx, state, o)
	case mcp.TaskCancelled:
		t.Close()
		return state, nil
	case mcp.TaskInputRequired:
		t.listen()
		t.await(ctx)
	}
	status, questions := mcp.TaskWorking, t.questions() // one that wants input and has not said which works on, for all that can be told
	if questions != nil {
		status = mcp.TaskInputRequired
		state = jsonrpc.With(nil, state, "inputRequests", questions)
	}
	return jsonrpc.With(nil, state, "status", jsonrpc.AppendString(nil, string(status))), nil
}

// State asks how far the task is, as [RawTask.Get] does, and makes no further request: where results are fetched apart, the
// result is missing, and so are the questions.
func (t *RawTask) State(ctx context.Context, o RawOptions) (json.RawMessage, error) {
	return t.call(ctx, mcp.MethodGetTask, nil, o)
}

// Update answers questions of the task: an object of answers by their keys. Others are passed over.
func (t *RawTask) Update(ctx context.Context, answers json.RawMessage, o RawOptions) error {
	if !t.c.traits().TaskResults {
		_, err := t.call(ctx, mcp.MethodUpdateTask, answers, o)
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.open {
		if answer, ok := jsonrpc.Member(answers, q.key); ok && jsonrpc.IsObject(answer) {
			q.settle(rawAnswer{result: answer})
		}
	}
	return nil
}

// Cancel tells the server that nobody wants the task any more.
func (t *RawTask) Cancel(ctx context.Context, o RawOptions) error {
	_, err := t.call(ctx, mcp.MethodCancelTask, nil, o)
	if err == nil {
		t.Close()
	}
	return err
}

// Close ends the request that waits for the result, if there is one, and refuses the questions that are open; the server may ask
// them again. It does not wait. It may be called twice, and what comes later begins anew.
func (t *RawTask) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end()
	}
	for _, q := range t.open {
		q.settle(rawAnswer{err: mcp.Errorf(mcp.CodeInternal, "the task that this belongs to has ended")})
	}
}

// Idle tells whether nothing is held for the task: no question, and no request that waits.
func (t *RawTask) Idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open) == 0 && !t.waiting
}

// call makes one request about the task. answers are those of an update.
func (t *RawTask) call(ctx context.Context, method string, answers json.RawMessage, o RawOptions) (json.RawMessage, error) {
	params := single("taskId", t.id)
	if answers != nil {
		params = jsonrpc.With(nil, params, "inputResponses", answers)
	}
	o.ClientCapabilities = declaring(o.ClientCapabilities)
	result, err := t.c.Raw(ctx, method, params, o)
	if err != nil {
		return nil, err
	}
	return result.Result, nil
}

func statusOf(task json.RawMessage) mcp.TaskStatus {
	raw, _ := jsonrpc.Member(task, "status")
	status, _ := jsonrpc.Text(raw)
	return mcp.TaskStatus(status)
}

// whole puts what a task has come to into its state. Where a tool reports a failure, the task has completed.
func (t *RawTask) whole(ctx context.Context, state json.RawMessage, o RawOptions) (json.RawMessage, error) {
	result, err := t.call(ctx, mcp.MethodTaskResult, nil, o)
	var fault *mcp.Error
	switch {
	case err == nil:
		state = jsonrpc.With(nil, state, "result", withoutRelated(result))
		return jsonrpc.With(nil, state, "status", []byte(`"`+mcp.TaskCompleted+`"`)), nil
	case !errors.As(err, &fault) || !fault.Remote:
		return nil, err
	}
	raw, err := jsonv2.Marshal(struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitzero"`
	}{int64(fault.Code), fault.Message, fault.Data})
	if err != nil {
		return nil, err
	}
	state = jsonrpc.With(nil, state, "error", raw)
	return jsonrpc.With(nil, state, "status", []byte(`"`+mcp.TaskFailed+`"`)), nil
}

// withoutRelated takes the name of the task off its result.
func withoutRelated(result json.RawMessage) json.RawMessage {
	meta, ok := jsonrpc.Member(result, "_meta")
	if !ok {
		return result
	}
	meta = jsonrpc.Without(meta, mcp.MetaRelatedTask)
	for range jsonrpc.Fields(meta) {
		return jsonrpc.With(nil, result, "_meta", meta)
	}
	return jsonrpc.Without(result, "_meta")
}

// listen makes the request that waits for the result, unless one does. What it brings is fetched again when the task is seen to
// have ended.
func (t *RawTask) listen() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.waiting, t.end = t.c.background(func() { // ends with the task, with Close, or with the client
		defer cancel()
		if _, err := t.call(ctx, mcp.MethodTaskResult, nil, RawOptions{Timeout: -1, Total: -1, Tag: t}); err != nil && ctx.Err() == nil {
			var fault *mcp.Error
			if !errors.As(err, &fault) || !fault.Remote {
				t.c.opts.OnError(err)
			}
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.waiting, t.end = false, nil
	}), cancel
	if !t.waiting {
		cancel()
	}
}
