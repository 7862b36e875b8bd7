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

	// Capabilities are what this client declares beside what the handlers below stand for; OnRequest, or the caller of a
	// Stream, has to answer what they promise.
	Capabilities mcp.ClientCapabilities

	// CreateMessage answers sampling requests; set, it declares the capability sampling. A model that is not to be asked is
	// ErrUserRejected. This handler and the next two answer the requests of legacy servers and the questions of modern ones;
	// each is called concurrently, and its context ends when nobody waits for the answer any more. An *mcp.Error reaches a
	// legacy server as it is, any other error as an internal one; on the modern era the call that the question belongs to
	// fails with it.
	CreateMessage func(ctx context.Context, req *SamplingRequest) (*mcp.CreateMessageResult, error)

	SamplingTools   bool // CreateMessage takes Tools and ToolChoice; declares sampling.tools
	SamplingContext bool // CreateMessage honours IncludeContext; declares sampling.context

	// Elicit shows a form to the user; set, it declares elicitation.form. See [Accept], [Decline] and [Cancel]. Defaults of
	// the form are added to what it accepts, which is then checked against the form before it is sent.
	Elicit func(ctx context.Context, req *ElicitRequest) (*mcp.ElicitResult, error)

	// NoElicitDefaults leaves out what the user has left out, also where the form has a default for it.
	NoElicitDefaults bool

	// ElicitURL offers a page to the user, and opens it when the user agrees; set, it declares elicitation.url. It returns
	// when the user has agreed. Where a server of 2025-11-25 refuses a call until pages have been visited, the call is
	// repeated, once, when ElicitURL has accepted them all or the server has told that the work on them is done; so there it
	// had better wait for the user or for Completed.
	ElicitURL func(ctx context.Context, req *ElicitURLRequest) (*mcp.ElicitResult, error)

	// Roots are the folders and files that servers may work in, to be changed with Client.SetRoots. Nil declares no roots; an
	// empty list declares that there may be some later.
	Roots []mcp.Root

	// MaxInputRounds bounds how often a modern server may ask on behalf of one call. Zero means 10; negative means no bound.
	MaxInputRounds int

	// Tasks lets servers answer tool calls with tasks: it declares the extension of tasks, and makes use of the experimental
	// tasks of 2025-11-25 where a server has them. See Client.CallTool, StartTool and AwaitTask.
	Tasks bool

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

	// Verdicts remembers the era of servers for further connections, also beyond the program. Nil remembers nothing.
	Verdicts *Verdicts

	// ProbeSibling lets DialStdio find out the era from a second process of the same command, which is ended before the one
	// that serves is started. It is for servers that must not see what they do not understand, and doubles what a start does.
	ProbeSibling bool

	// Restart says how a connection that has ended by itself is opened again. Zero is the default policy.
	Restart Restart

	// KeepAlive asks legacy servers now and then whether they are still there. Zero asks nothing.
	KeepAlive KeepAlive

	// Retries is how often a request over HTTP is sent again when it has certainly not been begun: no connection came about,
	// or the server answered 429, or 503 with Retry-After. Zero means 2; negative means none. What opens a connection is sent
	// once.
	Retries int

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

	// OnRequest answers what the server asks and no handler above takes, ping excepted: sampling, elicitation, roots, vendor
	// methods. Questions of modern servers come here too, without Related. The result is a JSON object. An *mcp.Error reaches the server as it is, any other error as an internal one. Requests run at once.
	// Nil refuses all with "method not found".
	OnRequest func(ctx context.Context, req *IncomingRequest) (json.RawMessage, error)

	// Vendor takes requests and notifications of the server that are not of the specification; OnRequest and OnNotification
	// are for what has no handler here. See [HandleRequest] and [OnNotification].
	Vendor []VendorHandler

	// UncheckedOutput leaves results of tools as they are. Otherwise CallTool holds them to the output schema of the tool, as
	// far as the client has seen it in a list, and fails with an [*OutputError].
	UncheckedOutput bool

	// Trace gives the trace context of a request from the context of its call, for its _meta. Nil means none.
	Trace func(ctx context.Context) Trace

	// Cache says which answers are kept. The zero value keeps what servers say may be kept.
	Cache CacheOptions

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

	// HTTPClient does the HTTP requests. Nil means one of the client's own, which goes by the proxy that the environment
	// names. Its Timeout should be zero: it would cut streams.
	HTTPClient *http.Client

	// Socket is the path of a unix socket that an http:// address is reached by; an address unix:///path has its own. It is
	// not for use together with HTTPClient. Empty means none.
	Socket string
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
	if o.MaxInputRounds == 0 {
		o.MaxInputRounds = 10
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
			logger.Warn("mcp client: fault outside any call", "error", err)
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
