package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// taskRef is what the id of a task says that clients get: where the task is. It travels sealed, so that no client can make one
// up, and opens for the principal that it was made for.
type taskRef struct {
	Server string `json:"s"`
	Tool   string `json:"t"`           // as the server calls it
	ID     string `json:"i,omitempty"` // that the server has given; "" for a task that is held here
}

func (r taskRef) target() route.Target { return route.Target{Server: r.Server, Name: r.Tool} }

const (
	taskHandle   = "task"              // the kind of handle that ids are
	longestTask  = 30 * 24 * time.Hour // the life of the id of a task whose server names none
	shortestTask = time.Minute
	taskSlack    = 5 * time.Minute // by which an id outlives its task, so that its end is told by the server
)

// mostListed bounds the tasks that are listed of one principal, and all that are kept of those that nobody knows.
const mostListed = 1000

// taskDesk serves the tasks of all servers to clients, each in the form of its revision. It keeps a list of those that were
// begun through it; the ids need none.
type taskDesk struct {
	b     *Bridge
	front *server.Server
	kept  tasks.Store // what is listed, by the ids that clients know, and the results that are held here
	*follows
}

var _ server.Tasks = (*taskDesk)(nil)

func newTaskDesk(b *Bridge) *taskDesk {
	return &taskDesk{b: b, kept: tasks.NewMemory(tasks.MemoryLimits{}), follows: newFollows()}
}

// Attach implements server.Tasks.
func (d *taskDesk) Attach(s *server.Server) {
	d.front = s
	s.Handle(mcp.MethodGetTask, d.get)
	s.Handle(mcp.MethodUpdateTask, d.update)
	s.Handle(mcp.MethodCancelTask, d.cancel)
	s.Handle(mcp.MethodTaskResult, d.result)
	s.Handle(mcp.MethodListTasks, d.list)
}

// Capability implements server.Tasks: a list is offered where its senders can be told apart.
func (d *taskDesk) Capability(req *server.Request) json.RawMessage {
	if taskOwner(req) == "" {
		return json.RawMessage(`{"cancel":{},"requests":{"tools":{"call":{}}}}`)
	}
	return json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
}

// taskOwner names whoever sends a request: the principal, or the one that there can be where it does not come over HTTP; "" for
// somebody that nobody knows.
func taskOwner(req *server.Request) string {
	switch who := ownerOf(req); {
	case who.key != "":
		return "principal " + who.key
	case who.all:
		return "local"
	}
	return ""
}

// Finished implements server.Tasks. Only tools that are registered need it, and the front has none.
func (d *taskDesk) Finished(ctx context.Context, req *server.Request, done server.TaskOutcome) (*server.ExtensionResult, error) {
	return nil, errors.New("the front of a gateway runs no tools")
}

// mayBeTask says how the tool of a call runs as a task for clients: where its server wants it in no other way, this side waits
// for those who call it plainly.
func mayBeTask(support string) string {
	if support == mcp.TaskRequired {
		return mcp.TaskOptional
	}
	return support
}

// exposeTasks puts into the definition of a tool how it runs as a task for clients. Which of them see that is up to their
// revision.
func exposeTasks(tool json.RawMessage, support string) json.RawMessage {
	execution, _ := jsonrpc.Member(tool, "execution")
	said := cmp.Or(member(execution, "taskSupport"), mcp.TaskForbidden)
	if shown := cmp.Or(mayBeTask(support), mcp.TaskForbidden); shown != said {
		if !jsonrpc.IsObject(execution) {
			execution = json.RawMessage("{}")
		}
		return jsonrpc.With(nil, tool, "execution", jsonrpc.With(nil, execution, "taskSupport", jsonrpc.AppendString(nil, shown)))
	}
	return tool
}

// withoutWish takes off the parameter by which a client asks for a task.
func withoutWish(params json.RawMessage) json.RawMessage {
	if _, ok := jsonrpc.Member(params, "task"); ok {
		return jsonrpc.Without(params, "task")
	}
	return params
}

// taskWish is what a server is told of the task that a client takes.
func taskWish(req *server.Request) json.RawMessage {
	if ttl, ok := req.TaskTTL(); ok {
		return append(strconv.AppendInt([]byte(`{"ttl":`), ttl.Milliseconds(), 10), '}')
	}
	return json.RawMessage("{}")
}

// begun is the answer to a call that goes on as a task of its server.
func (d *taskDesk) begun(ctx context.Context, req *server.Request, to destination, task json.RawMessage) (*server.RawResult, error) {
	ref := taskRef{Server: to.Server, Tool: to.Name, ID: member(task, "taskId")}
	if ref.ID == "" {
		return nil, mcp.Errorf(mcp.CodeInternal, "server %q answered with a task that has no taskId", to.Server)
	}
	life := lifeOf(task)
	id, err := server.NewHandle(ctx, req, taskHandle, ref, life+taskSlack)
	if err != nil {
		return nil, err
	}
	shown := jsonrpc.With(nil, task, "taskId", jsonrpc.AppendString(nil, id))
	now := time.Now()
	err = d.kept.Create(ctx, tasks.Record{
		ID: id, Owner: taskOwner(req), Host: to.Server, Status: mcp.TaskWorking, Created: now, Updated: now, TTL: life, Poll: pollOf(task),
	}, mostListed)
	if err != nil && !errors.Is(err, tasks.ErrTooMany) && !errors.Is(err, tasks.ErrFull) { // it is missing in the list then
		return nil, err
	}
	if to.late != nil {
		to.late.id.Store(&id)
	}
	if l := req.Listener(); l != nil {
		d.followFor(id, ref, caller(ctx, req), l, shown)
	}
	return &server.RawResult{ResultType: mcp.ResultTask, Result: shown}, nil
}

// lifeOf is how long a task is kept by its server.
func lifeOf(task json.RawMessage) time.Duration {
	raw, _ := jsonrpc.Member(task, "ttlMs")
	ms, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || ms < 0 || ms > float64(longestTask.Milliseconds()) {
		return longestTask
	}
	return max(time.Duration(ms)*time.Millisecond, shortestTask)
}

// hold makes a task of a call that has been answered, for a client that takes no other answer.
func (d *taskDesk) hold(ctx context.Context, req *server.Request, to destination, result json.RawMessage) (*server.RawResult, error) {
	const usual, most = time.Hour, 24 * time.Hour
	life, ok := req.TaskTTL()
	if !ok {
		life = usual
	}
	life = min(max(life, time.Second), most)
	ref := taskRef{Server: to.Server, Tool: to.Name}
	id, err := server.NewHandle(ctx, req, taskHandle, ref, life+taskSlack)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	failed, _ := jsonrpc.Member(result, "isError")
	r := tasks.Record{
		ID: id, Owner: taskOwner(req), Host: to.Server, Status: mcp.TaskCompleted, Created: now, Updated: now, TTL: life, Poll: firstPoll,
		Outcome: server.TaskOutcome{Result: result, IsError: string(failed) == "true"},
	}
	if err := d.kept.Create(ctx, r, mostListed); err != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "the gateway keeps too many tasks; call the tool without the parameter \"task\"").Because(err)
	}
	return &server.RawResult{ResultType: mcp.ResultTask, Result: held(&r, false)}, nil
}

// held is a task that is held here, in the form of mcp.Task.
func held(r *tasks.Record, whole bool) json.RawMessage {
	const form = "2006-01-02T15:04:05.000Z"
	ttl, poll := r.TTL.Milliseconds(), r.Poll.Milliseconds()
	task := mcp.Task{
		ID: r.ID, Status: r.Status, StatusMessage: r.Message, TTLMs: &ttl, PollIntervalMs: &poll,
		CreatedAt: r.Created.UTC().Format(form), LastUpdatedAt: r.Updated.UTC().Format(form),
	}
	raw, _ := task.MarshalJSON() // of texts that this side has made
	switch {
	case whole && r.Outcome.Result != nil:
		return jsonrpc.With(nil, raw, "result", r.Outcome.Result)
	case r.Outcome.IsError:
		return jsonrpc.With(nil, raw, "result", []byte(`{"isError":true}`))
	}
	return raw
}

// perform makes a call. Where its answer is a task and the client takes none, it waits for the end of that. A server that
// refuses a call because it runs as a task only is called once more, so that it may.
func (b *Bridge) perform(ctx context.Context, to destination, c upstream.Call) (*upstream.Answer, error) {
	if c.Method != mcp.MethodCallTool || c.Task != nil {
		return b.ups.Call(ctx, to.Server, c)
	}
	if to.tasks == mcp.TaskRequired {
		c.Task = json.RawMessage("{}")
	}
	c.OnTaskProgress = c.OnProgress
	answer, err := b.ups.Call(ctx, to.Server, c)
	if err != nil && c.Task == nil && wantsTask(err) {
		c.Task = json.RawMessage("{}")
		answer, err = b.ups.Call(ctx, to.Server, c)
	}
	if err == nil && answer.Task != nil {
		return b.waitOut(ctx, to, c, answer.Task)
	}
	return answer, err
}

// wantsTask tells whether a server refuses a call whose client takes no task.
func wantsTask(err error) bool {
	var fault *mcp.Error
	if !errors.As(err, &fault) || !fault.Remote || fault.Code != mcp.CodeMissingCapability {
		return false
	}
	required, _ := jsonrpc.Member(fault.Data, "requiredCapabilities")
	extensions, _ := jsonrpc.Member(required, "extensions")
	_, ok := jsonrpc.Member(extensions, mcp.ExtensionTasks)
	return ok
}

// unknownTask is the answer for a task that there is not, or that is somebody else's.
func unknownTask() *mcp.Error {
	return mcp.InvalidParams("unknown task: it does not exist, or its time is over")
}

// open finds out which task a request is about. What the sender may not use does not exist.
func (d *taskDesk) open(ctx context.Context, req *server.Request, id string) (taskRef, *view, error) {
	ref, err := server.OpenHandle[taskRef](ctx, req, taskHandle, id)
	if errors.Is(err, server.ErrHandle) {
		return ref, nil, unknownTask()
	}
	v := d.b.viewFor(ctx, req)
	if err == nil && !v.sees(route.Tool, ref.target(), true) {
		err = unknownTask()
	}
	return ref, v, err
}

// taskOf is open for the task that the parameters name.
func (d *taskDesk) taskOf(ctx context.Context, req *server.Request) (id string, ref taskRef, v *view, err error) {
	raw, _ := jsonrpc.Member(req.Params(), "taskId")
	id, ok := jsonrpc.Text(raw)
	if !ok {
		return "", ref, nil, mcp.InvalidParams("%s needs a taskId", req.Method())
	}
	ref, v, err = d.open(ctx, req, id)
	if err == nil && v.rules.OnTask != nil {
		v.rules.OnTask(ctx, v.entry(route.Tool, ref.target()))
	}
	return id, ref, v, err
}

// ask makes a request about a task of a server. The errors are for the client.
func (d *taskDesk) ask(ctx context.Context, req *server.Request, v *view, ref taskRef, c upstream.Call) (*upstream.Answer, error) {
	c.Caller = caller(ctx, req)
	answer, err := d.b.askTask(ctx, ref, c)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, manager.ErrUnknownServer):
		return nil, unknownTask()
	}
	return nil, d.b.failure(ctx, req, v, destination{Target: ref.target()}, err)
}

// askTask is ask without a client that waits.
func (b *Bridge) askTask(ctx context.Context, ref taskRef, c upstream.Call) (*upstream.Answer, error) {
	c.Params = jsonrpc.With(nil, cmpParams(c.Params), "taskId", jsonrpc.AppendString(nil, ref.ID))
	return b.ups.Call(ctx, ref.Server, c)
}

func cmpParams(params json.RawMessage) json.RawMessage {
	if params == nil {
		return json.RawMessage("{}")
	}
	return params
}
