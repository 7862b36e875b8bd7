package client

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// Mode says which eras a client may speak.
type Mode uint8

// The modes.
const (
	Auto   Mode = iota // modern first, legacy where the server turns out to be of that era
	Legacy             // initialize at once; nothing of the modern era is ever sent
	Modern             // never initialize
)

// Options configures a Client. The zero value is ready to use. For the durations zero means the default and a negative
// value means no limit.
type Options struct {
	// Info names this program to the server. Without a name it is "rialto-client" and the version of this module.
	Info mcp.Implementation

	// Capabilities are what this client declares; OnRequest has to answer what they promise.
	Capabilities mcp.ClientCapabilities

	// Extensions are enabled ones; they are declared among the capabilities, and their methods exist on the connection.
	Extensions []mcp.Extension

	// Versions are the revisions that may be spoken, best first. Empty means all. One alone is a pin: the connection fails
	// where the server does not speak it.
	Versions []string

	// Mode says which eras may be spoken. Zero is Auto.
	Mode Mode

	// Verdict is what an earlier connection to the same server has found out (see Client.Verdict): a modern server is then
	// connected without a round trip, a legacy one without a probe.
	Verdict *Verdict

	// StrictCapabilities refuses calls that the server has declared no capability for, with
	// mcp.CodeCapabilityNotSupported. Without it they are sent, and lists are empty without being asked for.
	StrictCapabilities bool

	ConnectTimeout time.Duration // of a whole Dial or Connect; 15 s
	ProbeTimeout   time.Duration // how long a server on a pipe may leave the first modern request unanswered; 2 s
	CallTimeout    time.Duration // of a call; 60 s
	TotalTimeout   time.Duration // of a call whose limit progress resets; 10 min
	ListTimeout    time.Duration // of one page of a list; 30 s

	// MaxPages bounds how many pages the iterators over lists fetch. Zero means 256.
	MaxPages int

	// MaxBodyBytes bounds one JSON answer, and one event of a stream, over HTTP. Zero means 10 MiB; negative means no bound.
	// For a child process see Command.MaxFrameBytes.
	MaxBodyBytes int64

	// MaxInFlight bounds the requests of the server that OnRequest answers at once. Zero means 256; negative means no bound.
	MaxInFlight int

	// LogLevel asks the server for log messages from this level on; empty asks for none.
	LogLevel mcp.Level

	// OnLog takes log messages.
	OnLog func(mcp.LoggingMessageParams)

	// OnNotification takes every notification that belongs to no raw stream, as it came. A call made from it should use
	// its context.
	OnNotification func(ctx context.Context, method string, params json.RawMessage)

	// OnRequest answers what the server asks, ping excepted: sampling, elicitation, roots, vendor methods. The result is a
	// JSON object. An *mcp.Error reaches the server as it is, any other error as an internal one. Requests run at once.
	// Nil refuses all with "method not found".
	OnRequest func(ctx context.Context, req *IncomingRequest) (json.RawMessage, error)

	// Middleware stands around every request that is sent once the connection is open, listens in the background included;
	// the first is the outermost. Nil means none.
	Middleware []Middleware

	// OnError takes faults that no caller sees: stray frames, broken elements of lists, a lost listen stream. It may be
	// called concurrently, and may close the client. Nil means that they go to Logger alone.
	OnError func(error)

	// Logger gets a record for each fault that OnError takes. Nil means silence.
	Logger *slog.Logger

	// Headers go with every HTTP request.
	Headers http.Header

	// HTTPClient does the HTTP requests. Nil means one of the client's own. Its Timeout should be zero: it would cut
	// streams.
	HTTPClient *http.Client
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
		*d = max(*d, 0) // below this, zero means no limit
	}
	set(&o.ConnectTimeout, 15*time.Second)
	set(&o.ProbeTimeout, 2*time.Second)
	set(&o.CallTimeout, time.Minute)
	set(&o.TotalTimeout, 10*time.Minute)
	set(&o.ListTimeout, 30*time.Second)
	if o.MaxPages == 0 {
		o.MaxPages = 256
	}
	if o.Info.Name == "" {
		o.Info.Name, o.Info.Version = "rialto-client", moduleVersion()
	}
	o.OnError = tell(o.OnError, o.Logger)
	return o
}

// tell gives faults to the hook and to the logger, each where it is there.
func tell(hook func(error), logger *slog.Logger) func(error) {
	return func(err error) {
		if hook != nil {
			hook(err)
		}
		if logger != nil {
			logger.Warn("mcp: stray fault", "error", err)
		}
	}
}

// moduleVersion is the version of this module in the running program.
func moduleVersion() string {
	const module, unknown = "github.com/rialto-mcp/rialto", "devel"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == module && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return unknown
}

// served lists the revisions that may be spoken, best first.
func (o Options) served() ([]string, error) {
	all := o.Versions
	if len(all) == 0 {
		all = mcp.Versions()
	}
	out := slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		return o.Mode == Legacy && mcp.IsModern(v) || o.Mode == Modern && mcp.IsLegacy(v)
	})
	if len(out) == 0 {
		return nil, fmt.Errorf("client options: the mode leaves none of the versions %q", all)
	}
	return out, nil
}
