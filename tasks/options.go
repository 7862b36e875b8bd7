package tasks

import (
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// Options configures a Host. The zero value is ready to use. For the limits zero means the default and a negative value means
// no bound.
type Options struct {
	// Store keeps the tasks. Nil means a [Memory] of its own. A store that is given is not closed by the host.
	Store Store

	// TTL is how long a task is kept from its creation on, where neither the handler nor the client says. Zero or less means
	// 1 h.
	TTL time.Duration

	// MaxTTL bounds what handlers and clients may ask for. Zero means 24 h.
	MaxTTL time.Duration

	// PollInterval is how often clients are told to ask, where the handler says nothing. Zero or less means 1 s.
	PollInterval time.Duration

	// MaxRunning bounds the tasks whose work runs at once. Zero means 1,000.
	MaxRunning int

	// MaxPerPrincipal bounds the tasks of one principal that are kept, and those of all senders together that do not come over
	// HTTP. Zero means 256.
	MaxPerPrincipal int

	// MaxAnonymous bounds the tasks that are kept of all senders over HTTP together that nobody knows, so that they leave room in
	// the store for those that are known. Zero means 5,000.
	MaxAnonymous int

	// MaxResultBytes bounds the JSON of one result. A task with a larger one has failed, and says so. Zero means 4 MiB.
	MaxResultBytes int

	// PageSize is the number of tasks of one page of tasks/list. Zero or less means 50.
	PageSize int

	// OnError takes faults of the store that no client is told the detail of. It may be called concurrently. Nil drops them.
	OnError func(error)
}

func (o Options) withDefaults() Options {
	number := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	number(&o.MaxRunning, 1000)
	number(&o.MaxPerPrincipal, 256)
	number(&o.MaxAnonymous, 5000)
	number(&o.MaxResultBytes, 4<<20)
	if o.PageSize <= 0 {
		o.PageSize = 50
	}
	if o.TTL <= 0 {
		o.TTL = time.Hour
	}
	if o.MaxTTL == 0 {
		o.MaxTTL = 24 * time.Hour
	}
	if o.PollInterval <= 0 {
		o.PollInterval = time.Second
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if o.Store == nil {
		o.Store = NewMemory(MemoryLimits{})
	}
	return o
}

// leastTTL is the shortest life of a task: a client has to be able to ask once.
const leastTTL = time.Second

// life is how long a task is kept for which so much is asked; zero for nothing.
func (o *Options) life(asked time.Duration) time.Duration {
	if asked <= 0 {
		asked = o.TTL
	}
	if o.MaxTTL > 0 {
		asked = min(asked, o.MaxTTL)
	}
	return max(asked, leastTTL)
}

// Never is the Execution of a tool whose calls are answered at once.
func Never() *mcp.ToolExecution { return &mcp.ToolExecution{TaskSupport: mcp.TaskForbidden} }

// May is the Execution of a tool whose calls may run as tasks. For a client that knows no tasks the call runs as any other.
func May() *mcp.ToolExecution { return &mcp.ToolExecution{TaskSupport: mcp.TaskOptional} }

// Must is the Execution of a tool whose calls run as tasks only. A client that knows no tasks is refused.
func Must() *mcp.ToolExecution { return &mcp.ToolExecution{TaskSupport: mcp.TaskRequired} }
