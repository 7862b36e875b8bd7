package upstream

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Conn is one live connection to a server. Its methods may be called concurrently.
type Conn interface {
	// Version is the revision that was agreed on.
	Version() string

	// Capabilities is what the server declared.
	Capabilities() mcp.ServerCapabilities

	// Call sends one request and waits for its answer. An error of the server is an *mcp.Error with Remote set; any other
	// error is about the connection or the context.
	Call(ctx context.Context, call Call) (*Answer, error)

	// Watch asks for the updates of these resources from now on, and of no others; fn hears of each by its address, until the
	// next Watch or the end of the connection. What the server does not offer is left out. fn must not block.
	Watch(ctx context.Context, uris []string, fn func(uri string)) error

	// OnChange calls fn when the server says that lists have changed, until the connection is closed. fn must not block.
	OnChange(fn func(Kinds))

	// Done is closed when the connection has ended; Err then says why.
	Done() <-chan struct{}
	Err() error

	// Close ends the connection and all that it started.
	Close() error
}

// Dialer makes a connection to a server. The context bounds the opening alone.
type Dialer func(ctx context.Context, s manager.Server) (Conn, error)

// Call is one request in neutral form, ready for relaying: raw values keep their tokens.
type Call struct {
	Method string
	Params json.RawMessage // an object, or nil

	// Timeout bounds the wait for a sign of life, and Total the whole call. Zero means what the
	// connection was opened with, negative no bound.
	Timeout, Total time.Duration

	// Caller is who the call is made for; nil means the gateway itself.
	Caller *Caller

	// Task says that the answer may be a task, and asks for one where that is the caller's to decide; see
	// client.RawOptions.Task. Nil means that a task is no answer.
	Task json.RawMessage

	// OnTaskProgress gets the raw params of progress that comes after the answer, where that is a task. It must not block. Nil
	// means no interest.
	OnTaskProgress func(params json.RawMessage)

	// Follow asks, with tasks/get, for the news of the task from then on: Options.OnTask of the Set hears that it has changed.
	// Answer.Followed says whether they come for certain.
	Follow bool

	// Brief asks, with tasks/get, for the state alone, where the result and the questions of a task take further requests.
	Brief bool

	// Ahead lets the call go at once where others wait for a place, as looks at tasks do that a cancellation needs, or the
	// gateway itself; see [FlowTuning]. Cancellations and answers about tasks always do.
	Ahead bool

	// Refuse holds, with tasks/update, questions of the task that are answered with an error, by their keys; see ErrNoRefusal.
	Refuse map[string]error

	// InputResponses and RequestState are the retry material of a caller of the modern era; nil for none.
	InputResponses json.RawMessage
	RequestState   json.RawMessage

	// OnRequest answers what the server asks on behalf of the call: a method of MayAsk, or roots/list where HasRoots is set. Its context ends when nobody waits for
	// the answer any more. An *mcp.Error reaches the server as it is. It may be called concurrently. Nil means that the caller
	// cannot be asked, and the server is told so.
	OnRequest func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

	// HasRoots says that the caller has declared roots, so that OnRequest is asked for them.
	HasRoots bool

	// OnProgress gets the raw params of each progress notification, in order and before the answer. Nil asks for none.
	OnProgress func(params json.RawMessage)

	// OnLog gets the raw params of each log message that belongs to the call. It must not block.
	OnLog func(params json.RawMessage)

	// LogLevel is the least level of log messages asked for where the server's revision takes it with each call; "" for none.
	LogLevel mcp.Level
}

// Caller is what a server is told of the client behind a call, where its revision has a place for that in each call.
type Caller struct {
	Info         json.RawMessage // Implementation; nil means the gateway's own
	Capabilities json.RawMessage // nil means none

	// Who tells clients apart where the server does not say which one it means; it is told to nobody. "" is a client that
	// cannot be told from others.
	Who string

	// Principal is who the gateway has found the client to be; nil where it does not ask. It is told to nobody.
	Principal *mcp.Principal

	// Session is the session of the client at the gateway; "" where it has none. It is told to nobody.
	Session string

	// Token gives the access token that the client came with, where the gateway may exchange it for another. It is for that
	// alone, and no server ever gets it. Nil means that there is none.
	Token func() string
}

// Answer is a result in neutral form. Result is set, or Task, or else InputRequests, RequestState or both.
type Answer struct {
	Result        json.RawMessage
	Task          json.RawMessage // as which the call goes on, in the form of mcp.Task
	Followed      bool            // see Call.Follow
	InputRequests json.RawMessage
	RequestState  json.RawMessage
	Cache         mcp.CacheHint
	Kept          bool // it was answered before: the server was not asked
}
