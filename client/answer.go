package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// ErrUserRejected is what a handler returns whose user does not want the question answered at all. A legacy server is
// answered with the code -1; on the modern era, which has no answer of that kind, the call that the question belongs to
// fails with it. To a form or a page the user says no by [Decline] instead.
var ErrUserRejected error = mcp.Errorf(-1, "The user has rejected the request")

// Origin says on whose behalf a server asks.
type Origin struct {
	// Method is that of the call of this client that waits for the answer; "" where nobody can tell, which is so for
	// requests of a legacy server.
	Method string

	// Key is the question's name among those of its round, and Round counts from 1. They are zero on the legacy era, where
	// each question is a request.
	Key   string
	Round int

	// Related is the id of the call of this client that a legacy server's request belongs to, where the wire says so: over
	// HTTP it came on that call's stream.
	Related mcp.RequestID

	// Tag is RawOptions.Tag of the call, where it is known.
	Tag any
}

// errNoHandler says that no typed handler takes a question.
var errNoHandler = errors.New("no handler")

// handles tells whether a typed handler takes a question.
func (c *Client) handles(method string, params json.RawMessage) bool {
	switch method {
	case mcp.MethodCreateMessage:
		return c.opts.CreateMessage != nil
	case mcp.MethodListRoots:
		return c.roots.offered
	case mcp.MethodElicit:
		if mcp.ElicitMode(params) == mcp.ElicitModeURL {
			return c.opts.ElicitURL != nil
		}
		return c.opts.Elicit != nil
	}
	return false
}

// answer gives a question of the server to its handler: a request of a legacy server, or one of a round of a modern one. It
// fails with errNoHandler when there is none. An *mcp.Error is for the server as it is; any other error is not.
func (c *Client) answer(ctx context.Context, method string, params json.RawMessage, from Origin) (json.RawMessage, error) {
	switch {
	case !c.handles(method, params):
		return nil, errNoHandler
	case method == mcp.MethodCreateMessage:
		return c.createMessage(ctx, params, from)
	case method == mcp.MethodListRoots:
		return encode(mcp.ListRootsResult{Roots: c.roots.list()})
	case mcp.ElicitMode(params) == mcp.ElicitModeURL:
		return c.elicitURL(ctx, params, from)
	default:
		return c.elicitForm(ctx, params, from)
	}
}

// reply answers a request of a legacy server.
func (c *Client) reply(ctx context.Context, req *IncomingRequest) *era.Outcome {
	result, err := c.answer(ctx, req.Method, req.Params, Origin{Related: req.Related, Tag: req.Tag})
	if h, ok := c.vendors.requests[req.Method]; ok {
		result, err = h.answer(ctx, req)
	}
	if errors.Is(err, errNoHandler) {
		if c.opts.OnRequest == nil {
			return errorOutcome(refusal(req.Method, req.Params, c.opts.Elicit != nil || c.opts.ElicitURL != nil))
		}
		result, err = c.opts.OnRequest(ctx, req)
	}
	if err == nil {
		return resultOutcome(result)
	}
	if ctx.Err() == nil && !errors.Is(err, ErrUserRejected) {
		c.opts.OnError(fmt.Errorf("answer %s: %w", req.Method, detailed(err)))
	}
	return errorOutcome(err)
}

// detailed shows the cause of an error that keeps it from the server.
func detailed(err error) error {
	var fault *mcp.Error
	if !errors.As(err, &fault) || fault.Remote {
		return err
	}
	if cause := fault.Unwrap(); cause != nil && !strings.Contains(fault.Message, cause.Error()) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// refusal says in the server's terms why a question of a kind that this client knows has no handler.
func refusal(method string, params json.RawMessage, elicits bool) *mcp.Error {
	if method == mcp.MethodElicit && elicits {
		return mcp.InvalidParams("This client does not take elicitation in %.20q mode; its capabilities say which it takes", mcp.ElicitMode(params))
	}
	return mcp.Errorf(mcp.CodeMethodNotFound, "Method not found: this client does not answer %q", method)
}

// readQuestion reads the parameters of a question.
func readQuestion(method string, params json.RawMessage, v any) error {
	if params == nil {
		params = json.RawMessage("{}")
	}
	if err := jsonv2.Unmarshal(params, v); err != nil {
		return mcp.InvalidParams("the parameters of %s cannot be read", method).Because(err)
	}
	return nil
}

// badAnswer is what the server gets for a fault of a handler on this side; why it is one is for this side alone.
func badAnswer(method, format string, args ...any) error {
	return mcp.Errorf(mcp.CodeInternal, "This client's answer to %s cannot be sent", method).Because(fmt.Errorf(format, args...))
}
