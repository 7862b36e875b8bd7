package tasks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Host runs the tasks of one server; see server.Options.Tasks. Its methods may be called concurrently.
type Host struct {
	opts  Options
	store Store
	name  string // in the records of what it runs

	server *server.Server
	ear    ear

	mu      sync.Mutex
	live    map[string]*live
	closed  bool
	working sync.WaitGroup // one for each of live
}

var _ server.Tasks = (*Host)(nil)

// New returns a host. It does nothing before a server is built with it, and Server.Shutdown ends it.
func New(opts Options) *Host {
	opts = opts.withDefaults()
	return &Host{opts: opts, store: opts.Store, name: rand.Text(), live: make(map[string]*live)}
}

// storeTime bounds one operation of the store that no request waits for.
const storeTime = 10 * time.Second

// Attach implements server.Tasks. What ran when the process before this one ended has failed from now on. It panics for the
// second server.
func (h *Host) Attach(s *server.Server) {
	if h.server != nil {
		panic("tasks: a host belongs to one server; make another with New")
	}
	h.server = s
	s.Handle(mcp.MethodGetTask, h.get)
	s.Handle(mcp.MethodUpdateTask, h.update)
	s.Handle(mcp.MethodCancelTask, h.cancel)
	s.Handle(mcp.MethodTaskResult, h.result)
	s.Handle(mcp.MethodListTasks, h.list)
	h.listen()
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	ids, err := h.store.Orphans(ctx)
	if err != nil {
		h.opts.OnError(fmt.Errorf("find the tasks that nothing runs any more: %w", err))
	}
	for _, id := range ids {
		_, _ = h.settle(ctx, id, failure("the server was started anew while the task ran, and its work cannot be taken up; call the tool again")) // OnError has heard
	}
}

// Capability implements server.Tasks: a list is offered where its senders can be told apart.
func (h *Host) Capability(req *server.Request) json.RawMessage {
	if ownerOf(req) == "" {
		return json.RawMessage(`{"cancel":{},"requests":{"tools":{"call":{}}}}`)
	}
	return json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
}

// ownerOf names whoever sends a request: the principal, or the one there can be where the request does not come over HTTP; ""
// for somebody that nobody knows.
func ownerOf(req *server.Request) string {
	switch who := req.Principal(); {
	case !who.IsZero():
		return "principal " + who.Key()
	case !req.OverHTTP():
		return "local"
	}
	return ""
}

// Task implements server.Tasks.
func (h *Host) Task(ctx context.Context, id string) json.RawMessage {
	r, _, err := h.find(ctx, id)
	if err != nil {
		if !errors.Is(err, ErrNotFound) {
			h.opts.OnError(fmt.Errorf("read a task: %w", err))
		}
		return nil
	}
	return r.wire()
}

// Follows implements server.Tasks.
func (h *Host) Follows(ctx context.Context, req *server.Request, id string) bool {
	_, _, err := h.owned(ctx, req, id)
	return err == nil
}

// Shutdown implements server.Tasks: the tasks that run have failed, and their work is told to stop.
func (h *Host) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	running := make([]*live, 0, len(h.live))
	for _, l := range h.live {
		running = append(running, l)
	}
	h.mu.Unlock()
	h.ear.stop()
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	for _, l := range running {
		_, _ = h.settle(keep, l.id, failure("the server was shut down while the task ran; call the tool again")) // OnError has heard
		l.end(server.ErrShutdown)
	}
	done := make(chan struct{})
	go func() { defer close(done); h.working.Wait() }() // ends when the last work does
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the work of tasks still runs: %w", context.Cause(ctx))
	}
}

// Running counts the tasks whose work runs now.
func (h *Host) Running() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}

// find reads a task: what is kept, and what is newer where its work runs here.
func (h *Host) find(ctx context.Context, id string) (Record, *live, error) {
	h.mu.Lock()
	l := h.live[id] // before the store: what ends between is kept by then
	h.mu.Unlock()
	r, err := h.store.Get(ctx, id)
	switch {
	case err != nil || r.Status.Final():
		return r, nil, err
	case l != nil:
		l.show(&r)
	case r.Host == h.name:
		lost(&r)
	}
	return r, l, nil
}

// owned is find for the sender of a request. What belongs to somebody else does not exist.
func (h *Host) owned(ctx context.Context, req *server.Request, id string) (Record, *live, error) {
	r, l, err := h.find(ctx, id)
	if err == nil && r.Owner != ownerOf(req) {
		return Record{}, nil, ErrNotFound
	}
	return r, l, err
}

// errEnded is why a task is not changed any more.
var errEnded = errors.New("the task has ended")

// settle ends a task, unless it has ended before; its followers hear of it. It tells whether the task has ended with this, and
// fails when that cannot be kept.
func (h *Host) settle(ctx context.Context, id string, end func(*Record)) (bool, error) {
	_, err := h.store.Update(ctx, id, func(r *Record) error {
		if r.Status.Final() {
			return errEnded
		}
		end(r)
		r.Questions, r.Updated = nil, time.Now()
		return nil
	})
	switch {
	case errors.Is(err, errEnded), errors.Is(err, ErrNotFound): // its time may be over
		return false, nil
	case err != nil:
		err = fmt.Errorf("keep the end of a task: %w", err)
		h.opts.OnError(err)
		return false, err
	}
	h.server.TaskChanged(id)
	return true, nil
}

// lost makes a task one that has failed because what it has come to could not be kept.
func lost(r *Record) {
	failure("the result of the task could not be kept; call the tool again")(r)
}

// failure makes a task one that has failed for a reason that is not in its work.
func failure(why string) func(*Record) {
	return func(r *Record) {
		message := jsonrpc.AppendString(nil, why)
		raw := append([]byte(`{"code":-32603,"message":`), message...)
		r.Status, r.Message, r.Outcome = mcp.TaskFailed, why, server.TaskOutcome{Error: append(raw, '}')}
	}
}

// conclusion makes a task one that has ended as its work has.
func conclusion(out server.TaskOutcome) func(*Record) {
	return func(r *Record) {
		r.Status, r.Outcome = mcp.TaskCompleted, out
		if out.Error != nil {
			r.Status = mcp.TaskFailed
			raw, _ := jsonrpc.Member(out.Error, "message")
			r.Message, _ = jsonrpc.Text(raw)
		}
	}
}
