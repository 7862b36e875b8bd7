package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// RawOptions adjusts one raw call. The zero value means the defaults of the client.
type RawOptions struct {
	// Timeout, Total and ResetOnProgress are those of [CallOptions].
	Timeout, Total  time.Duration
	ResetOnProgress bool

	// OnProgress takes the parameters of progress notifications as they came, under the token of this call, in the way of
	// [CallOptions]. It is for Raw; a Stream hands progress over itself.
	OnProgress func(params json.RawMessage)

	// OnTaskProgress takes progress that comes after the answer, where that is a task: on the legacy era the token of the call
	// stands for its task too. One at a time, until newer calls have pushed this one out. It must not block. Nil means no
	// interest.
	OnTaskProgress func(params json.RawMessage)

	// LogLevel asks for the log messages of this call, on the modern era. Empty means the client's level.
	LogLevel mcp.Level

	// Headers go with the HTTP request; see [CallOptions].
	Headers http.Header

	// InputResponses (an object) and RequestState (a string) answer an earlier demand for input.
	InputResponses json.RawMessage
	RequestState   json.RawMessage

	// AnswerInput lets the handlers of Options answer a modern server's demand for input, as in typed calls. Otherwise it is
	// handed over as RawResult.Input.
	AnswerInput bool

	// ClientInfo and ClientCapabilities stand in this one modern request in place of the client's own. On the legacy era
	// the handshake has said both, and they are left out.
	ClientInfo         json.RawMessage
	ClientCapabilities json.RawMessage

	// Tool is the definition of the tool that a tools/call names, in the form of tools/list. Over HTTP on the modern era its
	// x-mcp-header declarations then say which arguments headers repeat, and the list is not read again when the server
	// refuses them. Nil means what the client has seen in lists; see [Client.CallTool].
	Tool json.RawMessage

	// Task says that the answer of a tools/call may be a task, whose state is then the result; see RawResult.ResultType and
	// [RawTask]. It is an object: with "ttl" it asks for a life in milliseconds. Where the client decides whether there is a
	// task, it asks for one; where the server does, it declares the extension in this request. It takes Options.Tasks. Nil
	// means that ClientCapabilities, or else those of the client, say.
	Task json.RawMessage

	// Tag is found again in the IncomingRequest of what the server asks on behalf of this call.
	Tag any

	// Requests puts what the server asks on behalf of this call into the Stream; otherwise Options.OnRequest answers it.
	Requests bool
}

// RawResult is the result of a raw call: neutral JSON, token for token what the server sent, without the members that
// only one era has. One of Result and Input is set.
type RawResult struct {
	Result     json.RawMessage
	Input      *RawInput
	ResultType string        // of a result of an extension; "" for a complete one
	Cache      mcp.CacheHint // of a result that may be kept
}

// RawInput is a server's demand for input: the object of its questions and its state, a JSON string; nil where absent.
type RawInput struct {
	Requests json.RawMessage
	State    json.RawMessage
}

// Raw sends any request and waits for its result. params is an object, or nil. Its _meta members are kept and win over the
// client's own, but a progress token in it is replaced: progress, where OnProgress takes it, comes under a token of this
// connection.
//
// An error that the server answers is an *mcp.Error with Remote set. A method of the specification that the revision does
// not have fails with mcp.CodeMethodNotSupported, and nothing is written.
func (c *Client) Raw(ctx context.Context, method string, params json.RawMessage, o RawOptions) (*RawResult, error) {
	out, call, err := c.rawCall(method, params, o)
	if err != nil {
		return nil, err
	}
	call.OnProgress = o.OnProgress
	if o.OnProgress == nil {
		out.Params = withoutToken(out.Params)
	}
	return rawResult(c.way(o)(ctx, out, call))
}

// way is how a raw call is sent.
func (c *Client) way(o RawOptions) func(context.Context, *era.Outgoing, engine.CallOptions) (*era.Outcome, error) {
	if o.AnswerInput {
		return c.converse
	}
	return c.send
}

// rawCall is what the calls of the raw door carry through the engine.
type rawCall struct {
	tag    any
	stream *Stream

	declared []schema.HeaderParam // by the tool's definition, where that was given
	given    bool
}

func (c *Client) rawCall(method string, params json.RawMessage, o RawOptions) (*era.Outgoing, engine.CallOptions, error) {
	headers, err := extraHeaders(o.Headers)
	if err != nil {
		return nil, engine.CallOptions{}, err
	}
	out := &era.Outgoing{
		Method: method, Params: params, LogLevel: string(c.levelOf(o.LogLevel)),
		InputResponses: o.InputResponses, RequestState: o.RequestState,
	}
	if o.Task != nil {
		out.Task = o.Task
		o.ClientCapabilities = declaring(o.ClientCapabilities)
	}
	if !c.now().codec.Traits().Handshake && (o.ClientInfo != nil || o.ClientCapabilities != nil) {
		meta := era.OpenObject(nil)
		if o.ClientInfo != nil {
			meta.Put(mcp.MetaClientInfo, o.ClientInfo)
		}
		if o.ClientCapabilities != nil {
			meta.Put(mcp.MetaClientCapabilities, o.ClientCapabilities)
		}
		out.Meta = meta.Close()
	}
	own := &rawCall{tag: o.Tag, given: o.Tool != nil}
	if own.given && c.now().mirrors != nil {
		if own.declared, err = declares(o.Tool); err != nil {
			return nil, engine.CallOptions{}, err
		}
	}
	return out, engine.CallOptions{
		Timeout: pick(o.Timeout, c.opts.CallTimeout), Total: pick(o.Total, c.opts.TotalTimeout),
		ResetOnProgress: o.ResetOnProgress, Headers: headers, Tag: own, OnTaskProgress: o.OnTaskProgress,
	}, nil
}

// tokenOf finds the progress token that params ask under.
func tokenOf(params json.RawMessage) (meta []byte, wanted bool) {
	meta, _ = jsonrpc.Member(params, "_meta")
	_, wanted = jsonrpc.Member(meta, mcp.MetaProgressToken)
	return meta, wanted
}

// withoutToken cuts out a progress token that means nothing on this connection.
func withoutToken(params json.RawMessage) json.RawMessage {
	meta, wanted := tokenOf(params)
	if !wanted {
		return params
	}
	return jsonrpc.With(nil, params, "_meta", jsonrpc.Without(meta, mcp.MetaProgressToken))
}

func rawResult(outcome *era.Outcome, err error) (*RawResult, error) {
	switch {
	case err != nil:
		return nil, err
	case outcome.Err != nil:
		return nil, outcome.Err
	case outcome.Input != nil:
		return &RawResult{Input: &RawInput{Requests: outcome.Input.Requests, State: outcome.Input.State}}, nil
	}
	return &RawResult{Result: outcome.Result, ResultType: outcome.ResultType, Cache: outcome.Cache}, nil
}
