package tasks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// RunOptions adjusts one task. It is an optional last argument.
type RunOptions struct {
	// TTL is how long the task is kept from its creation on; its work ends with it. Zero means what the client asks for, or
	// else Options.TTL. Options.MaxTTL bounds all.
	TTL time.Duration

	// PollInterval is how often the client is told to ask. Zero means Options.PollInterval.
	PollInterval time.Duration

	// Message says in words what the task does, until its progress says more. Empty means nothing.
	Message string

	// Reply is for the client's model to read while the task runs; see mcp.MetaImmediateResponse. Empty means nothing.
	Reply string
}

// Run moves the work of a tool's handler into a task, where the answer to the call may be one: then it returns an error value
// that makes the task the answer, and fn runs on. Otherwise it runs fn and returns what that returns. The handler returns both
// values as they are, so whatever fn is not to repeat in the next run of a handler that has asked stands in it.
//
// The context of fn ends when the task is cancelled, its time is over, or the server is shut down; its request is good for
// that long, too. Questions by call wait in the task for their answers, and fn goes on; of those that fn returns it runs again
// with the answers. What fn returns becomes the result of the tool, by the same rules. Progress with a message becomes the
// task's status message.
func Run[Out any](ctx context.Context, req *server.Request, fn func(ctx context.Context, req *server.Request) (Out, error), opts ...RunOptions) (Out, error) {
	h, ok := req.Tasks().(*Host)
	if !ok || !req.MayBeTask() {
		return fn(ctx, req)
	}
	var o RunOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	answer, err := h.begin(ctx, req, o, func(ctx context.Context, req *server.Request) (any, error) { return fn(ctx, req) })
	if err != nil {
		return *new(Out), err
	}
	return *new(Out), answer
}

// Whole makes a handler of one that runs as a task from its first line on, wherever it may: all of it is moved by [Run].
func Whole[In, Out any](fn func(ctx context.Context, req *server.Request, in In) (Out, error), opts ...RunOptions) func(context.Context, *server.Request, In) (Out, error) {
	return func(ctx context.Context, req *server.Request, in In) (Out, error) {
		return Run(ctx, req, func(ctx context.Context, req *server.Request) (Out, error) { return fn(ctx, req, in) }, opts...)
	}
}

// work is what a task does.
type work func(ctx context.Context, req *server.Request) (any, error)

// begin makes a task and starts its work. The task is kept before the answer exists.
func (h *Host) begin(ctx context.Context, req *server.Request, o RunOptions, fn work) (*server.ExtensionResult, error) {
	r := h.record(req, o)
	l := h.newLive(context.WithoutCancel(ctx), req, &r)
	if err := h.enter(l); err != nil {
		l.end(nil)
		return nil, err
	}
	if err := h.create(ctx, &r); err != nil {
		h.leave(l)
		return nil, err
	}
	go h.work(l, fn) // ends with its function, whose context ends with the task, its time or Shutdown, which waits
	return answer(&r, o.Reply), nil
}

// record is a new task for a request.
func (h *Host) record(req *server.Request, o RunOptions) Record {
	asked := o.TTL
	if asked <= 0 {
		asked, _ = req.TaskTTL()
	}
	if o.PollInterval <= 0 {
		o.PollInterval = h.opts.PollInterval
	}
	now := time.Now()
	return Record{
		ID: rand.Text(), Owner: ownerOf(req), Host: h.name, Status: mcp.TaskWorking, Message: o.Message,
		Created: now, Updated: now, TTL: h.opts.life(asked), Poll: o.PollInterval,
	}
}

// create keeps a new task. The errors are for the client.
func (h *Host) create(ctx context.Context, r *Record) error {
	most := h.opts.MaxPerPrincipal
	if r.Owner == "" {
		most = h.opts.MaxAnonymous
	}
	switch err := h.store.Create(ctx, *r, most); {
	case err == nil:
		return nil
	case errors.Is(err, ErrTooMany) && r.Owner == "":
		return busy()
	case errors.Is(err, ErrTooMany):
		return mcp.Errorf(mcp.CodeInternal, "You have %d tasks here already, which is the limit; wait until some of them have expired", most)
	case errors.Is(err, ErrFull):
		return busy()
	default:
		return mcp.Errorf(mcp.CodeInternal, "Internal error").Because(fmt.Errorf("keep a new task: %w", err))
	}
}

func busy() error {
	return mcp.Errorf(mcp.CodeInternal, "Too many tasks are kept or run here; try again in a moment")
}

// enter takes a place among the tasks that run.
func (h *Host) enter(l *live) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return mcp.Errorf(mcp.CodeInternal, "The server is shutting down")
	case h.opts.MaxRunning > 0 && len(h.live) >= h.opts.MaxRunning:
		return busy()
	}
	h.live[l.id] = l
	h.working.Add(1)
	return nil
}

// leave gives the place back.
func (h *Host) leave(l *live) {
	l.end(nil)
	h.mu.Lock()
	delete(h.live, l.id)
	h.mu.Unlock()
	h.working.Done()
}

// work does the work of a task and keeps what it has come to.
func (h *Host) work(l *live, fn work) {
	ended := false
	defer func() {
		if !ended { // the work has ended its goroutine
			h.finish(l, failure("the work of the task has ended without a result"))
		}
		h.leave(l)
	}()
	out := l.detached.Work(l.ctx, fn)
	ended = true
	h.finish(l, h.bounded(out))
}

// bounded makes a task one that has ended as its work has, unless that is too large to be kept.
func (h *Host) bounded(out server.TaskOutcome) func(*Record) {
	if most := h.opts.MaxResultBytes; most > 0 && max(len(out.Result), len(out.Error)) > most {
		return failure(fmt.Sprintf("the result has %d bytes, and this server keeps at most %d of one; ask for less", max(len(out.Result), len(out.Error)), most))
	}
	return conclusion(out)
}

// finish keeps the end of a task that runs here. What cannot be kept has failed.
func (h *Host) finish(l *live, end func(*Record)) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	ended, err := h.settle(ctx, l.id, end)
	if err != nil {
		ended, _ = h.settle(ctx, l.id, lost) // if that cannot be kept either, find says it
	}
	if ended {
		l.detached.Changed()
	}
}

// Finished implements server.Tasks.
func (h *Host) Finished(ctx context.Context, req *server.Request, done server.TaskOutcome) (*server.ExtensionResult, error) {
	r := h.record(req, RunOptions{})
	h.bounded(done)(&r)
	if err := h.create(ctx, &r); err != nil {
		return nil, err
	}
	return answer(&r, ""), nil
}

// answer is the answer to a call that goes on as a task. It holds nothing of what the task has come to.
func answer(r *Record, reply string) *server.ExtensionResult {
	head := r.entry()
	if reply != "" {
		meta := jsonrpc.With(nil, []byte("{}"), mcp.MetaImmediateResponse, jsonrpc.AppendString(nil, reply))
		head = jsonrpc.With(nil, head, "_meta", meta)
	}
	return &server.ExtensionResult{Type: mcp.ResultTask, Result: head}
}
