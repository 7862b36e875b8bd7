package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// Options configures a Server. The zero value is ready to use.
type Options struct {
	// Instructions tell a model how to use the server. Empty means none.
	Instructions string

	// Versions are the revisions served, in order of preference. Nil means all. Without a modern one the modern era is
	// off, without a legacy one the legacy era is.
	Versions []string

	// Extensions are the extensions this server offers. Their methods exist once they are named here and not before.
	Extensions []mcp.Extension

	// Declares says which extensions a caller is told of: it gets those of Extensions, their settings by their identifiers, and
	// gives them back without those that are not there at the moment, or with others that need no methods. It is asked where
	// the caller's revision has extensions, may be called concurrently, and must be quick: some clients take a slow answer for
	// none. Nil declares all.
	Declares func(ctx context.Context, req *Request, enabled map[string]json.RawMessage) map[string]json.RawMessage

	// Tasks runs the calls of tools that may or must go on as a task after their answer, as their mcp.Tool.Execution says: with
	// the tasks extension on the modern era, and with the experimental tasks of 2025-11-25. Package tasks has one; it belongs
	// to one server. Nil means that no call does, and tools that must cannot be added.
	Tasks Tasks

	// Capabilities are declared beside those that follow from what is registered. Use it to declare a capability whose
	// first entry is added later, or one without its listChanged or subscribe: the notices are not sent then.
	Capabilities mcp.ServerCapabilities

	// PageSize is the number of entries of a list page. Zero or less means one page for all.
	PageSize int

	// Cache is the hint for lists and reads that say nothing themselves, where the client's revision has hints. The zero
	// value means private and stale at once.
	Cache mcp.CacheHint

	// MethodCache holds hints for single methods: lists, resources/read, server/discover, and those of extensions that have
	// hints. They count before Cache, each member for itself, and after what a result or a list says.
	MethodCache map[string]mcp.CacheHint

	// StrictNames refuses tool names outside the specification's rule instead of warning about them.
	StrictNames bool

	// Fallback answers what nothing registered answers: calls of unknown tools, prompts and resources, completions for
	// them, and methods outside the specification. It returns ErrUnhandled for what it does not know either. Capabilities
	// has to declare what it offers. Nil means none.
	Fallback RawHandler

	// Catalogue answers list requests instead of what is registered, and what the server offers too when it is a
	// Describer; otherwise Capabilities has to declare what it lists. Nil means none.
	Catalogue Catalogue

	// Visible says what a caller may see: entries that it answers false for are left out of lists, and calls, reads,
	// completions and subscriptions that name them are answered as if they did not exist, the Fallback unasked. The name is
	// that of a tool or prompt, the URI of a resource, or the template; a resource behind a template is judged by the template.
	// It is asked again for each call, also for names that do not exist, and may be called concurrently. Results are marked as
	// private then, and pages of lists are not kept. Changes of a list are announced to all who listen. Nil shows all to all.
	Visible func(ctx context.Context, who Caller, kind ListKind, name string) bool

	// MayFollow says whether the sender of a request may subscribe to a resource, in either era, beside what Visible says: for a
	// Catalogue that shows callers different things. One that may not is answered as if the resource did not exist, or hears
	// nothing of it. It is asked once, when the subscription begins, and may be called concurrently. Nil means that all may.
	MayFollow func(ctx context.Context, req *Request, uri string) bool

	// Middleware stands around every request, the first outermost. Nil means none.
	Middleware []Middleware

	// Hooks hear of sessions. Requests are heard of by Middleware.
	Hooks Hooks

	// Logger gets a record for each failure that the peer is told nothing of. Records hold names and error texts of
	// handlers, never arguments or results. Nil means silence.
	Logger *slog.Logger

	// OnError is called with stray frames and other faults that belong to no handler. It may be called concurrently. Nil
	// means that they go to Logger alone.
	OnError func(error)

	// MaxInFlight bounds the requests that run at once for one peer: a process on a pipe, a legacy session, or on the modern
	// era over HTTP a principal. Zero means 256; negative means no bound.
	MaxInFlight int

	// MaxQueued bounds the further requests of one pipe that wait for their turn; the next is refused. Over HTTP none
	// waits. Zero means 1,024; negative means no bound.
	MaxQueued int

	// MaxAnonymous bounds the modern requests over HTTP that run at once for all senders without a principal together.
	// Zero means 4,096; negative means no bound.
	MaxAnonymous int

	// MaxListens bounds the open subscription streams. Zero means 10,000; negative means no bound.
	MaxListens int

	// MaxListensPerPrincipal bounds those of one principal, so that none takes all. Zero means 1,000; negative means no bound.
	MaxListensPerPrincipal int

	// MaxBatch bounds the messages of one array, on the legacy revisions that have arrays. Zero means 100; negative means
	// no bound.
	MaxBatch int

	// MaxSchemaDepth and MaxSubschemas bound the schemas of tools that can be added: how deep their subschemas nest, and how
	// many there are. Zero means 64 and 10,000; negative means no bound.
	MaxSchemaDepth, MaxSubschemas int

	// AskTimeout bounds how long the client of a legacy call may take for one question; the call fails then. A modern client
	// takes the time that StateLife leaves it. Zero means 10 min; negative means no bound.
	AskTimeout time.Duration

	// UntilWait bounds how long [Request.Until] waits in one run on the modern era, before it sends the client away to come
	// back. It should be shorter than clients wait for an answer. Zero means 30 s; negative means that it sends away at once.
	UntilWait time.Duration

	// URLElicitationErrors makes a handler that sends a client of 2025-11-25 to a page, and asks nothing beside, end its call
	// with the error -32042, which holds the page: the client goes there and repeats the call, instead of being asked while
	// the call waits. Such a call begins anew, so the handler has to see for itself that the page is done with before it
	// sends the user there. The modern era is unaffected.
	URLElicitationErrors bool

	// AskGrace bounds how long such a question stays open while the client has no stream open over Streamable HTTP: it has
	// probably gone. Zero means 1 min; negative means that AskTimeout alone counts.
	AskGrace time.Duration

	// MaxRounds bounds how often one call may ask. Zero means 10; negative means as often as can be counted, 65,535 times.
	MaxRounds int

	// StateKeys seal what travels with the questions of a call and comes back with the retry, so that nobody else can read
	// or change it: keys of 32 random bytes, the newest first. That one seals and all open, so a new key is put in front and
	// an old one dropped after StateLife. Servers behind one address need the same keys and the same name.
	//
	// Nil means a random key of this server alone: a retry that reaches another replica, or this one after a restart, is
	// refused, and the client has to begin the call anew.
	StateKeys [][]byte

	// StateLife is how long a modern client may take to come back with answers. Zero or less means 10 min.
	StateLife time.Duration

	// MaxStateBytes bounds a sealed state as it travels. Zero means 48 KiB; negative means no bound. A question with a larger
	// one is not asked, unless StateStore is set.
	MaxStateBytes int

	// StateStore keeps sealed states that are larger; a reference travels then. Replicas share one. Nil means none.
	StateStore StateStore

	// Consume makes each state good for one retry: it remembers those that have been used. Replicas share one. Nil means
	// that a state may be sent again, and its call then runs again, until StateLife is over.
	Consume Consumer

	// Bus carries word between replicas: servers of one name behind one address, each in a process of its own. What changes
	// on one (ResourceUpdated, Changed, what is registered and removed once there is a handler) is announced to the clients of
	// all: to subscriptions, legacy sessions and pipes. HTTPOptions.Sessions needs it too. A server that has a bus must be shut down in the end;
	// Shutdown does not close the bus. Where others can write to it, give state.Sign's. Nil means that there are no others.
	Bus state.Bus

	// HTTP configures Handler and Middleware.
	HTTP HTTPOptions

	// SSE configures SSEHandler.
	SSE SSEOptions
}

// HTTPOptions configures the HTTP handler. The zero value is ready to use.
type HTTPOptions struct {
	// AllowedHosts are host names served beside loopback ones when the server listens on loopback; on other addresses Host
	// is checked only when the list is not empty. Names are compared without port and case.
	AllowedHosts []string

	// AllowedOrigins are origins of browsers that may call, such as "https://app.example.com"; "null" may be listed. Listed
	// origins get CORS answers. The server's own host is always allowed.
	AllowedOrigins []string

	// Guard checks Host and Origin in place of the two lists above: one that several handlers share, or whose lists change
	// while they serve ([streamhttp.Guard.Allow]). Nil means one made of the lists.
	Guard *streamhttp.Guard

	// SecurityValidator is a further check on each request but preflights, after Host and Origin. An error is answered with
	// 403 and its text. It may be called concurrently. Nil means none.
	SecurityValidator func(*http.Request) error

	// Principal tells who sent a request, where that is found out in another way than by the middleware of package auth. It
	// may be called concurrently. Nil means whom that middleware has named, else nobody.
	Principal func(*http.Request) *mcp.Principal

	// Sessionless serves legacy clients without sessions: no server requests, no streams of their own.
	Sessionless bool

	// JSONOnly never answers with an event stream. Progress and logs are dropped then.
	JSONOnly bool

	// Sessions keeps the records of legacy sessions where every replica finds them, so that each serves any session, wherever
	// it was opened. It needs Options.Bus, and unless NoResume is set EventLog, shared by the same replicas. The idle limit
	// of the store ends a session; give IdleTimeout the same. Nil means that the sessions are those of each handler alone. A
	// store that is given is not closed by the server.
	Sessions state.SessionStore

	// EventLog keeps the newest events of the streams of legacy sessions, so that a client whose connection was cut goes on
	// after the last event it has seen. Nil means a log in memory, of each session 1,000 events or 4 MiB and 256 MiB of all
	// together. A log that is given is not closed by the server.
	EventLog state.EventLog

	// NoResume keeps no events: what was on its way when a connection is cut is lost, and Request.CloseStream does nothing.
	NoResume bool

	// MaxBodyBytes bounds one request body. Zero means 10 MiB; negative means no bound.
	MaxBodyBytes int64

	// UpgradeAfter is how long an answer may take before it becomes an event stream. Zero means 10 s; negative means never.
	UpgradeAfter time.Duration

	// KeepAlive is the time between comments on a quiet stream. Zero means 15 s; negative means none.
	KeepAlive time.Duration

	// IdleTimeout ends a legacy session that has not been used. Zero means 30 min; negative means never.
	IdleTimeout time.Duration

	// MaxSessions bounds the legacy sessions. Zero means 100,000; negative means no bound.
	MaxSessions int

	// MaxStreams bounds the GET streams of one legacy session. Zero means 16; negative means no bound.
	MaxStreams int

	// BodyTimeout is the time a client has to send one request body. Zero means 30 s; negative means no limit.
	BodyTimeout time.Duration

	// WriteTimeout is the time one write may take to a client that does not read. Zero means 30 s.
	WriteTimeout time.Duration

	// NoHijack keeps idle streams on net/http's own goroutines, so that access logs see them end. It costs about six times
	// the memory for each open stream.
	NoHijack bool
}

// Catalogue answers lists and may do so for each caller.
type Catalogue interface {
	// List returns a list for the caller of req, or nil for the registered one. The list may be shared by many requests
	// and is not changed afterwards.
	List(ctx context.Context, req *Request, kind ListKind) (*List, error)
}

// Describer is a Catalogue that also says what the server is to each caller, in answer to server/discover and initialize.
type Describer interface {
	// Describe returns the description for the caller of req, or nil for that of the options.
	Describe(ctx context.Context, req *Request) (*Description, error)
}

// Description is what a server says of itself beside its name.
type Description struct {
	Capabilities mcp.ServerCapabilities // whole: nothing is added from what is registered but the extensions
	Instructions string
}
