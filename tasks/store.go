package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Store keeps tasks. A task is gone once its time is over, whether or not it has ended. The methods may be called
// concurrently. Package storetest holds what every store has to keep.
type Store interface {
	// Create adds a task. It fails with [ErrTooMany] when its owner has most of them already, unless most is zero or less, and
	// with [ErrFull] when the store takes no more, and with [ErrTaken] for an id in use. Once it has returned, Get finds the task.
	Create(ctx context.Context, r Record, most int) error

	// Get returns a task, or fails with [ErrNotFound].
	Get(ctx context.Context, id string) (Record, error)

	// Update changes a task in one step: no other change falls between what change sees and what is kept. An error of change
	// is returned and keeps the task as it was. It fails with [ErrNotFound], and with [ErrFull] when the task has become too
	// large.
	Update(ctx context.Context, id string, change func(*Record) error) (Record, error)

	// List returns the tasks of one owner in the order of their creation, at most limit, from the one behind after on; ""
	// begins at the first. It fails with [ErrNotFound] when after is none of the owner's.
	List(ctx context.Context, owner, after string, limit int) ([]Record, error)

	// Orphans returns the ids of tasks that have not ended and that no process runs any more, as far as the store can tell.
	Orphans(ctx context.Context) ([]string, error)
}

// Errors of stores.
var (
	ErrNotFound = errors.New("no such task")
	ErrTooMany  = errors.New("there are too many tasks of this owner")
	ErrFull     = errors.New("the store of tasks is full")
	ErrTaken    = errors.New("there is a task of this id")
)

// Record is a task as a store keeps it. It has a JSON form. Slices in it are never changed once it was handed over.
type Record struct {
	ID      string         `json:"id"`
	Owner   string         `json:"owner"` // who may see it; "" for whoever knows the id
	Host    string         `json:"host"`  // what runs it, random for each [Host]
	Status  mcp.TaskStatus `json:"status"`
	Message string         `json:"message,omitempty"`

	Created time.Time     `json:"created"`
	Updated time.Time     `json:"updated"`
	TTL     time.Duration `json:"ttl"`
	Poll    time.Duration `json:"poll"`

	Questions json.RawMessage    `json:"questions,omitempty"` // those that are open, an object by key
	Outcome   server.TaskOutcome `json:"outcome"`
}

// Expires is when the task is gone.
func (r *Record) Expires() time.Time { return r.Created.Add(r.TTL) }

// Size is about how many bytes of memory the record takes.
func (r *Record) Size() int64 {
	const around = 512
	return int64(around + len(r.ID) + len(r.Owner) + len(r.Message) + len(r.Questions) + len(r.Outcome.Result) + len(r.Outcome.Error))
}

// wire is the task in the form of mcp.Task, with its questions, result or error where it has any. No byte of a result passes
// through a writer of JSON.
func (r *Record) wire() json.RawMessage {
	raw := r.head()
	add := func(name string, value json.RawMessage) {
		if value != nil {
			raw = jsonrpc.With(nil, raw, name, value)
		}
	}
	switch r.Status {
	case mcp.TaskInputRequired:
		questions := r.Questions
		if questions == nil {
			questions = json.RawMessage("{}")
		}
		add("inputRequests", questions)
	case mcp.TaskCompleted:
		add("result", r.Outcome.Result)
	case mcp.TaskFailed:
		add("error", r.Outcome.Error)
	}
	return raw
}

// entry is the task as a line of a list: of its result no more than whether the tool reports a failure.
func (r *Record) entry() json.RawMessage {
	if r.Status == mcp.TaskCompleted && r.Outcome.IsError {
		return jsonrpc.With(nil, r.head(), "result", []byte(`{"isError":true}`))
	}
	return r.head()
}

// head is the task without what it has come to.
func (r *Record) head() json.RawMessage {
	const form = "2006-01-02T15:04:05.000Z"
	ttl, poll := r.TTL.Milliseconds(), r.Poll.Milliseconds()
	task := mcp.Task{
		ID: r.ID, Status: r.Status, StatusMessage: r.Message, TTLMs: &ttl, PollIntervalMs: &poll,
		CreatedAt: r.Created.UTC().Format(form), LastUpdatedAt: r.Updated.UTC().Format(form),
	}
	raw, err := task.MarshalJSON()
	if err != nil { // texts that are no UTF-8: the message alone may be one
		task.StatusMessage = ""
		raw, _ = task.MarshalJSON()
	}
	return raw
}
