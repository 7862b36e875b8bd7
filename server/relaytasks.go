package server

import (
	"context"
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
)

// Doors for relays whose tasks run elsewhere: what they put into [Options.Tasks] makes no tasks itself.

// JudgeTask judges whether the answer to this call of a tool may be a task, for a tool that another server runs: support is what
// is said of it, as in mcp.ToolExecution.TaskSupport. From then on [Request.MayBeTask], [Request.WantsTask] and
// [Request.TaskTTL] tell. An error is the refusal of the call, to be returned as it is. It is to be called before those, and
// does nothing without Options.Tasks.
func (r *Request) JudgeTask(support string) error { return r.server.taskTerms(r, support) }

// TaskHoldsResult tells whether the answer to a tasks/get of this client shows the questions and the result of the task. Where it
// does not, those come by tasks/result.
func (r *Request) TaskHoldsResult() bool { return !r.in.Codec.Traits().TaskResults }

// Listener is the client of a request, where it hears of its tasks without asking, after the request was answered too. Its methods
// may be called concurrently, and when the client has gone.
type Listener struct{ peer *engine.Peer }

// Listener returns the client of the request as one that hears of its tasks; nil where it has to ask.
func (r *Request) Listener() *Listener {
	if t := r.in.Codec.Traits(); r.in.Peer == nil || !t.Unsolicited || !t.Tasks {
		return nil
	}
	return &Listener{r.in.Peer}
}

// TaskChanged tells that a task has changed; what it is like now Options.Tasks says. It does not wait.
func (l *Listener) TaskChanged(id string) { l.peer.TellTask(id) }

// Notify sends a notification that belongs to a task of an earlier call; params is a raw object or nil. It fails when the
// client's revision does not have the method, or there is no way to the client.
func (l *Listener) Notify(ctx context.Context, method string, params json.RawMessage) error {
	return l.peer.Notify(ctx, &era.Notice{Method: method, Params: params})
}

// TasksFollowed lists the tasks that clients listen to by subscriptions/listen here, each once and in order.
// [Hooks.Subscriptions] tells when to look.
func (s *Server) TasksFollowed() []string { return s.engine.Followed() }
