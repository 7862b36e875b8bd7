package streamhttp

import (
	"cmp"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
)

// Options configures a Handler. The zero value is ready to use.
type Options struct {
	// AllowedHosts are host names served beside loopback ones when the server listens on loopback; on other addresses Host
	// is checked only when the list is not empty. Names are compared without port and case.
	AllowedHosts []string

	// AllowedOrigins are origins of browsers that may call, such as "https://app.example.com"; "null" may be listed. Listed
	// origins get CORS answers. The server's own host is always allowed.
	AllowedOrigins []string

	// Guard checks Host and Origin in place of the two lists above: one that several handlers share, or whose lists change
	// while they serve ([Guard.Allow]). Nil means one made of the lists.
	Guard *Guard

	// SecurityValidator is a further check on each request but preflights, after Host and Origin. An error is answered with
	// 403 and its text. Nil means none. It is called concurrently.
	SecurityValidator func(*http.Request) error

	// Principal tells who sent a request. Nil means whom an authorization layer around the handler has named
	// ([transport.WithGrant]), else nobody. It is called concurrently.
	Principal func(*http.Request) *mcp.Principal

	// Sessionless serves legacy clients without sessions: no server requests, no streams of their own.
	Sessionless bool

	// JSONOnly never answers with an event stream. Progress and logs are dropped, listens and GET streams refused.
	JSONOnly bool

	// NoHijack keeps idle streams on net/http's own goroutines, so that access logs see them end. It costs about six times
	// the memory for each open stream.
	NoHijack bool

	// EventLog keeps the newest events of the streams of legacy sessions, so that a client whose connection was cut goes on
	// after the last event it has seen. Nil means a log in memory with the limits of state.LogLimits, for this handler
	// alone. It is used concurrently; Close does not close it.
	EventLog state.EventLog

	// Sessions keeps the records of legacy sessions where several handlers find them, so that each serves any session. It
	// needs Bus, and unless NoResume is set EventLog, all three shared by the same handlers. Its own idle limit ends the
	// sessions, and should be IdleTimeout, by which each handler lets go of what it holds of one. Nil means sessions of this
	// handler alone. It is used concurrently; Close does not close it.
	Sessions state.SessionStore

	// Bus carries word between the handlers that share Sessions; it is not used without. Topic stands before the names of
	// its topics: handlers that share sessions have the same. Empty means "rialto".
	Bus   state.Bus
	Topic string

	// NoResume keeps no events: what was on its way when a connection is cut is lost, and no stream is closed early.
	NoResume bool

	MaxBodyBytes int64         // one request body; 0 means 10 MiB, negative no bound
	MaxBatch     int           // messages in one array; 0 means jsonrpc.MaxBatch, negative no bound
	MaxSessions  int           // legacy sessions; 0 means 100,000, negative no bound
	MaxStreams   int           // GET streams of one session; 0 means 16, negative no bound
	UpgradeAfter time.Duration // how long an answer may take before it becomes a stream; 0 means 10 s, negative never
	KeepAlive    time.Duration // between comments on open streams; 0 means 15 s, negative none
	BodyTimeout  time.Duration // for reading one body, in place of http.Server.ReadTimeout; 0 means 30 s, negative no limit
	WriteTimeout time.Duration // for one write to a client that does not read; 0 means 30 s
	IdleTimeout  time.Duration // ends a session that is not used; 0 means 30 min, negative never

	// OnError is called with faults that no client is told of. It may be called concurrently. Nil drops them.
	OnError func(error)
}

func (o Options) withDefaults() Options {
	o.MaxBodyBytes = cmp.Or(o.MaxBodyBytes, 10<<20)
	o.MaxBatch = cmp.Or(o.MaxBatch, jsonrpc.MaxBatch)
	o.MaxSessions = cmp.Or(o.MaxSessions, 100_000)
	o.MaxStreams = cmp.Or(o.MaxStreams, 16)
	o.UpgradeAfter = cmp.Or(o.UpgradeAfter, 10*time.Second)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, 30*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 30*time.Second)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 30*time.Minute)
	if o.Guard == nil {
		o.Guard = NewGuard(o.AllowedHosts, o.AllowedOrigins)
	}
	if o.Principal == nil {
		o.Principal = transport.PrincipalOf
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return o
}
