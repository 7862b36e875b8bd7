package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// live is a task whose work runs here, and the line between that work and the client.
type live struct {
	h        *Host
	id       string
	detached *server.Detached
	ctx      context.Context // of the work
	cancel   context.CancelCauseFunc
	free     context.CancelFunc

	mu      sync.Mutex
	message string
	updated time.Time
	told    time.Time // when followers have heard of a message last
	open    map[string]*question
	used    map[string]bool // keys of all questions so far
	stir    chan struct{}   // closed at the next change
}

// question is one that waits for its answer.
type question struct {
	request mcp.InputRequest
	claimed bool // it has been sent to a client that is asked by requests
	answer  json.RawMessage
	err     error
}

func (q *question) settled() bool { return q.answer != nil || q.err != nil }

// errExpired is the cause of a context whose task has had its time.
var errExpired = errors.New("the time of the task is over")

func (h *Host) newLive(ctx context.Context, req *server.Request, r *Record) *live {
	l := &live{
		h: h, id: r.ID, message: r.Message, updated: r.Updated,
		open: make(map[string]*question), used: make(map[string]bool), stir: make(chan struct{}),
	}
	ctx, l.free = context.WithDeadlineCause(ctx, r.Expires(), errExpired)
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.detached = req.Detach(l)
	return l
}

// end tells the work to stop.
func (l *live) end(cause error) {
	l.cancel(cause)
	l.free()
}

// ID implements server.TaskLine.
func (l *live) ID() string { return l.id }

// tellEvery is the least time between two notices of messages of one task.
const tellEvery = time.Second

// Say implements server.TaskLine. The message is kept here: it is of no use to anybody once the work has ended.
func (l *live) Say(_ context.Context, message string) {
	if l.ctx.Err() != nil {
		return // and of no interest: what the task has come to has been told
	}
	l.mu.Lock()
	l.message, l.updated = message, time.Now()
	tell := l.updated.Sub(l.told) >= tellEvery
	if tell {
		l.told = l.updated
	}
	l.mu.Unlock()
	if tell {
		l.tell()
	}
}

// tell tells whoever follows the task that it has changed.
func (l *live) tell() {
	l.h.server.TaskChanged(l.id)
	l.detached.Changed()
}

// stirred wakes those who wait for a change; l.mu is held.
func (l *live) stirred() {
	close(l.stir)
	l.stir = make(chan struct{})
	l.updated = time.Now()
}

// show puts what is newer than the kept record into it.
func (l *live) show(r *Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Message, r.Updated = l.message, l.updated
	r.Status, r.Questions = mcp.TaskWorking, nil
	if raw := l.questions(); raw != nil {
		r.Status, r.Questions = mcp.TaskInputRequired, raw
	}
}

// questions are those without an answer, as JSON; nil for none. l.mu is held.
func (l *live) questions() json.RawMessage {
	requests := mcp.InputRequests{}
	for key, q := range l.open {
		if !q.settled() {
			requests[key] = q.request
		}
	}
	if len(requests) == 0 {
		return nil
	}
	raw, err := json.Marshal(requests)
	if err != nil {
		l.h.opts.OnError(fmt.Errorf("encode the questions of a task: %w", err))
		return nil
	}
	return raw
}

// Ask implements server.TaskLine.
func (l *live) Ask(ctx context.Context, questions mcp.InputRequests) (mcp.InputResponses, error) {
	asked := l.put(questions)
	defer l.forget(asked)
	l.keep(ctx)
	for {
		stir, missing, err := l.missing(asked)
		switch {
		case err != nil:
			return nil, err
		case missing == 0:
			return l.answers(asked), nil
		}
		select {
		case <-stir:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-l.ctx.Done():
			return nil, context.Cause(l.ctx)
		}
	}
}

// put opens questions. Each gets a key that no question of the task has had before; the map goes from their own keys to those.
func (l *live) put(questions mcp.InputRequests) map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := make(map[string]string, len(questions))
	for _, key := range questions.Keys() {
		unique := key
		for n := 2; l.used[unique]; n++ {
			unique = key + "-" + strconv.Itoa(n)
		}
		l.used[unique] = true
		l.open[unique] = &question{request: questions[key]}
		asked[key] = unique
	}
	l.stirred()
	return asked
}

// missing counts the questions without an answer. The error is that of one that will have none.
func (l *live) missing(asked map[string]string) (stir <-chan struct{}, missing int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range asked {
		switch q := l.open[key]; {
		case q.err != nil:
			return nil, 0, q.err
		case q.answer == nil:
			missing++
		}
	}
	return l.stir, missing, nil
}

func (l *live) answers(asked map[string]string) mcp.InputResponses {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(mcp.InputResponses, len(asked))
	for own, key := range asked {
		out[own] = l.open[key].answer
	}
	return out
}

// forget closes questions, whether they were answered or not.
func (l *live) forget(asked map[string]string) {
	l.mu.Lock()
	for _, key := range asked {
		delete(l.open, key)
	}
	l.stirred()
	l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.keep(l.ctx)
	}
}

// keep puts the state of the task into the store, where other processes see it, and tells its followers.
func (l *live) keep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	_, err := l.h.store.Update(ctx, l.id, func(r *Record) error {
		if r.Status.Final() {
			return errEnded
		}
		l.show(r)
		return nil
	})
	switch {
	case err == nil:
	case errors.Is(err, errEnded), errors.Is(err, ErrNotFound):
		l.end(errEnded) // in another process, or its time is over: nobody waits for the work
	default:
		l.h.opts.OnError(fmt.Errorf("keep the state of a task: %w", err)) // the work goes on; here its state is known
	}
	l.tell()
}

// answer takes answers to open questions. Others are passed over.
func (l *live) answer(responses mcp.InputResponses) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, raw := range responses {
		if q := l.open[key]; q != nil && !q.settled() {
			q.answer = raw
		}
	}
	l.stirred()
}

// claim takes the open questions that nobody has sent to a client yet, to be sent.
func (l *live) claim() mcp.InputRequests {
	l.mu.Lock()
	defer l.mu.Unlock()
	claimed := mcp.InputRequests{}
	for key, q := range l.open {
		if !q.settled() && !q.claimed {
			q.claimed = true
			claimed[key] = q.request
		}
	}
	return claimed
}

// release gives questions back that were claimed: to be asked by somebody else, or with an error to be asked no more.
func (l *live) release(claimed mcp.InputRequests, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(claimed)) {
		if q := l.open[key]; q != nil && !q.settled() {
			q.claimed, q.err = false, err
		}
	}
	l.stirred()
}

// changes is closed at the next change.
func (l *live) changes() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stir
}
