package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Pauses of the wait for a task.
const (
	firstPoll    = time.Second // where the server says nothing
	leastPoll    = 100 * time.Millisecond
	mostPoll     = time.Minute
	followedPoll = 15 * time.Second // where the server tells of changes, in case that this is lost
	mostLost     = 5                // looks in a row that did not reach the server
	answerTime   = 5 * time.Second  // to hand the answer to a question on
	farewell     = time.Second      // to tell a server that nobody wants a task any more
)

var errCancelled = mcp.Errorf(mcp.CodeInternal, "the task was cancelled and has no result")

// errNoWay says that a client cannot be asked on a request, though it may be on another one.
var errNoWay = errors.New("the client cannot be asked here")

// pollOf is how long to wait before a task is asked for again.
func pollOf(task json.RawMessage) time.Duration {
	raw, _ := jsonrpc.Member(task, "pollIntervalMs")
	ms, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return firstPoll
	}
	return time.Duration(min(max(ms, float64(leastPoll.Milliseconds())), float64(mostPoll.Milliseconds()))) * time.Millisecond
}

// askClient puts a question of a server to a client.
type askClient = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

// taskWait waits for the end of a task of a server.
type taskWait struct {
	b      *Bridge
	ref    taskRef
	caller *upstream.Caller
	over   func(ctx context.Context) bool // the task has ended for its client; nil for never

	ask askClient // nil where nobody can be asked

	asking sync.WaitGroup
	mu     sync.Mutex
	asked  map[string]bool // the questions that this wait has taken up, by their keys
	failed error           // why it cannot go on
}

// end waits for the end of the task and returns the result of its call.
func (w *taskWait) end(ctx context.Context) (json.RawMessage, error) {
	asking, cancel := context.WithCancelCause(ctx)
	defer w.free()
	defer w.asking.Wait()
	defer cancel(errEnded)
	news, stop := w.b.tasks.watch(w.ref)
	defer stop()
	for lost := 0; ; {
		answer, err := w.b.askTask(ctx, w.ref, upstream.Call{Method: mcp.MethodGetTask, Caller: w.caller, Follow: true, Ahead: true})
		pause := firstPoll
		switch {
		case w.over != nil && w.over(ctx):
			return nil, errCancelled
		case err == nil:
			lost = 0
			if result, done, err := w.look(asking, answer.Result); done {
				return result, err
			}
			if pause = pollOf(answer.Result); answer.Followed {
				pause = max(pause, followedPoll)
			}
		case !passes(ctx, err) || lost >= mostLost:
			return nil, err
		default:
			lost++
		}
		if err := w.pause(ctx, news, pause); err != nil {
			return nil, err
		}
	}
}

// passes tells whether a failed look may be followed by one that does not fail.
func passes(ctx context.Context, err error) bool {
	var fault *mcp.Error
	return ctx.Err() == nil && !(errors.As(err, &fault) && fault.Remote) && !errors.Is(err, manager.ErrUnknownServer)
}

func (w *taskWait) pause(ctx context.Context, news <-chan struct{}, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-news:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// look does what the state of a task takes. It tells whether the task has ended.
func (w *taskWait) look(ctx context.Context, state json.RawMessage) (result json.RawMessage, done bool, err error) {
	switch mcp.TaskStatus(member(state, "status")) {
	case mcp.TaskCompleted:
		result, _ := jsonrpc.Member(state, "result")
		if !jsonrpc.IsObject(result) {
			return nil, true, mcp.Errorf(mcp.CodeInternal, "server %q says that its task has completed, and gives no result", w.ref.Server)
		}
		return result, true, nil
	case mcp.TaskCancelled:
		return nil, true, errCancelled
	case mcp.TaskFailed:
		raw, _ := jsonrpc.Member(state, "error")
		if fault := (&mcp.Task{Error: raw}).Err(); fault != nil {
			return nil, true, fault
		}
		return nil, true, mcp.Errorf(mcp.CodeInternal, "the task of server %q has failed: %s", w.ref.Server, member(state, "statusMessage"))
	}
	questions, _ := jsonrpc.Member(state, "inputRequests")
	for key, q := range jsonrpc.Members(questions) {
		w.put(ctx, key, q)
	}
	return nil, false, nil
}

// put asks a question of the task, unless it is being asked already.
func (w *taskWait) put(ctx context.Context, key string, q json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ask == nil || w.asked[key] || !w.b.tasks.claim(w.claim(key)) {
		return
	}
	if w.asked == nil {
		w.asked = make(map[string]bool)
	}
	w.asked[key] = true
	ask := w.ask
	w.asking.Go(func() { // ends with the answer, or with the wait
		if err := w.carry(ctx, key, q, ask); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ask = nil
			delete(w.asked, key)
			w.b.tasks.release(w.claim(key))
		}
	})
}

// carry takes a question to the client and the answer back.
func (w *taskWait) carry(ctx context.Context, key string, q json.RawMessage, ask askClient) (err error) {
	defer w.b.guard("a question of a task", &err)
	params, _ := jsonrpc.Member(q, "params")
	method := member(q, "method")
	answer, refusal := ask(ctx, method, params)
	if ctx.Err() != nil {
		refusal = errNoWay
	}
	return w.answer(context.WithoutCancel(ctx), key, method, answer, refusal)
}

func (w *taskWait) claim(key string) claim {
	return claim{w.ref, w.caller.Principal.Key(), key}
}

// free gives back the questions that were taken up. Those that have been answered are not shown again.
func (w *taskWait) free() {
	for key := range w.asked {
		w.b.tasks.release(w.claim(key))
	}
}

// answer hands the answer to a question on, or the refusal of one. An error says that the question may be put by somebody else.
func (w *taskWait) answer(ctx context.Context, key, method string, answer json.RawMessage, refusal error) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var fault *mcp.Error
	switch {
	case refusal == nil:
	case !errors.As(refusal, &fault) || !fault.Remote && fault.Code.IsLocal():
		return refusal
	default:
		_, err := w.b.askTask(ctx, w.ref, upstream.Call{Method: mcp.MethodUpdateTask, Caller: w.caller, Refuse: map[string]error{key: refusal}})
		if !errors.Is(err, upstream.ErrNoRefusal) {
			return err
		}
		if method != mcp.MethodElicit { // there is no answer that says no
			w.mu.Lock()
			w.failed = refusal
			w.mu.Unlock()
			_, err := w.b.askTask(ctx, w.ref, upstream.Call{Method: mcp.MethodCancelTask, Caller: w.caller})
			w.b.tasks.wake(w.ref)
			return err
		}
		answer = json.RawMessage(`{"action":"` + mcp.ElicitCancel + `"}`)
	}
	params := jsonrpc.With(nil, json.RawMessage("{}"), "inputResponses", jsonrpc.With(nil, json.RawMessage("{}"), key, answer))
	_, err := w.b.askTask(ctx, w.ref, upstream.Call{Method: mcp.MethodUpdateTask, Caller: w.caller, Params: params})
	w.b.tasks.wake(w.ref)
	return err
}

// waitOut waits for the end of a task whose client takes none. When the client gives up its call, the task is cancelled.
func (b *Bridge) waitOut(ctx context.Context, to destination, c upstream.Call, task json.RawMessage) (*upstream.Answer, error) {
	ref := taskRef{Server: to.Server, Tool: to.Name, ID: member(task, "taskId")}
	if ref.ID == "" {
		return nil, mcp.Errorf(mcp.CodeInternal, "server %q answered with a task that has no taskId", to.Server)
	}
	w := &taskWait{b: b, ref: ref, caller: c.Caller, ask: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		if c.OnRequest == nil {
			return nil, mcp.Errorf(mcp.CodeMethodNotFound, "The client behind this task cannot be asked: %s", method)
		}
		answer, err := c.OnRequest(ctx, method, params)
		if fault := (*mcp.Error)(nil); err != nil && ctx.Err() == nil && !errors.As(err, &fault) { // nobody else can be asked
			err = mcp.Errorf(mcp.CodeInternal, "The client behind this task could not be asked").Because(err)
		}
		return answer, err
	}}
	result, err := w.end(ctx)
	if ctx.Err() != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		_, _ = b.askTask(ctx, ref, upstream.Call{Method: mcp.MethodCancelTask, Caller: c.Caller}) // it ends with its time at the latest
	}
	if err != nil {
		return nil, err
	}
	return &upstream.Answer{Result: result}, nil
}

// lateProgress passes on the progress of a task, to a client that hears of it.
type lateProgress struct {
	to    *server.Listener
	token json.RawMessage
	id    atomic.Pointer[string] // of the task as the client knows it; nil before that is so
}

// progressAfter is how the progress of a task reaches the client of its call; nil for not at all.
func progressAfter(req *server.Request) *lateProgress {
	l, token := req.Listener(), req.ProgressToken()
	if l == nil || token == nil || !req.WantsTask() {
		return nil
	}
	return &lateProgress{to: l, token: token}
}

func (p *lateProgress) tell(params json.RawMessage) {
	id := p.id.Load()
	if id == nil {
		return
	}
	params = jsonrpc.With(nil, params, "progressToken", p.token)
	_ = p.to.Notify(context.Background(), mcp.NotifyProgress, withRelated(params, *id)) // best effort
}
