package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// Limits of the listen in the background.
const (
	ackTime    = 30 * time.Second // for the acknowledgement
	endTime    = time.Second      // between the notice that a server ends a listen and its final result
	firstPause = time.Second      // before a broken listen is opened anew; doubles up to lastPause
	lastPause  = 30 * time.Second
)

var (
	errNoAck    = errors.New("the server did not acknowledge the subscription in time")
	errEnded    = errors.New("the server has ended the subscription")
	errReplaced = errors.New("the subscription is no longer wanted")
)

// listen is the open subscription of a client: one for all registered functions.
type listen struct {
	filter mcp.SubscriptionFilter
	cancel context.CancelCauseFunc
}

// tune opens, replaces or ends the subscription so that it brings what is waited for. It does not wait for the server.
func (c *Client) tune() {
	if !c.now().codec.Traits().Listen {
		return // news comes by itself
	}
	ws := &c.watches
	ws.tuning.Lock()
	defer ws.tuning.Unlock()
	filter := c.offered(ws.wanted())
	old := ws.listen
	if old != nil && reflect.DeepEqual(old.filter, filter) {
		return
	}
	ws.listen = nil
	if !filter.IsZero() {
		ctx, cancel := context.WithCancelCause(c.life)
		l := &listen{filter: filter, cancel: cancel}
		if c.background(func() { c.listen(ctx, l); cancel(nil) }) {
			ws.listen = l
		}
	}
	if old != nil {
		old.cancel(errReplaced) // after the new one has begun, so that the gap is short
	}
}

// offered cuts a filter to what the server declares.
func (c *Client) offered(f mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	has := &c.now().greeting.Capabilities
	f.ToolsListChanged = f.ToolsListChanged && has.Tools != nil && has.Tools.ListChanged
	f.PromptsListChanged = f.PromptsListChanged && has.Prompts != nil && has.Prompts.ListChanged
	f.ResourcesListChanged = f.ResourcesListChanged && has.Resources != nil && has.Resources.ListChanged
	return f
}

// listen keeps a subscription open until ctx ends or the server shows that it has none.
func (c *Client) listen(ctx context.Context, l *listen) {
	pause, missed := firstPause, false
	for {
		acknowledged, err := c.listenOnce(ctx, l.filter, missed)
		if ctx.Err() != nil {
			return
		}
		missed = missed || acknowledged
		if acknowledged {
			pause = firstPause
		}
		if err != nil {
			c.faults.report(c.named("news of changes: %w", err))
			if isFinal(err) {
				return
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, lastPause)
	}
}

// isFinal tells whether asking again is pointless: the server has no such method, refuses the parameters, or wants to know
// first who asks.
func isFinal(err error) bool {
	return errors.Is(err, mcp.CodeMethodNotFound) || errors.Is(err, mcp.CodeInvalidParams) || errors.Is(err, ErrUnauthorized)
}

// listenOnce opens one stream and returns when it is over. missed says that there was one before.
func (c *Client) listenOnce(ctx context.Context, filter mcp.SubscriptionFilter, missed bool) (acknowledged bool, err error) {
	params, err := encode(mcp.ListenParams{Notifications: filter})
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	timer := time.AfterFunc(ackTime, func() { cancel(errNoAck) })
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		timer.Stop()
	}()
	onNotice := func(n *era.Notice) bool {
		mu.Lock()
		defer mu.Unlock()
		switch n.Method {
		case mcp.NotifySubscriptionsAcknowledged:
			acknowledged = true
			timer.Stop()
			if missed {
				c.catchUp(filter)
			}
			return true
		case mcp.NotifyCancelled:
			timer.Stop()
			timer = time.AfterFunc(endTime, func() { cancel(errEnded) })
			return true
		}
		return false // a change, for the handler
	}
	outcome, err := c.send(ctx, &era.Outgoing{Method: mcp.MethodListen, Params: params}, engine.CallOptions{OnNotice: onNotice})
	mu.Lock()
	defer mu.Unlock()
	switch {
	case errors.Is(err, errEnded):
		return acknowledged, nil
	case err != nil:
		return acknowledged, fmt.Errorf("subscriptions/listen: %w", err)
	case outcome.Err != nil:
		return acknowledged, fmt.Errorf("subscriptions/listen: %w", outcome.Err)
	}
	return acknowledged, nil
}

// catchUp calls everybody, since changes may have passed unheard.
func (c *Client) catchUp(filter mcp.SubscriptionFilter) {
	if filter.ToolsListChanged {
		c.now().mirrors.stale()
	}
	for method, on := range map[string]bool{
		mcp.NotifyToolsChanged:     filter.ToolsListChanged,
		mcp.NotifyPromptsChanged:   filter.PromptsListChanged,
		mcp.NotifyResourcesChanged: filter.ResourcesListChanged,
	} {
		if on {
			c.watches.signal(method)
		}
	}
}
