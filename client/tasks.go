package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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

// toolOrTask calls a tool. Where the client decides whether a call is a task, a tool that refuses the one way and says in the list
// that it runs the other way is called so: it has not begun.
func (c *Client) toolOrTask(ctx context.Context, params json.RawMessage, o CallOptions, wish bool) (*ToolCall, error) {
	decides := c.opts.Tasks && c.traits().Tasks && offersTasks(c.ServerCapabilities().Tasks)
	if wish && decides {
		o.task = noTTL
	}
	call, err := c.toolOnce(ctx, params, o)
	var refused *mcp.Error
	if decides && errors.As(err, &refused) && refused.Remote && refused.Code == mcp.CodeMethodNotFound && c.wantsOtherwise(ctx, params, wish) {
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

// wantsOtherwise tells whether a tool that has refused a call runs in the other way alone: as a task, or as none. The list says
// it. A refusal alone may as well come from the work of the tool, which must not be done twice.
func (c *Client) wantsOtherwise(ctx context.Context, params json.RawMessage, asTask bool) bool {
	raw, _ := jsonrpc.Member(params, "name")
	name, _ := jsonrpc.Text(raw)
	for tool, err := range c.Tools(ctx) {
		switch {
		case err != nil:
			return false
		case tool.Name != name:
		case asTask:
			return tool.Execution == nil || tool.Execution.TaskSupport == "" || tool.Execution.TaskSupport == mcp.TaskForbidden
		default:
			return tool.Execution != nil && tool.Execution.TaskSupport == mcp.TaskRequired
		}
	}
	return false
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
