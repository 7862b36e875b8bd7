package mcp

import (
	stdjson "encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ExtensionTasks is the identifier of the extension by which a tool call goes on after its answer.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// ResultTask is the resultType of an answer that is a task.
const ResultTask = "task"

// TasksExtension is the extension of tasks as a value: its vocabulary on the modern era. Servers get it with
// server.Options.Tasks, clients with client.Options.Tasks.
func TasksExtension() Extension {
	return Extension{
		Identifier:    ExtensionTasks,
		Requests:      []string{MethodGetTask, MethodUpdateTask, MethodCancelTask},
		Notifications: []string{NotifyTask},
		ResultTypes:   []string{ResultTask},
		FilterMembers: []string{"taskIds"},
		NameParam:     map[string]string{MethodGetTask: "taskId", MethodUpdateTask: "taskId", MethodCancelTask: "taskId"},
		Acks:          []string{MethodUpdateTask, MethodCancelTask},
	}
}

// TaskStatus is how far a task is.
type TaskStatus string

// The states of a task. The last three are final.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required" // it waits for answers
	TaskCompleted     TaskStatus = "completed"
	TaskFailed        TaskStatus = "failed" // the call has ended with a protocol error
	TaskCancelled     TaskStatus = "cancelled"
)

// Final tells whether the state is one that never changes again.
func (s TaskStatus) Final() bool { return s == TaskCompleted || s == TaskFailed || s == TaskCancelled }

// Task is a tool call that goes on after its answer, in the form of the extension. The experimental tasks of 2025-11-25 are
// read and written in that form too, with what they lack left out.
type Task struct {
	ID             string             `json:"taskId"`
	Status         TaskStatus         `json:"status"`
	StatusMessage  string             `json:"statusMessage,omitzero"`
	CreatedAt      string             `json:"createdAt"` // RFC 3339
	LastUpdatedAt  string             `json:"lastUpdatedAt"`
	TTLMs          *int64             `json:"ttlMs"`                   // from CreatedAt; nil is without end
	PollIntervalMs *int64             `json:"pollIntervalMs,omitzero"` // how often to ask; nil when not said
	InputRequests  InputRequests      `json:"inputRequests,omitzero"`  // all that are open; with TaskInputRequired
	Result         stdjson.RawMessage `json:"result,omitzero"`         // of the call; with TaskCompleted
	Error          stdjson.RawMessage `json:"error,omitzero"`          // of the call; with TaskFailed; see [Task.Err]
	Meta           Meta               `json:"_meta,omitzero"`
	Extra          jsontext.Value     `json:",embed"`
}

// Err returns the error a task has failed with, as one of the peer; nil when it names none.
func (t *Task) Err() *Error {
	if len(t.Error) == 0 || isNull(t.Error) {
		return nil
	}
	var wire struct {
		Code    Code               `json:"code"`
		Message string             `json:"message"`
		Data    stdjson.RawMessage `json:"data,omitzero"`
	}
	if unmarshal(t.Error, &wire) != nil {
		return &Error{Code: CodeInternal, Message: "the task has failed, and its error cannot be read", Remote: true}
	}
	return &Error{Code: wire.Code, Message: wire.Message, Data: wire.Data, Remote: true}
}

// Expires returns when the task may be forgotten by its server; false when it never is, or that cannot be told.
func (t *Task) Expires() (time.Time, bool) {
	created, err := time.Parse(time.RFC3339, t.CreatedAt)
	if t.TTLMs == nil || err != nil {
		return time.Time{}, false
	}
	return created.Add(time.Duration(*t.TTLMs) * time.Millisecond), true
}

type plainTask Task

// MarshalJSON implements json.Marshaler.
func (t Task) MarshalJSON() ([]byte, error) { return marshal(plainTask(t)) }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Task) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainTask)(t)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *Task) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainTask)(t))
}
