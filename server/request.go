package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Request is one incoming request, as its handler sees it. It is read-only and valid until the handler returns. Its
// methods may be called concurrently.
type Request struct {
	server *Server
	in     *engine.Incoming
	ctx    context.Context // what callContext adds to
	inner  context.Context // that of the innermost middleware; nil without
	first  *Request        // the first run, where this is a later one of the same request; else nil

	responses json.RawMessage    // the answers of a retry, as they came; nil for none
	token     json.RawMessage    // its state, as it came; nil for none
	byCall    atomic.Bool        // questions may be asked by call: the handler runs, and what they need has been opened
	run       int                // 0 where only responses and token can tell
	record    *seal.Record       // what the state held; nil for none of ours
	answers   mcp.InputResponses // those that fit what was asked; set with record

	tool *tool         // of a tool call, once it was looked up
	task era.TaskTerms // on which it may go on as a task
	line TaskLine      // of work that goes on after its answer; nil while the request waits for one

	asks  atomic.Pointer[asker]          // what this run asks by call; nil while it has not
	round atomic.Pointer[era.InputRound] // what it has ended with, so that nothing more comes of it; nil while it goes on
	life  atomic.Pointer[life]

	warned atomic.Bool // that its handler goes on after its question

	mu   sync.Mutex
	last float64 // the progress sent so far
	told bool

	outcome era.Outcome // of a tool call: one allocation for both

	refusal *era.Outcome // the error that the middleware has been shown last; nil for none
}

// answer makes the outcome of a tool call.
func (r *Request) answer(result json.RawMessage, plain, wrap bool) *era.Outcome {
	r.outcome = era.Outcome{Result: result, Plain: plain, WrapOutput: wrap}
	return &r.outcome
}

// Method returns the method's name.
func (r *Request) Method() string { return r.in.Method() }

// ID returns the request's id as the client wrote it, a number or a string in quotes: for logs. It tells one request from
// another of the same client alone.
func (r *Request) ID() json.RawMessage { return r.in.Message.ID.Raw() }

// Params returns the raw params, without the members that belong to the protocol's era; nil when there are none.
func (r *Request) Params() json.RawMessage { return r.in.Params() }

// Name returns what the request is about: the name of a tool or prompt, the URI of a resource, for a method of an
// extension the parameter that the header Mcp-Name repeats; else "".
func (r *Request) Name() string { return era.NameOf(r.in.Message, r.in.Row) }

var noArguments = json.RawMessage("{}")

// Arguments returns the raw arguments of a tool call: an object, {} when none or null were sent; nil for other methods.
func (r *Request) Arguments() json.RawMessage {
	if r.in.Method() != mcp.MethodCallTool {
		return nil
	}
	raw, ok := r.in.Param(era.LiftArguments)
	if !ok || string(raw) == "null" {
		return noArguments
	}
	return raw
}

// Meta returns the request's _meta without the members that belong to the era; nil when there is none.
func (r *Request) Meta() mcp.Meta {
	raw, _ := jsonrpc.Member(r.in.Params(), "_meta")
	return mcp.Meta(raw)
}

// Header returns an HTTP header of the request, several lines joined by ", "; "" off HTTP.
func (r *Request) Header(name string) string {
	value, _ := r.in.X.Header(name)
	return value
}

// RemoteAddr returns the network address of the sender; "" off HTTP.
func (r *Request) RemoteAddr() string { return r.in.X.RemoteAddr() }

// SessionID returns the id of the legacy session, or "" when there is none.
func (r *Request) SessionID() string {
	if r.in.Peer == nil {
		return ""
	}
	return r.in.Peer.SessionID
}

// Principal returns who sent the request, or nil when nobody is known.
func (r *Request) Principal() *mcp.Principal { return r.in.X.Principal() }

// ProtocolVersion returns the revision the client speaks, for logs. Ask capabilities, not versions, what it can do.
func (r *Request) ProtocolVersion() string { return r.in.Codec.Revision() }

// CanBeAsked tells whether questions (an *mcp.InputRequired, or the input requests of a [RawResult]) can reach the client:
// always on the modern era and inside a task, and on the legacy one in a session whose handshake is complete. Which ones it can answer its
// capabilities say. A legacy client that takes no event stream shows only when it is asked.
func (r *Request) CanBeAsked() bool {
	return r.line != nil || r.in.Codec.Traits().InputRounds || r.in.MayAsk()
}

// CanDeclare tells whether the client says with each request what it can do, so that it can mend one that is refused for a
// capability it lacks (mcp.CodeMissingCapability). Other clients have said it once, in their handshake, and know no such error.
func (r *Request) CanDeclare() bool { return !r.in.Codec.Traits().Handshake }

// ClientInfo returns what the client says it is; the zero value when it says nothing that can be read.
func (r *Request) ClientInfo() mcp.Implementation {
	var info mcp.Implementation
	if raw := r.in.Envelope.ClientInfo; raw != nil {
		_ = json.Unmarshal(raw, &info) // on an error it stays zero
	}
	return info
}

// ClientCapabilities returns what the client of this request can do; the zero value, nothing, when that cannot be read.
func (r *Request) ClientCapabilities() mcp.ClientCapabilities {
	var caps mcp.ClientCapabilities
	if raw := r.in.Envelope.ClientCapabilities; raw != nil {
		_ = json.Unmarshal(raw, &caps) // on an error it stays zero
	}
	return caps
}

// Envelope returns what the client says of itself, as raw JSON: its Implementation and its capabilities; nil where it
// says nothing. For relays.
func (r *Request) Envelope() (clientInfo, clientCapabilities json.RawMessage) {
	return r.in.Envelope.ClientInfo, r.in.Envelope.ClientCapabilities
}

// InputResponses returns the answers to the questions that the handler asked in the run before, by their keys; nil in the
// first run. Each is for a question of that run and fits it: an accepted form its schema, a message and roots their shape.
// Others are left out, so ask again for what is missing. They are the client's words all the same.
//
// A modern client may send answers out of the blue, without the state that came with the questions. Those are only known
// to be objects.
func (r *Request) InputResponses() mcp.InputResponses {
	switch {
	case r.record != nil:
		return maps.Clone(r.answers)
	case r.responses == nil:
		return nil
	}
	return bareAnswers(r.responses)
}

// State returns what the handler has put into [mcp.InputRequired.WithState] in the run before; "" when it has put in
// nothing, and in the first run. The client can neither read nor change it.
func (r *Request) State() string {
	if r.record == nil || r.record.State == nil {
		return ""
	}
	return *r.record.State
}

// Run tells which run of the handler this is: 1 for the first, then one more with each round of questions. A modern client
// that comes back without the state it was given is taken to be in run 2.
func (r *Request) Run() int {
	switch {
	case r.run > 0:
		return r.run
	case r.responses == nil && r.token == nil:
		return 1
	}
	return 2
}

// Retry returns the answers and the state that a retry carries, as raw JSON; nil for a first request. The state is that of
// a [RawResult], or else sealed. For relays.
func (r *Request) Retry() (inputResponses, requestState json.RawMessage) { return r.responses, r.token }

// Trace returns the trace context of the request: the W3C traceparent, tracestate and baggage of its _meta.
func (r *Request) Trace() (traceparent, tracestate, baggage string) {
	meta := r.Meta()
	traceparent, _ = meta.Text(mcp.MetaTraceParent)
	tracestate, _ = meta.Text(mcp.MetaTraceState)
	baggage, _ = meta.Text(mcp.MetaBaggage)
	return traceparent, tracestate, baggage
}

// WantsProgress tells whether the client has asked for progress.
func (r *Request) WantsProgress() bool {
	_, ok := r.in.ProgressToken()
	return ok
}

// ProgressToken returns the raw token the client wants progress under; nil when it wants none. For relays.
func (r *Request) ProgressToken() json.RawMessage {
	token, _ := r.in.ProgressToken()
	return token
}

// waits tells whether a question of the handler is answered where it is asked, so that the run goes on.
func (r *Request) waits() bool { return r.line != nil || !r.in.Codec.Traits().InputRounds }

// live tells whether there is somebody that what the handler does is for.
func (r *Request) live() bool { return r.line != nil || r.in.Live() }

// requestPrefix makes the ids of this server's own requests unguessable and unlike those of any other process.
func requestPrefix() string { return "s" + rand.Text()[:10] + "-" }
