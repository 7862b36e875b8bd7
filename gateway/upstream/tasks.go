package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Requests about tasks are calls by the methods of the extension, whatever the server's revision: tasks/get answers the whole
// task in the form of mcp.Task, tasks/update takes answers and refusals, tasks/cancel answers nothing. They wait for no turn:
// what a server asks about a task names it.

// ErrNoRefusal is the answer to a tasks/update with refusals where the server's revision knows no such answer.
var ErrNoRefusal = errors.New("a question of this server's task cannot be refused")

// Bounds of one connection.
const (
	mostTasks    = 10000 // whose questions are held
	mostFollowed = 200   // whose news are listened to; further ones are asked for
)

// taskBook is what one connection holds of the tasks of its server.
type taskBook struct {
	mu       sync.Mutex
	byID     map[string]*heldTask
	followed map[string]bool
	tell     func(id string) // nil for nobody
}

func newTaskBook() taskBook {
	return taskBook{byID: make(map[string]*heldTask), followed: make(map[string]bool)}
}

// tasker is a Conn that knows of tasks.
type tasker interface {
	// ToolTasks tells how a tool, given as it was listed, runs as a task; see [client.Client.ToolTasks].
	ToolTasks(tool json.RawMessage) string

	// OnTask calls fn when the server says that a task has changed, until the connection is closed. fn must not block.
	OnTask(fn func(id string))
}

var _ tasker = (*link)(nil)

// ToolTasks implements tasker.
func (l *link) ToolTasks(tool json.RawMessage) string { return l.c.ToolTasks(tool) }

// OnTask implements tasker.
func (l *link) OnTask(fn func(id string)) {
	l.tasks.mu.Lock()
	defer l.tasks.mu.Unlock()
	l.tasks.tell = fn
}

func (l *link) tellTask(id string) {
	l.tasks.mu.Lock()
	tell := l.tasks.tell
	l.tasks.mu.Unlock()
	if tell != nil && id != "" {
		tell(id)
	}
}

// heldTask is what is held of one task.
type heldTask struct {
	*client.RawTask
	uses int // requests that are at it now
}

// task is what is held of a task; done must be called when it is needed no longer. Beyond the bound one goes for which nothing is
// held.
func (l *link) task(id string) (t *client.RawTask, done func()) {
	l.tasks.mu.Lock()
	defer l.tasks.mu.Unlock()
	held := l.tasks.byID[id]
	if held == nil {
		if len(l.tasks.byID) >= mostTasks {
			l.tasks.dropOne()
		}
		held = &heldTask{RawTask: l.c.RawTask(id)}
		l.tasks.byID[id] = held
	}
	held.uses++
	return held.RawTask, func() {
		l.tasks.mu.Lock()
		defer l.tasks.mu.Unlock()
		if held.uses--; held.uses == 0 && held.Idle() {
			delete(l.tasks.byID, id)
		}
	}
}

// dropOne forgets a task that nobody is at. The lock is held.
func (b *taskBook) dropOne() {
	for id, held := range b.byID {
		if held.uses == 0 {
			held.Close()
			delete(b.byID, id)
			return
		}
	}
}

// taskCall makes a request about a task.
func (l *link) taskCall(ctx context.Context, call Call, o client.RawOptions) (*Answer, error) {
	raw, _ := jsonrpc.Member(call.Params, "taskId")
	id, _ := jsonrpc.Text(raw)
	t, done := l.task(id)
	defer done()
	switch call.Method {
	case mcp.MethodUpdateTask:
		for key, why := range call.Refuse {
			if !t.Refuse(key, why) {
				return nil, ErrNoRefusal
			}
		}
		if answers, ok := jsonrpc.Member(call.Params, "inputResponses"); ok {
			if err := t.Update(ctx, answers, o); err != nil {
				return nil, err
			}
		}
		return &Answer{Result: json.RawMessage("{}")}, nil
	case mcp.MethodCancelTask:
		if err := t.Cancel(ctx, o); err != nil {
			return nil, err
		}
		return &Answer{Result: json.RawMessage("{}")}, nil
	}
	followed := call.Follow && l.follow(ctx, id) // first, so that no change falls between
	look := t.Get
	if call.Brief {
		look = t.State
	}
	state, err := look(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Answer{Result: state, Followed: followed}, nil
}

// isTaskMethod tells whether a call is about a task.
func isTaskMethod(method string) bool {
	return method == mcp.MethodGetTask || method == mcp.MethodUpdateTask || method == mcp.MethodCancelTask
}

// follow listens to the news of a task where the server has them to be listened to. It tells whether it does.
func (l *link) follow(ctx context.Context, id string) bool {
	l.tasks.mu.Lock()
	before, full := l.tasks.followed[id], len(l.tasks.followed) >= mostFollowed
	if !before && !full {
		l.tasks.followed[id] = true
	}
	l.tasks.mu.Unlock()
	if before || full {
		return before
	}
	news, err := l.c.FollowTasks(context.WithoutCancel(ctx), id)
	if err != nil {
		l.unfollow(id)
		return false
	}
	l.reading.Go(func() { // ends with the task, or with the client
		defer l.unfollow(id)
		defer news.Close()
		for {
			if _, err := news.Next(context.Background()); err != nil {
				return // whoever wants to know asks, and follows anew
			}
			l.tellTask(id)
		}
	})
	return true
}

func (l *link) unfollow(id string) {
	l.tasks.mu.Lock()
	defer l.tasks.mu.Unlock()
	delete(l.tasks.followed, id)
}

// taskAsks answers what the server asks about a task, which need not have an open call.
func (l *link) taskAsks(ctx context.Context, id string, req *client.IncomingRequest) (json.RawMessage, error) {
	if req.Method != mcp.MethodElicit && req.Method != mcp.MethodCreateMessage {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "Method not found: this gateway passes no %q on to clients", req.Method)
	}
	t, done := l.task(id)
	defer done()
	l.tellTask(id)
	defer l.tellTask(id)
	return t.Ask(ctx, req)
}
