package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ToolCall is what became of a tool call: its result, or the task as which it goes on. One of the two is set.
type ToolCall struct {
	Result *mcp.CallToolResult
	Task   *mcp.Task
}

// ErrTaskCancelled says that a task was cancelled before it had a result.
var ErrTaskCancelled = errors.New("the task was cancelled")

// StartTool calls a tool as [Client.CallTool] does, and returns at once when it goes on as a task: keep Task.ID, also beyond
// the program, and wait with [Client.AwaitTask]. It takes Options.Tasks. On the modern era the server decides whether there is
// a task; one of 2025-11-25 that has tasks is asked for one, and the tool is called without where it runs as none.
//
// A result is not compared with the tool's output schema.
func (c *Client) StartTool(ctx context.Context, name string, args any, opts ...CallOptions) (*ToolCall, error) {
	params, err := toolParams(name, args)
	if err != nil {
		return nil, fmt.Errorf("call tool %q: %w", name, err)
	}
	call, err := c.toolOrTask(ctx, params, first(opts), true)
	if err != nil {
		return nil, fmt.Errorf("call tool %q: %w", name, err)
	}
	return call, nil
}

// wholeTool calls a tool and waits for the end of a task that it goes on as.
func (c *Client) wholeTool(ctx context.Context, params json.RawMessage, o CallOptions, result *mcp.CallToolResult) error {
	call, err := c.toolOrTask(ctx, params, o, false)
	if err == nil && call.Task != nil {
		call.Result, err = c.AwaitTask(ctx, call.Task.ID, TaskOptions{first: call.Task})
	}
	if err != nil {
		return err
	}
	*result = *call.Result
	return nil
}

// noTTL asks for a task and leaves its life to the server.
var noTTL = json.RawMessage("{}")

// toolOrTask calls a tool. Where the client decides whether a call is a task, a tool that refuses the one way is called the
// other way: it has not begun.
func (c *Client) toolOrTask(ctx context.Context, params json.RawMessage, o CallOptions, wish bool) (*ToolCall, error) {
	decides := c.opts.Tasks && c.traits().Tasks && offersTasks(c.ServerCapabilities().Tasks)
	if wish && decides {
		o.task = noTTL
	}
	call, err := c.toolOnce(ctx, params, o)
	var refused *mcp.Error
	if decides && errors.As(err, &refused) && refused.Remote && refused.Code == mcp.CodeMethodNotFound {
		if o.task == nil {
			o.task = noTTL
		} else {
			o.task = nil
		}
		if call, second := c.toolOnce(ctx, params, o); second == nil {
			return call, nil
		}
	}
	return call, err
}

// offersTasks tells whether a server's capability of 2025-11-25 is for calls of tools.
func offersTasks(capability json.RawMessage) bool {
	requests, _ := jsonrpc.Member(capability, "requests")
	tools, _ := jsonrpc.Member(requests, "tools")
	_, ok := jsonrpc.Member(tools, "call")
	return ok
}

func (c *Client) toolOnce(ctx context.Context, params json.RawMessage, o CallOptions) (*ToolCall, error) {
	outcome, err := c.call(ctx, mcp.MethodCallTool, params, o, c.callLimits())
	if err != nil {
		return nil, err
	}
	if outcome.ResultType == mcp.ResultTask {
		task := &mcp.Task{}
		if err := decode(mcp.MethodCallTool, outcome, task); err != nil {
			return nil, err
		}
		if task.ID == "" {
			return nil, mcp.Errorf(mcp.CodeInvalidResult, "the server answered with a task that has no taskId")
		}
		return &ToolCall{Task: task}, nil
	}
	result := &mcp.CallToolResult{}
	return &ToolCall{Result: result}, decode(mcp.MethodCallTool, outcome, result)
}

// GetTask asks how far a task is.
func (c *Client) GetTask(ctx context.Context, id string, opts ...CallOptions) (*mcp.Task, error) {
	task := &mcp.Task{}
	if _, err := c.into(ctx, mcp.MethodGetTask, single("taskId", id), opts, task); err != nil {
		return nil, fmt.Errorf("get task: %w", err)
	}
	return task, nil
}

// CancelTask tells the server that nobody wants a task any more. It may end otherwise all the same. A server of 2025-11-25
// refuses it for a task that has ended.
func (c *Client) CancelTask(ctx context.Context, id string, opts ...CallOptions) error {
	if _, err := c.call(ctx, mcp.MethodCancelTask, single("taskId", id), first(opts), c.callLimits()); err != nil {
		return fmt.Errorf("cancel task: %w", err)
	}
	return nil
}

// UpdateTask answers questions of a task, all or some, on the modern era. [Client.AwaitTask] does it by the handlers of Options.
func (c *Client) UpdateTask(ctx context.Context, id string, answers mcp.InputResponses, opts ...CallOptions) error {
	raw, err := encode(answers)
	if err == nil {
		err = c.updateTask(ctx, id, raw, first(opts))
	}
	if err != nil {
		return fmt.Errorf("update task: %w", err)
	}
	return nil
}

func (c *Client) updateTask(ctx context.Context, id string, answers json.RawMessage, o CallOptions) error {
	params := jsonrpc.With(nil, single("taskId", id), "inputResponses", answers)
	_, err := c.call(ctx, mcp.MethodUpdateTask, params, o, c.callLimits())
	return err
}

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	Tasks      []mcp.Task `json:"tasks"`
	NextCursor string     `json:"nextCursor,omitzero"`
}

// ListTasks returns one page of the caller's tasks, where a server of 2025-11-25 lists them; the modern era has no such list.
// An empty cursor begins at the first.
func (c *Client) ListTasks(ctx context.Context, cursor string, opts ...CallOptions) (*TaskPage, error) {
	var params json.RawMessage
	if cursor != "" {
		params = single("cursor", cursor)
	}
	page := &TaskPage{}
	if _, err := c.into(ctx, mcp.MethodListTasks, params, opts, page); err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return page, nil
}

// TaskOptions adjusts the wait for a task. It is an optional last argument.
type TaskOptions struct {
	// OnStatus takes the task each time it was asked for. Nil means no interest.
	OnStatus func(*mcp.Task)

	first *mcp.Task // as it is known already
}

// Pauses of the wait for a task.
const (
	firstPoll = time.Second // where the server says nothing
	leastPoll = 100 * time.Millisecond
	mostPoll  = time.Minute
	mostLost  = 5 // questions for a task in a row that did not reach the server
)

// AwaitTask waits for the end of a task and returns the result of its call. It asks as often as the server wants, a little
// less regularly, and answers what the task asks by the handlers of Options, each question once. The id may come from another
// connection, or another run of the program. Nothing bounds the wait but ctx, whose end leaves the task alone: see CancelTask.
//
// A task that has failed is the error of its call; one that was cancelled is [ErrTaskCancelled]; one that the server does not
// know is mcp.CodeInvalidParams.
func (c *Client) AwaitTask(ctx context.Context, id string, opts ...TaskOptions) (*mcp.CallToolResult, error) {
	w := &taskWait{c: c, id: id, answered: make(map[string]bool)}
	if len(opts) > 0 {
		w.opts = opts[0]
	}
	w.talk = &talk{c: c, out: &era.Outgoing{Method: mcp.MethodCallTool}, call: engine.CallOptions{}, began: time.Now(), pause: firstRepeat}
	result, err := w.wait(ctx)
	if err != nil {
		return nil, fmt.Errorf("await task: %w", err)
	}
	return result, nil
}

// taskWait is one wait for a task.
type taskWait struct {
	c        *Client
	id       string
	opts     TaskOptions
	talk     *talk
	answered map[string]bool // by the keys of the questions
	lost     int             // in a row
}

func (w *taskWait) wait(ctx context.Context) (*mcp.CallToolResult, error) {
	poll := pollOf(w.opts.first)
	if w.opts.first != nil {
		if err := pauseFor(ctx, poll); err != nil {
			return nil, err
		}
	}
	for {
		task, err := w.c.GetTask(ctx, w.id)
		if err == nil {
			poll = pollOf(task)
			if w.opts.OnStatus != nil {
				w.opts.OnStatus(task)
			}
			var result *mcp.CallToolResult
			if result, err = w.look(ctx, task); result != nil {
				return result, nil
			}
		}
		if err := w.goesOn(ctx, err); err != nil {
			return nil, err
		}
		if err := pauseFor(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// goesOn tells whether an error ends the wait: not one of a wire that may be there again.
func (w *taskWait) goesOn(ctx context.Context, err error) error {
	if err == nil {
		w.lost = 0
		return nil
	}
	var own *mcp.Error
	lost := errors.Is(err, mcp.CodeConnectionClosed) || errors.Is(err, mcp.CodeRequestTimeout) || !errors.As(err, &own)
	if w.lost++; ctx.Err() != nil || w.c.life.Err() != nil || !lost || errors.Is(err, ErrTaskCancelled) || errors.Is(err, errAnswer) || w.lost > mostLost {
		return err
	}
	return nil
}

// errAnswer marks questions that this side could not answer.
var errAnswer = errors.New("a question of the task was not answered")

// look does what the state of a task takes. A nil result without an error means to wait on.
func (w *taskWait) look(ctx context.Context, task *mcp.Task) (*mcp.CallToolResult, error) {
	apart := w.c.traits().TaskResults
	switch {
	case task.Status == mcp.TaskCancelled:
		return nil, ErrTaskCancelled
	case apart && (task.Status.Final() || task.Status == mcp.TaskInputRequired):
		return w.fetch(ctx) // which carries the questions
	case task.Status == mcp.TaskInputRequired:
		return nil, w.answer(ctx, task)
	case task.Status == mcp.TaskFailed:
		if err := task.Err(); err != nil {
			return nil, err
		}
		return nil, &mcp.Error{Code: mcp.CodeInternal, Message: "the task has failed: " + task.StatusMessage, Remote: true}
	case task.Status == mcp.TaskCompleted:
		result := &mcp.CallToolResult{}
		return result, decode(mcp.MethodGetTask, &era.Outcome{Result: task.Result}, result)
	}
	return nil, nil
}

// fetch waits for the result of a task by a request of its own.
func (w *taskWait) fetch(ctx context.Context) (*mcp.CallToolResult, error) {
	result := &mcp.CallToolResult{}
	if _, err := w.c.into(ctx, mcp.MethodTaskResult, single("taskId", w.id), []CallOptions{{Timeout: -1, Total: -1}}, result); err != nil {
		return nil, err
	}
	return result, nil
}

// answer answers the questions of a task that have not been answered here.
func (w *taskWait) answer(ctx context.Context, task *mcp.Task) error {
	open := mcp.InputRequests{}
	for key, q := range task.InputRequests {
		if !w.answered[key] {
			open[key] = q
		}
	}
	if len(open) == 0 {
		return nil // the answers are on their way
	}
	raw, err := encode(open)
	if err != nil {
		return err
	}
	ctx, stop := w.talk.within(ctx)
	defer stop()
	answers, err := w.talk.answer(ctx, &era.InputRound{Requests: raw})
	if err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	if err := w.c.updateTask(ctx, w.id, answers, CallOptions{}); err != nil {
		return err
	}
	for key := range open {
		w.answered[key] = true
	}
	return nil
}

// pollOf is how long to wait before a task is asked for again.
func pollOf(task *mcp.Task) time.Duration {
	poll := firstPoll
	if task != nil && task.PollIntervalMs != nil {
		poll = time.Duration(min(max(*task.PollIntervalMs, leastPoll.Milliseconds()), mostPoll.Milliseconds())) * time.Millisecond
	}
	return poll + rand.N(poll/5) //nolint:gosec // many clients must not ask at the same moment; nobody need be unable to guess it
}

func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
