package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// IncomingRequest is a request of the server: on the legacy era for sampling, elicitation, roots or a vendor's method.
type IncomingRequest struct {
	Method string
	Params json.RawMessage // as they came; nil for none

	// Related is the id of the call of this side that the request belongs to, where the wire says so: over HTTP it came on
	// that call's stream. Zero means that nobody can tell.
	Related mcp.RequestID

	// Tag is RawOptions.Tag of that call, and Stream the stream of one begun with Start.
	Tag    any
	Stream *Stream

	// Task is the id of the task that the request belongs to, where it says so; "" for none.
	Task string

	answer chan *era.Outcome // of a request that was put into a stream; takes one
}

// Reply answers a request that came as a [Message] with a result, a JSON object; nil is {}. The first answer counts.
func (r *IncomingRequest) Reply(result json.RawMessage) { r.settle(resultOutcome(result)) }

// Refuse answers a request that came as a [Message] with an error; one that is no *mcp.Error becomes an internal one
// without its text.
func (r *IncomingRequest) Refuse(err error) { r.settle(errorOutcome(err)) }

func (r *IncomingRequest) settle(o *era.Outcome) {
	select {
	case r.answer <- o:
	default: // answered already, or given to OnRequest, which answers by returning
	}
}

func resultOutcome(result json.RawMessage) *era.Outcome {
	if result == nil {
		result = json.RawMessage("{}")
	}
	return &era.Outcome{Result: result}
}

func errorOutcome(err error) *era.Outcome {
	var fault *mcp.Error
	if !errors.As(err, &fault) {
		fault = mcp.Errorf(mcp.CodeInternal, "Internal error")
	}
	return &era.Outcome{Err: fault}
}

// handler is the client's side of the engine.
type handler struct{ c *Client }

var _ engine.Handler = handler{}

// Call answers one request of the server.
func (h handler) Call(ctx context.Context, in *engine.Incoming) *era.Outcome {
	if in.Method() == mcp.MethodPing {
		return resultOutcome(nil)
	}
	req := &IncomingRequest{Method: in.Method(), Params: in.Params(), Task: relatedTask(in.Params())}
	if id := in.X.Related(); !id.IsZero() {
		req.Related, _ = mcp.ParseToken(id.Raw()) // every id is a token
		if call, ok := in.Peer.Tag(id).(*rawCall); ok {
			req.Tag, req.Stream = call.tag, call.stream
		}
	}
	if in.Peer != nil {
		defer in.Peer.Rest(in.X.Related())() // whoever is asked may take longer than a call
	}
	if req.Stream != nil && req.Stream.requests {
		return req.Stream.ask(ctx, req)
	}
	return h.c.reply(ctx, req)
}

// Notice takes one notification that no call has taken.
func (h handler) Notice(ctx context.Context, n *era.Notice, _ transport.Exchange) {
	c := h.c
	c.cache.heard(ctx, c.now(), n)
	if c.opts.OnNotification != nil {
		c.opts.OnNotification(ctx, n.Method, n.Params)
	}
	if h, ok := c.vendors.notices[n.Method]; ok {
		if err := h.take(ctx, n.Params); err != nil {
			c.opts.OnError(c.named("%w", err))
		}
	}
	switch n.Method {
	case mcp.NotifyToolsChanged:
		c.now().mirrors.stale()
		c.feed.deliver(n)
	case mcp.NotifyPromptsChanged, mcp.NotifyResourcesChanged, mcp.NotifyResourceUpdated:
		c.feed.deliver(n)
	case mcp.NotifyElicitationComplete:
		c.visits.complete(n.Params)
	case mcp.NotifyMessage:
		c.logged(n.Params)
	}
}

func (c *Client) logged(raw json.RawMessage) {
	if c.opts.OnLog == nil {
		return
	}
	var params mcp.LoggingMessageParams
	if err := jsonv2.Unmarshal(raw, &params); err != nil {
		c.opts.OnError(fmt.Errorf("a log message that cannot be read: %w", err))
		return
	}
	c.opts.OnLog(params)
}
