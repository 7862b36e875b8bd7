package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

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
