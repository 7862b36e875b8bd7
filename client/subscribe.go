package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
)

// Filter says what a subscription brings: changes of the three lists, and updates of single resources by their URI.
type Filter = mcp.SubscriptionFilter

// SubscribeOptions adjusts a subscription. It is an optional last argument.
type SubscribeOptions struct {
	// Reconnect keeps the subscription when the stream that brings the news breaks: it is opened anew, with pauses that grow
	// to 30 s, and a Gap is told. Without it the subscription ends. The stream of a legacy session over HTTP is opened anew
	// in any case, as long as the session lasts and the server does not refuse it (401 or 403) eight times in a row, with
	// which every subscription ends.
	Reconnect bool
}

// EventKind is what an Event tells.
type EventKind uint8

// The kinds of events.
const (
	ToolsChanged     EventKind = iota + 1 // the list of tools has changed
	PromptsChanged                        // the list of prompts has changed
	ResourcesChanged                      // the list of resources, or of their templates, has changed
	ResourceUpdated                       // a resource has changed
	Gap                                   // the news were cut off for a while: anything may have changed unheard
)

var kindNames = [...]string{"?", "tools changed", "prompts changed", "resources changed", "resource updated", "gap"}

// String names the kind.
func (k EventKind) String() string {
	if int(k) >= len(kindNames) {
		k = 0
	}
	return kindNames[k]
}

// Event is one piece of news.
type Event struct {
	Kind   EventKind
	URI    string          // of the resource; it may lie below the one subscribed to
	Params json.RawMessage // of the notification, as they came; nil for none
}

// Subscription brings news of a server. Its methods may be called concurrently, but Next is for one goroutine.
type Subscription struct {
	c     *Client
	entry *subscriber

	mu    sync.Mutex
	queue []Event
	wake  chan struct{} // one place; filled when something was put in
	ended chan struct{} // closed when err is set
	err   error
	once  sync.Once
	close error
}

// Subscribe asks for news of the server and returns when the server has agreed. It works in both eras: on the modern one by
// a stream of subscriptions/listen, on the legacy one by resources/subscribe and what comes by itself. All subscriptions of
// a client share one stream and one subscription of each resource, so that nobody gets news twice; the last one to be
// closed gives them back.
//
// ctx bounds the wait for the server; the subscription ends by Close, with the client, or with the stream, unless it is to
// reconnect. What the server does not declare is not asked for, and what it does not grant does not come: see
// [Subscription.Honoured]. When nothing is left Subscribe fails with mcp.CodeCapabilityNotSupported.
//
// An event that waits to be taken stands for all of its kind, and for a resource, that come meanwhile.
func (c *Client) Subscribe(ctx context.Context, filter Filter, opts ...SubscribeOptions) (*Subscription, error) {
	if len(filter.Extra) > 0 {
		return nil, errors.New("subscribe: members of extensions cannot be shared between subscriptions; use Client.FollowTasks, or Client.Start with subscriptions/listen")
	}
	if err := c.usable(); err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	filter.ResourceSubscriptions = distinct(filter.ResourceSubscriptions)
	if !filter.IsZero() && c.offered(filter).IsZero() {
		return nil, fmt.Errorf("subscribe: %w", mcp.Errorf(mcp.CodeCapabilityNotSupported,
			"the server declares none of what the filter asks for: listChanged of a list, or subscribe of resources"))
	}
	s := &Subscription{c: c, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	s.entry = &subscriber{filter: filter, take: s.put, lost: s.finish, joined: make(chan struct{})}
	for _, o := range opts[:min(len(opts), 1)] {
		s.entry.reconnect = o.Reconnect
	}
	if err := c.feed.join(ctx, s.entry); err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	return s, nil
}

func distinct(uris []string) []string {
	uris = slices.Clone(uris)
	slices.Sort(uris)
	return slices.Compact(uris)
}

// Honoured returns the part of the filter that the server grants. It may change when the stream was opened anew.
func (s *Subscription) Honoured() Filter { return s.c.feed.honoured(s.entry) }

// Next waits for the next event. It fails with io.EOF when the subscription was closed, or the server has ended it in
// order, and all events have been taken; with the reason when the stream broke; and with the cause of ctx.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	for {
		if e, ok := s.next(); ok {
			return e, nil
		}
		select {
		case <-s.wake:
		case <-s.ended:
			if e, ok := s.next(); ok {
				return e, nil
			}
			if s.err != nil {
				return Event{}, s.err
			}
			return Event{}, io.EOF
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// Events returns the events as they come. It ends without an error where Next fails with io.EOF.
func (s *Subscription) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			e, err := s.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Done is closed when no more events come.
func (s *Subscription) Done() <-chan struct{} { return s.ended }

// Err says why a subscription has ended: nil while Done is open, after Close, and where the server has ended it in order.
func (s *Subscription) Err() error {
	select {
	case <-s.ended:
		return s.err
	default:
		return nil
	}
}

// Close ends the subscription and gives back what no other one needs. A legacy server is told to forget resources, for at
// most five seconds, and Close answers its refusal. It may be called twice.
func (s *Subscription) Close() error {
	s.once.Do(func() {
		s.finish(nil)
		s.close = s.c.feed.leave(s.entry)
	})
	return s.close
}

func (s *Subscription) next() (Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return Event{}, false
	}
	e := s.queue[0]
	s.queue[0] = Event{}
	s.queue = s.queue[1:]
	return e, true
}

// put takes an event, unless one like it waits already. What a slow reader does not take in time becomes a gap.
func (s *Subscription) put(e Event) {
	s.mu.Lock()
	waits := slices.ContainsFunc(s.queue, func(w Event) bool { return w.Kind == e.Kind && w.URI == e.URI })
	switch {
	case waits:
	case len(s.queue) >= mostEvents:
		s.queue = []Event{{Kind: Gap}}
	default:
		s.queue = append(s.queue, e)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// mostEvents bounds the different events that wait for a slow reader.
const mostEvents = 1000

// finish ends the subscription, once.
func (s *Subscription) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ended:
	default:
		s.err = err
		close(s.ended)
	}
}
