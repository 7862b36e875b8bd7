package legacy

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// The experimental tasks of 2025-11-25. Inside, a task has the form of the extension; this file gives it the form of the
// revision and takes that off again: ttl and pollInterval have other names, a new task is a member of its result, questions,
// result and error are not part of it, and one whose tool reports a failure has failed. Spec 2025-11-25,
// basic/utilities/tasks.

// TaskTerms implements era.Codec: the client decides, call by call, where the revision has tasks.
func (c *Codec) TaskTerms(call *era.Call) era.TaskTerms {
	if !c.traits.Tasks {
		return era.TaskTerms{Refuse: func() *era.Refusal {
			return era.RefuseTask(era.RowMethod, mcp.CodeMethodNotFound,
				"this tool runs as a task only, and revision %s has no tasks; connect with 2025-11-25 or later", c.revision)
		}}
	}
	task, ok := jsonrpc.Member(call.Message.Params, "task")
	if !ok || !jsonrpc.IsObject(task) {
		return era.TaskTerms{Refuse: func() *era.Refusal {
			return era.RefuseTask(era.RowMethod, mcp.CodeMethodNotFound, `this tool runs as a task only; call it with the parameter "task"`)
		}}
	}
	ttl, _ := jsonrpc.Member(task, "ttl")
	return era.TaskTerms{May: true, Asked: true, TTL: ttl}
}

// renames are the members of a task that have other names here.
var renames = [][2]string{{"ttlMs", "ttl"}, {"pollIntervalMs", "pollInterval"}}

// appendTask appends a task in the form of the revision.
func appendTask(dst, task []byte, without ...string) []byte {
	o := era.OpenObject(dst)
	for m := range jsonrpc.Fields(task) {
		switch {
		case m.Is("inputRequests"), m.Is("result"), m.Is("error"), isOneOf(m, without):
		case m.Is("status"):
			o.Put("status", statusOf(task, m.Value))
		default:
			keepAs(&o, m, 0, 1)
		}
	}
	return o.Close()
}

func isOneOf(m jsonrpc.Field, names []string) bool {
	for _, name := range names {
		if m.Is(name) {
			return true
		}
	}
	return false
}

// keepAs copies a member, under its other name where it has one: from the one column of renames to the other.
func keepAs(o *era.Object, m jsonrpc.Field, from, to int) {
	for _, names := range renames {
		if m.Is(names[from]) {
			o.Put(names[to], m.Value)
			return
		}
	}
	o.Keep(m)
}

// statusOf is the status of a task: where its tool reports a failure it has failed.
func statusOf(task, status []byte) []byte {
	result, _ := jsonrpc.Member(task, "result")
	failed, _ := jsonrpc.Member(result, "isError")
	if kind, _ := jsonrpc.Text(status); kind == string(mcp.TaskCompleted) && string(failed) == "true" {
		return []byte(`"` + mcp.TaskFailed + `"`)
	}
	return status
}

// appendNewTask appends the result of a call that goes on as a task.
func appendNewTask(dst, result []byte) []byte {
	o := era.OpenObject(dst)
	o.Resume(appendTask(o.Key("task"), result, "_meta", "resultType"))
	if meta, ok := jsonrpc.Member(result, "_meta"); ok {
		o.Put("_meta", meta)
	}
	return o.Close()
}

// appendTaskList appends a page of tasks.
func appendTaskList(dst, result []byte) []byte {
	return eachOf("tasks", dst, result, func(dst, task []byte) []byte { return appendTask(dst, task) })
}

// readTask gives a task that came the form of the extension.
func readTask(task json.RawMessage) json.RawMessage { return appendNeutral(nil, task) }

func appendNeutral(dst, task []byte) []byte {
	o := era.OpenObject(dst)
	for m := range jsonrpc.Fields(task) {
		keepAs(&o, m, 1, 0)
	}
	return o.Close()
}

// readNewTask reads the result of a call that goes on as a task.
func readNewTask(result, task json.RawMessage) json.RawMessage {
	neutral := readTask(task)
	if meta, ok := jsonrpc.Member(result, "_meta"); ok {
		neutral = jsonrpc.With(nil, neutral, "_meta", meta)
	}
	return neutral
}
