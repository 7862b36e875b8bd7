package httpsse

import (
	"cmp"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// Options configures a Handler. The zero value is ready to use.
type Options struct {
	// Path is where the event stream is opened, and MessagePath where messages are posted. Empty means /sse and /message.
	// Both may be the same.
	Path, MessagePath string

	// Prefix stands before MessagePath in the endpoint event, for a server behind a proxy that takes a part of the path
	// away ("/tools/weather", say). What http.StripPrefix takes away is found without it.
	Prefix string

	// Connected sends an event of the name "connected" after the endpoint event, for pages that look on. Its data names the
	// session: {"jsonrpc": "2.0", "method": "connected", "params": {"sessionId": string}}.
	Connected bool

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
	// 403 and its text. Nil means none. It is called concurrently.
	SecurityValidator func(*http.Request) error

	// Principal tells who sent a request. A session takes messages from the principal that opened its stream alone. Nil
	// means whom an authorization layer around the handler has named ([transport.WithGrant]), else nobody. It is called
	// concurrently.
	Principal func(*http.Request) *mcp.Principal

	// NoHijack keeps streams on net/http's own goroutines, so that access logs see them end. It costs about six times the
	// memory for each open stream.
	NoHijack bool

	MaxBodyBytes int64         // one request body; 0 means 10 MiB, negative no bound
	MaxBatch     int           // messages in one array; 0 means jsonrpc.MaxBatch, negative no bound
	MaxSessions  int           // open streams; 0 means 100,000, negative no bound
	KeepAlive    time.Duration // between comments on open streams; 0 means 15 s, negative none
	BodyTimeout  time.Duration // for reading one body; 0 means 30 s, negative no limit
	WriteTimeout time.Duration // for one write to a client that does not read, which is then cut; 0 means 30 s

	// OnError is called with faults that no client is told of. It may be called concurrently. Nil drops them.
	OnError func(error)
}

func (o Options) withDefaults() Options {
	o.Path = cmp.Or(o.Path, "/sse")
	o.MessagePath = cmp.Or(o.MessagePath, "/message")
	o.MaxBodyBytes = cmp.Or(o.MaxBodyBytes, 10<<20)
	o.MaxBatch = cmp.Or(o.MaxBatch, jsonrpc.MaxBatch)
	o.MaxSessions = cmp.Or(o.MaxSessions, 100_000)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, 30*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 30*time.Second)
	if o.Guard == nil {
		o.Guard = streamhttp.NewGuard(o.AllowedHosts, o.AllowedOrigins)
	}
	if o.Principal == nil {
		o.Principal = transport.PrincipalOf
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return o
}
