package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

const (
	mostFollows = 2000             // tasks that are followed at once for clients
	keepEnded   = time.Minute      // so that the end can be told
	listenGrace = 30 * time.Second // between the question whether a task may be followed and the listen
)

// follows knows who wants to hear of which tasks, and what was seen of them last.
type follows struct {
	life    context.Context // ends with Shutdown
	end     context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	byID    map[string]*follow                     // by the ids that clients know
	waiters map[taskRef]map[chan struct{}]struct{} // for news of a task
	claims  map[claim]bool                         // questions that are being put to clients
	closed  bool
}

// follow is one task that clients hear of.
type follow struct {
	id       string
	ref      taskRef
	caller   *upstream.Caller
	listener *server.Listener // of the session that has begun the task; nil for those that listen
	req      *server.Request  // of those that listen, whom their news are for; nil for a session, which gets no results so. Guarded by follows
	expires  time.Time
	began    time.Time

	stop   context.CancelFunc
	seen   json.RawMessage // the newest state, as clients see it; nil for none. Guarded by follows
	listed bool            // somebody listens. Guarded by follows
}

func newFollows() *follows {
	f := &follows{byID: make(map[string]*follow), waiters: make(map[taskRef]map[chan struct{}]struct{}), claims: make(map[claim]bool)}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

// TaskChanged is to be called when a server says that one of its tasks has changed.
func (b *Bridge) TaskChanged(server, id string) { b.tasks.wake(taskRef{Server: server, ID: id}) }

// Task implements server.Tasks: what was seen of a task that is followed.
func (d *taskDesk) Task(_ context.Context, id string) json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.byID[id]; f != nil {
		return f.seen
	}
	return nil
}

// Follows implements server.Tasks. From then on the task is followed, for as long as somebody listens.
func (d *taskDesk) Follows(ctx context.Context, req *server.Request, id string) bool {
	ref, v, err := d.open(ctx, req, id)
	if err != nil || ref.ID == "" {
		return false
	}
	state, err := d.state(ctx, req, v, ref, id)
	if err != nil || !d.follow(&follow{id: id, ref: ref, caller: caller(ctx, req), req: req, seen: state, listed: true}, lifeOf(state)) {
		return false
	}
	time.AfterFunc(2*listenGrace, d.b.interest) // should nothing come of the listen
	return true
}

// followFor follows a task for the session that has begun it, and knows it in a state.
func (d *taskDesk) followFor(id string, ref taskRef, who *upstream.Caller, l *server.Listener, state json.RawMessage) {
	d.follow(&follow{id: id, ref: ref, caller: who, listener: l, seen: state}, lifeOf(state))
}

// follow begins to follow a task, or goes on. It answers false when too many are followed.
func (d *taskDesk) follow(f *follow, life time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f.began = time.Now()
	if known := d.byID[f.id]; known != nil {
		if known.began = f.began; f.listed {
			known.listed, known.seen, known.req = true, f.seen, f.req
		}
		return true
	}
	if d.closed || len(d.byID) >= mostFollows {
		return false
	}
	f.expires = f.began.Add(life)
	var ctx context.Context
	ctx, f.stop = context.WithDeadline(d.life, f.expires)
	d.byID[f.id] = f
	d.running.Go(func() { // ends with the task, its time, its last listener, or Shutdown, which waits
		defer f.stop()
		defer d.forget(f)
		defer d.b.guard("a look at a task", nil)
		d.run(ctx, f)
	})
	return true
}

func (d *taskDesk) forget(f *follow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byID, f.id)
}

// run looks at a task when it may have changed, and tells those who follow it.
func (d *taskDesk) run(ctx context.Context, f *follow) {
	news, stop := d.watch(f.ref)
	defer stop()
	for ctx.Err() == nil {
		listens, req := d.listens(f)
		answer, err := d.b.askTask(ctx, f.ref, upstream.Call{Method: mcp.MethodGetTask, Caller: f.caller, Follow: true, Brief: !listens, Ahead: true})
		if err != nil && !passes(ctx, err) {
			return
		}
		v := d.b.viewOf(f.caller)
		if !v.sees(route.Tool, f.ref.target(), true) || !v.hears(server.Caller{Principal: f.caller.Principal, SessionID: f.caller.Session}, route.Tool, f.ref.target()) {
			return
		}
		pause := time.Duration(-1) // until there is news
		if err == nil {
			state := answer.Result
			if listens && req != nil {
				if state, err = d.passed(ctx, req, v, f.ref, state); err != nil { // who asks for it is told why
					return
				}
				state = d.askable(ctx, req, f.ref, state)
			}
			state = jsonrpc.With(nil, state, "taskId", jsonrpc.AppendString(nil, f.id))
			if d.saw(f, state) {
				d.tell(f)
			}
			if mcp.TaskStatus(member(state, "status")).Final() {
				_ = sleep(ctx, keepEnded)
				return
			}
			switch {
			case answer.Followed:
				pause = followedPoll
			case listens:
				pause = pollOf(state)
			}
		} else if listens {
			pause = firstPoll
		}
		wait(ctx, news, pause)
	}
}

// listens tells whether somebody listens to a task, and by which request.
func (d *taskDesk) listens(f *follow) (bool, *server.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return f.listed, f.req
}

// saw keeps a state, and tells whether it differs from the one before.
func (d *taskDesk) saw(f *follow, state json.RawMessage) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := f.seen
	f.seen = state
	for _, name := range []string{"status", "statusMessage", "lastUpdatedAt", "inputRequests"} {
		was, _ := jsonrpc.Member(before, name)
		is, _ := jsonrpc.Member(state, name)
		if string(was) != string(is) {
			return true
		}
	}
	return false
}

func (d *taskDesk) tell(f *follow) {
	if f.listener != nil {
		f.listener.TaskChanged(f.id)
	}
	d.front.TaskChanged(f.id)
}

// wait waits for news, or for so long; a negative pause is without end.
func wait(ctx context.Context, news <-chan struct{}, pause time.Duration) {
	var over <-chan time.Time
	if pause >= 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-news:
	case <-over:
	case <-ctx.Done():
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unfollow gives up the tasks that nobody listens to any more and that no session has begun.
func (d *taskDesk) unfollow() {
	wanted := d.front.TasksFollowed()
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, f := range d.byID {
		if f.listed && time.Since(f.began) > listenGrace && !slices.Contains(wanted, id) {
			if f.listed = false; f.listener == nil {
				f.stop()
			}
		}
	}
}

// left gives up the tasks that are followed for a session alone, which has ended.
func (d *taskDesk) left(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.byID {
		if session != "" && f.caller.Session == session && !f.listed {
			f.stop()
		}
	}
}

// Shutdown implements server.Tasks: nobody is told of tasks any more, and waits for results end. The tasks themselves go on.
func (d *taskDesk) Shutdown(ctx context.Context) error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end()
	done := make(chan struct{})
	go func() { defer close(done); d.running.Wait() }() // ends with those who follow, which have been told
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return transport.ErrClosed
	}
}
