package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// CallOptions adjusts one call. The zero value means the defaults of the client. It is an optional last argument: of several
// the first counts.
type CallOptions struct {
	// Timeout bounds the wait for the answer: from sending, or from the last progress where ResetOnProgress is set. Zero
	// means the client's limit, negative none.
	Timeout time.Duration

	// Total bounds the call whatever progress comes. Zero means the client's limit, negative none.
	Total time.Duration

	// ResetOnProgress lets each progress notification start Timeout anew.
	ResetOnProgress bool

	// OnProgress asks for progress and takes it: one at a time, in order, before the call returns. A value that does not grow
	// is left out, and so are the older ones where more than a thousand wait for a slow callback. It runs on the caller's
	// goroutine, but on another one for what a legacy server sends on the GET stream of the session; a panic goes to the
	// caller either way.
	OnProgress func(mcp.ProgressParams)

	// LogLevel asks for the log messages of this call, on the modern era. Empty means the client's level.
	LogLevel mcp.Level

	// Meta holds members for _meta; they win over the client's own.
	Meta mcp.Meta

	// Headers go with the HTTP request. Those that the protocol or authorization uses are refused.
	Headers http.Header

	// Cache says what the call does with kept answers, if it is one that has any. Zero uses them. See [CacheOptions].
	Cache CacheMode

	// CacheFloor is CacheOptions.Floor for this call, where it is the longer one. Zero adds nothing.
	CacheFloor time.Duration

	// ManualInput hands a demand for input over as an [*mcp.InputRequired] error. The call is then repeated with
	// InputResponses, and with RequestState where the demand had a state. Without it the handlers of Options answer; where
	// one is missing the call fails with mcp.CodeInputHandlerMissing.
	ManualInput    bool
	InputResponses mcp.InputResponses
	RequestState   *string

	task json.RawMessage // asks for a task, where the client does that; nil for no wish
}

// first returns the options a caller has given.
func first(opts []CallOptions) CallOptions {
	if len(opts) == 0 {
		return CallOptions{}
	}
	return opts[0]
}

// limits are the defaults of one kind of call.
type limits struct{ timeout, total time.Duration }

func (c *Client) callLimits() limits { return limits{c.opts.CallTimeout, c.opts.TotalTimeout} }
func (c *Client) listLimits() limits { return limits{c.opts.ListTimeout, c.opts.ListTimeout} }

// pick chooses between a caller's limit and a default; the engine reads 0 as none.
func pick(asked, otherwise time.Duration) time.Duration {
	if asked == 0 {
		return otherwise
	}
	return max(asked, 0)
}

// call sends a typed request. A demand for input and an error of the server come as errors.
func (c *Client) call(ctx context.Context, method string, params json.RawMessage, o CallOptions, l limits) (*era.Outcome, error) {
	headers, err := extraHeaders(o.Headers)
	if err != nil {
		return nil, err
	}
	out := &era.Outgoing{Method: method, Params: params, LogLevel: string(c.levelOf(o.LogLevel)), Meta: json.RawMessage(o.Meta), Task: o.task}
	if err := o.answers(out); err != nil {
		return nil, err
	}
	call := engine.CallOptions{
		Timeout: pick(o.Timeout, l.timeout), Total: pick(o.Total, l.total), ResetOnProgress: o.ResetOnProgress, Headers: headers,
	}
	if o.OnProgress != nil {
		call.OnProgress = func(raw json.RawMessage) { c.progress(raw, o.OnProgress) }
	}
	var outcome *era.Outcome
	if o.ManualInput {
		outcome, err = c.send(ctx, out, call)
	} else {
		outcome, err = c.converse(ctx, out, call)
	}
	switch {
	case err != nil:
		return nil, err
	case outcome.Err != nil:
		return nil, outcome.Err
	case outcome.Input != nil:
		return nil, inputRequired(outcome.Input)
	}
	return outcome, nil
}

// send is the one way out for requests after the opening.
func (c *Client) send(ctx context.Context, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	if c.opts.Trace != nil {
		c.traced(ctx, out)
	}
	if c.outward != nil {
		return c.through(ctx, out, call)
	}
	return c.post(ctx, out, call)
}

// post sends a request that no middleware stands before any more.
func (c *Client) post(ctx context.Context, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	if c.opts.StrictCapabilities {
		if missing := lacks(&c.now().greeting.Capabilities, out.Method); missing != "" {
			return nil, mcp.Errorf(mcp.CodeCapabilityNotSupported, "%q was not sent: the server does not declare %s", out.Method, missing)
		}
	}
	return c.carry(ctx, out, call)
}

// levelOf is the log level that rides in a request.
func (c *Client) levelOf(asked mcp.Level) mcp.Level {
	if asked != "" {
		return asked
	}
	level, _ := c.level.Load().(mcp.Level)
	return level
}

func (c *Client) progress(raw json.RawMessage, f func(mcp.ProgressParams)) {
	var params mcp.ProgressParams
	if err := jsonv2.Unmarshal(raw, &params); err != nil {
		c.opts.OnError(fmt.Errorf("progress that cannot be read: %w", err))
		return
	}
	f(params)
}

// answers puts the material of a retry into a request.
func (o *CallOptions) answers(out *era.Outgoing) error {
	if o.InputResponses != nil {
		raw, err := encode(o.InputResponses)
		if err != nil {
			return fmt.Errorf("input responses: %w", err)
		}
		out.InputResponses = raw
	}
	if o.RequestState != nil {
		out.RequestState = jsonrpc.AppendString(nil, *o.RequestState)
	}
	return nil
}

// inputRequired reads the questions of a server. Those that cannot be read are left out of Requests.
func inputRequired(in *era.InputRound) *mcp.InputRequired {
	demand := &mcp.InputRequired{}
	for key, raw := range jsonrpc.Members(in.Requests) {
		var request mcp.InputRequest
		if jsonv2.Unmarshal(raw, &request) != nil {
			continue
		}
		if demand.Requests == nil {
			demand.Requests = mcp.InputRequests{}
		}
		demand.Requests[key] = request
	}
	if state, ok := jsonrpc.Text(in.State); ok {
		demand.State = &state
	}
	return demand
}

// reserved are the headers that a single call may not set: a wrong one would break the protocol or leak a credential.
var reserved = map[string]bool{
	"Authorization": true, "Content-Type": true, "Content-Length": true, "Accept": true, "Host": true, "Last-Event-Id": true,
}

func extraHeaders(h http.Header) ([][2]string, error) {
	var out [][2]string
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		if reserved[name] || strings.HasPrefix(name, "Mcp-") {
			return nil, fmt.Errorf("header %s cannot be set for one call; credentials belong into Options.Headers", name)
		}
		for _, value := range values {
			out = append(out, [2]string{name, value})
		}
	}
	return out, nil
}

// encoding writes the values of callers by the rules that tools are described with: names as encoding/json has them, no
// null for an empty list, durations as strings.
var encoding = jsonv2.JoinOptions(
	jsonv2.Deterministic(true),
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsontext.PreserveRawStrings(true),
	jsonv2.WithMarshalers(jsonv2.MarshalToFunc(func(enc *jsontext.Encoder, d time.Duration) error {
		return enc.WriteToken(jsontext.String(d.String()))
	})),
)

// encode gives a value its JSON form. Raw JSON passes through, once it is known to be JSON.
func encode(v any) (json.RawMessage, error) {
	var raw []byte
	switch v := v.(type) {
	case json.RawMessage:
		raw = v
	case jsontext.Value:
		raw = v
	default:
		return jsonv2.Marshal(v, encoding)
	}
	if !jsontext.Value(raw).IsValid() {
		return nil, fmt.Errorf("the raw value is no valid JSON: %.60q", raw)
	}
	return raw, nil
}

// decode reads a result into its neutral type.
func decode(method string, outcome *era.Outcome, v any) error {
	if err := jsonv2.Unmarshal(outcome.Result, v); err != nil {
		return mcp.Errorf(mcp.CodeInvalidResult, "the answer to %q cannot be read: %w", method, err)
	}
	return nil
}
