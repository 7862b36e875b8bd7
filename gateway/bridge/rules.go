package bridge

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/server"
)

// Rules are what an operator lays down about all that passes. They are not changed once in use; [Bridge.Reload] takes others
// into use. The zero value shows everything under its own name and lets everything pass. All functions may be called
// concurrently.
type Rules struct {
	// Naming says under which names things are shown.
	Naming route.Naming

	// Names gives a tool or a prompt another name to begin with, in place of the server's own; see [route.Upstream]. Nil gives
	// none.
	Names func(kind route.Kind, to route.Target) string

	// Search says when clients get a search in place of a long list of tools. Nil means never.
	Search *Search

	// Shape edits what servers list, before it is named and shown. What it leaves out is not there for any client; every
	// server stays, be it with empty lists. It must not change what it is given. Nil leaves all as it is.
	Shape func([]upstream.Snapshot) []upstream.Snapshot

	// Serves says what is there also where no list names it, as a resource that is read by its address alone; of what is
	// listed it must say the same as Shape. Nil serves everything.
	Serves func(kind route.Kind, to route.Target) bool

	// Whole says why no list can be given at the moment, by the states of servers; clients get the error as it is. Nil gives lists
	// whatever the states are. Where Shape or Whole goes by states, [Bridge.Changed] must be called when those change.
	Whole func([]upstream.Snapshot) error

	// Sight says what the caller of a request may see and use of that; the rest is unknown to it. Names do not depend on it.
	// Nil shows everything to everybody.
	Sight func(req *server.Request) Sight

	// Follows says whether the caller of a request may subscribe to a resource that it sees. Nil means that it may.
	Follows func(req *server.Request, e Entry) bool

	// Hears says whether somebody may go on to hear of a resource, or of the tasks of a tool. It is asked with every news, since
	// other rules may have come since that was begun, and knows no more of the listener than that. It must not block. Nil means
	// yes.
	Hears func(who server.Caller, e Entry) bool

	// Seen stands for what Sight decides: when a reload brings rules with another one, clients are told that all lists may
	// look different to them.
	Seen string

	// Extensions are further ones to be passed on: those that are nothing but a declaration of both sides, and members that
	// travel anyway. Nil means none.
	Extensions []string

	// Steps are taken, the first outermost, around each request that goes to a server.
	Steps []Step

	// OnTask is told of each request about one task which call the task has come from, before anything else is done: of those
	// requests only the ones that fetch a result take steps. Nil means no interest.
	OnTask func(ctx context.Context, e Entry)
}

// Sight is what one caller may see and use.
type Sight struct {
	// Key stands for the answers of Shows: callers with the same key see the same, until the rules change.
	Key string

	// Shows tells whether an entry is there for the caller; for a resource that no list names, its Name is an address. Nil
	// shows everything.
	Shows func(kind route.Kind, to route.Target) bool

	// Admits is Shows for who goes by more than that; where both are set, both must say yes. Nil admits everything.
	Admits func(Entry) bool
}

// Entry is one thing that servers list, or a resource that a server may have without listing it.
type Entry struct {
	Kind route.Kind
	route.Target

	// Exposed is the name or address that clients know.
	Exposed string

	// Definition is what the list says of it, a JSON object; nil for a resource that no list names.
	Definition json.RawMessage
}

// Step is taken around a request whose destination is known. It refuses the request by an error, which the client gets as
// that of a handler (an *mcp.Error keeps its code); else it calls next, once, whose result and error it may exchange.
//
// A call that waits for answers of its client comes as one request with each round, and ends with the last.
type Step func(ctx context.Context, p *Passage, next Next) (*server.RawResult, error)

// Next is the rest of the way.
type Next = func(context.Context) (*server.RawResult, error)

// Passage is one request on its way to a server.
type Passage struct {
	Request *server.Request // as the client sent it, under the names that it knows
	Entry                   // what it asks for, and where that is; a template for the completion of its variables

	// Task says that this is no call but the result of an earlier one, which has gone on as a task and is handed out now:
	// Request fetches it by the methods of tasks. The call itself has been a passage of its own; Resumed is set too.
	Task bool

	// Params is what the server is sent. A step may put other bytes in its place, not change them.
	Params json.RawMessage

	// Fixed names the arguments in Params whose values a step has put there by the word of the operator, and not of the client.
	Fixed []string

	// Resumed says that the request goes on with a call which has waited for answers: what the server was sent has gone already
	// (see Sent), and Params is what the first request of the call brought, for steps that judge it once more.
	Resumed bool

	asked, answered atomic.Int32
	kept            atomic.Bool
	sent            json.RawMessage // guarded by nothing: set before the server is asked, on the goroutine of the steps
}

// Sent is what the server was sent, when the rest of the way is over; nil where nothing has gone to it.
func (p *Passage) Sent() json.RawMessage { return p.sent }

// Kept tells whether the request was answered from what is kept, and the server not asked.
func (p *Passage) Kept() bool { return p.kept.Load() }

// Questions counts those that were put to the client while the request was served, and the answers. Others are the result of a
// request, and come with the next one.
func (p *Passage) Questions() (asked, answered int) {
	return int(p.asked.Load()), int(p.answered.Load())
}

// walk takes the steps around the last one.
func walk(ctx context.Context, steps []Step, p *Passage, last func(context.Context, *Passage) (*server.RawResult, error)) (*server.RawResult, error) {
	if len(steps) == 0 {
		return last(ctx, p)
	}
	return steps[0](ctx, p, func(ctx context.Context) (*server.RawResult, error) { return walk(ctx, steps[1:], p, last) })
}
