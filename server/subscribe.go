package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
)

// mostURIs bounds the resources one listen may name.
const mostURIs = 10_000

// subscribe serves resources/subscribe and resources/unsubscribe of the legacy era.
func (s *Server) subscribe(ctx context.Context, r *Request) *era.Outcome {
	d, err := s.describe(ctx, r)
	if err != nil {
		return s.failure(r, err)
	}
	if c := d.Capabilities.Resources; c != nil && !c.Subscribe {
		return &era.Outcome{Err: mcp.MethodNotFound(r.Method())}
	}
	uri := r.Name()
	if uri == "" {
		return invalid(mcp.InvalidParams("%s needs a uri", r.Method()))
	}
	if !s.follows(ctx, r, uri) {
		return unknown(mcp.ResourceNotFound(uri))
	}
	if r.in.Peer == nil {
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInvalidRequest, "a subscription needs a session; this server serves legacy clients without")}
	}
	place := true
	if r.Method() == mcp.MethodUnsubscribeResource {
		err = r.in.Peer.Unsubscribe(ctx, uri)
	} else {
		place, err = r.in.Peer.Subscribe(ctx, uri)
	}
	switch {
	case !place, errors.Is(err, state.ErrTooLarge), errors.Is(err, state.ErrFull):
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Subscription limit reached; unsubscribe from what is no longer needed")}
	case err != nil:
		return s.notKept(err)
	}
	return empty()
}

// notKept answers a request whose effect could not be kept with the session. The detail stays here.
func (s *Server) notKept(err error) *era.Outcome {
	if errors.Is(err, state.ErrNotFound) {
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "the session has ended; open a new one")}
	}
	s.report(fmt.Errorf("change a session: %w", err))
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "the session cannot be changed now; try again in a moment")}
}

// listen serves subscriptions/listen of the modern era: what is asked for and offered is honoured.
func (s *Server) listen(ctx context.Context, r *Request) *era.Outcome {
	var params mcp.ListenParams
	raw, ok := mcp.Member(r.Params(), "notifications")
	if !ok || !jsonrpc.IsObject(raw) {
		return invalid(mcp.InvalidParams("subscriptions/listen needs a filter: the object \"notifications\""))
	}
	if err := json.Unmarshal(r.Params(), &params); err != nil {
		return invalid(mcp.InvalidParams("the filter of subscriptions/listen is malformed: its members are booleans, and resourceSubscriptions a list of URIs"))
	}
	want := params.Notifications
	if len(want.ResourceSubscriptions) > mostURIs {
		return invalid(mcp.InvalidParams("the filter of subscriptions/listen names %d resources; %d are the most", len(want.ResourceSubscriptions), mostURIs))
	}
	tasks, refusal := s.tasksFollowed(ctx, r, want)
	if refusal != nil {
		return refusal
	}
	d, err := s.describe(ctx, r)
	if err != nil {
		return s.failure(r, err)
	}
	got := honoured(want, d.Capabilities)
	if s.opts.Visible != nil || s.opts.MayFollow != nil {
		got.ResourceSubscriptions = slices.DeleteFunc(slices.Clone(got.ResourceSubscriptions), func(uri string) bool {
			return !s.follows(ctx, r, uri)
		})
	}
	return r.in.Listen(ctx, got.WithTaskIDs(tasks))
}

// honoured is the part of a filter that the capabilities offer.
func honoured(want mcp.SubscriptionFilter, c mcp.ServerCapabilities) mcp.SubscriptionFilter {
	var got mcp.SubscriptionFilter
	got.ToolsListChanged = want.ToolsListChanged && c.Tools != nil && c.Tools.ListChanged
	got.PromptsListChanged = want.PromptsListChanged && c.Prompts != nil && c.Prompts.ListChanged
	if c.Resources != nil {
		got.ResourcesListChanged = want.ResourcesListChanged && c.Resources.ListChanged
		if c.Resources.Subscribe && len(want.ResourceSubscriptions) > 0 {
			got.ResourceSubscriptions = want.ResourceSubscriptions
		}
	}
	return got
}
