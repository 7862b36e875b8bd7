package server

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
)

// Tasks runs the tool calls that go on after their answer; see [Options.Tasks]. Package tasks has one. Its methods are called
// concurrently, but for Attach.
type Tasks interface {
	// Attach is called once, by [New], before any request is served. It registers the methods of tasks with [Server.Handle].
	Attach(s *Server)

	// Capability is what the server declares to the sender of a request, where its revision has a capability for tasks.
	Capability(req *Request) json.RawMessage

	// Finished makes a task of a call whose handler has made none, for a client that takes no other answer.
	Finished(ctx context.Context, req *Request, done TaskOutcome) (*ExtensionResult, error)

	// Task returns a task as it is now, in the form of mcp.Task; nil when there is none any more.
	Task(ctx context.Context, id string) json.RawMessage

	// Follows tells whether the sender of a request may hear of a task. As long as it does, the request may be read for what it
	// says of its sender.
	Follows(ctx context.Context, req *Request, id string) bool

	// Shutdown ends what runs, and waits for that until ctx ends.
	Shutdown(ctx context.Context) error
}

// ExtensionResult is the error value by which a handler answers with a result of an extension, which is neither complete nor
// a question. It stands where the method and the client's revision allow it, and is an internal error elsewhere.
type ExtensionResult struct {
	Type   string          // one of mcp.Extension.ResultTypes
	Result json.RawMessage // a JSON object
}

// Error implements error.
func (e *ExtensionResult) Error() string {
	return "the answer is a result of type " + strconv.Quote(e.Type)
}

func (e *ExtensionResult) outcome(s *Server, r *Request) *era.Outcome {
	if !isObject(e.Result) {
		return s.failure(r, errNoObject)
	}
	return &era.Outcome{Result: e.Result, ResultType: e.Type}
}

// Tasks returns what runs the tasks of the server; nil where nothing does.
func (r *Request) Tasks() Tasks { return r.server.opts.Tasks }

// MayBeTask tells whether the answer to this call may be a task: the tool can run as one, there is somebody to run it, and
// the client takes it.
func (r *Request) MayBeTask() bool { return r.task.May }

// WantsTask tells whether the client has asked for a task, so that it takes no other result.
func (r *Request) WantsTask() bool { return r.task.Asked }

// TaskTTL returns the life that the client asks for, for a task; false when it asks for none that can be read.
func (r *Request) TaskTTL() (time.Duration, bool) {
	ms, err := strconv.ParseFloat(string(r.task.TTL), 64)
	if err != nil || ms < 0 {
		return 0, false
	}
	const most = 1 << 40 // milliseconds that a Duration holds
	return time.Duration(min(ms, most)) * time.Millisecond, true
}

// EndsTasksOnce tells whether it is an error, in the client's revision, to cancel a task that has ended.
func (r *Request) EndsTasksOnce() bool { return r.in.Codec.Traits().FinalTasks }

// OverHTTP tells whether the request came over HTTP, where one server has many senders.
func (r *Request) OverHTTP() bool { return r.in.X.OverHTTP() }

// AsksInPlace tells whether questions go to the client while a request is served, so that SendInput can put them. Where it does
// not, questions are the answer to a request; see [RawResult].
func (r *Request) AsksInPlace() bool { return r.waits() }

// SendInput puts questions to the client on the stream of this request and waits for the answers, as they come: nobody has
// held them against the questions. It is for relays, where the client's revision has requests for that. An error that holds
// an *mcp.Error with Remote set is the client's refusal; others say that there is no way to it now.
func (r *Request) SendInput(ctx context.Context, requests mcp.InputRequests) (mcp.InputResponses, error) {
	keys := requests.Keys()
	questions := make([]engine.Question, len(keys))
	for i, key := range keys {
		questions[i] = engine.Question{Method: requests[key].Method, Params: requests[key].Params}
	}
	raw, err := r.in.Ask(ctx, questions)
	if err != nil {
		return nil, err
	}
	answers := make(mcp.InputResponses, len(keys))
	for i, key := range keys {
		answers[key] = raw[i]
	}
	return answers, nil
}

// Bus returns Options.Bus, for what runs tasks in several processes; nil for none.
func (s *Server) Bus() state.Bus { return s.opts.Bus }

// TaskChanged tells whoever follows a task that it has changed. It does not wait for them.
func (s *Server) TaskChanged(id string) { s.engine.Announce(engine.TaskChanged, id) }

// taskNotice is how the engine learns what to tell of a task; nil where there are none.
func (s *Server) taskNotice() func(ctx context.Context, id string) json.RawMessage {
	if s.opts.Tasks == nil {
		return nil
	}
	return s.opts.Tasks.Task
}

// taskTerms judges whether a call may be a task, and whether it has to be (row 11), by what is said of its tool.
func (s *Server) taskTerms(r *Request, support string) error {
	if s.opts.Tasks == nil {
		return nil
	}
	terms := r.in.Codec.TaskTerms(r.in.Call)
	switch support {
	case mcp.TaskRequired:
		if !terms.May {
			return terms.Refuse()
		}
	case mcp.TaskOptional:
	default:
		if terms.Asked {
			return mcp.Errorf(mcp.CodeMethodNotFound, "the tool %s does not run as a task; call it without the parameter \"task\"", r.Name())
		}
		return nil
	}
	r.task = terms
	return nil
}

// support is how a tool runs as a task.
func (t *tool) support() string {
	if e := t.tool.Execution; e != nil {
		return e.TaskSupport
	}
	return mcp.TaskForbidden
}

// onlyAsTask makes a task of an answer, where the client takes no other. Questions and errors stay what they are.
func (s *Server) onlyAsTask(ctx context.Context, r *Request, out *era.Outcome) *era.Outcome {
	if !r.task.Asked || out.Result == nil || out.ResultType != "" {
		return out
	}
	task, err := s.opts.Tasks.Finished(ctx, r, outcomeOf(r, out))
	if err != nil {
		return s.failure(r, err)
	}
	return task.outcome(s, r)
}

// tasksFollowed is the part of a filter's tasks that the sender may follow. It refuses those who have not declared the
// extension.
func (s *Server) tasksFollowed(ctx context.Context, r *Request, want mcp.SubscriptionFilter) (ids []string, refusal *era.Outcome) {
	all, ok := want.TaskIDs()
	switch {
	case !ok || len(all) > mostURIs:
		return nil, invalid(mcp.InvalidParams("taskIds of the filter must be a list of at most %d texts", mostURIs))
	case all == nil || s.opts.Tasks == nil:
		return nil, nil
	}
	need := mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{mcp.ExtensionTasks: noArguments}}
	if _, lacks := r.ClientCapabilities().Missing(need); lacks {
		return nil, (&era.Refusal{Row: era.RowCapable, Err: mcp.MissingCapability(need)}).Outcome()
	}
	ids = []string{}
	for _, id := range all {
		if s.opts.Tasks.Follows(ctx, r, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// related adds to the parameters of a message which task it belongs to. Spec 2025-11-25, basic/utilities/tasks, "Related
// Task Metadata".
func related(params json.RawMessage, id string) json.RawMessage {
	if params == nil {
		params = noArguments
	}
	task := jsonrpc.With(nil, noArguments, "taskId", jsonrpc.AppendString(nil, id))
	meta, ok := jsonrpc.Member(params, "_meta")
	if !ok {
		meta = noArguments
	}
	return jsonrpc.With(nil, params, "_meta", jsonrpc.With(nil, meta, mcp.MetaRelatedTask, task))
}
