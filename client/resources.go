package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// farewell bounds how long a legacy server is asked to forget resources.
const farewell = 5 * time.Second

// lock waits for the turn to ask a legacy server. Subscriptions of one resource must not overtake each other.
func (f *feed) lock(ctx context.Context) error {
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-f.c.life.Done():
		return mcp.Errorf(mcp.CodeConnectionClosed, "the connection has ended")
	}
}

func (f *feed) unlock() { <-f.turn }

// hold subscribes to the resources of a subscriber that nobody holds yet. When one is refused, the others are given back.
func (f *feed) hold(ctx context.Context, s *subscriber) error {
	if wire := f.c.now().wire; wire != nil {
		if err := wire.hear(ctx, streamTime); err != nil {
			return err
		}
	}
	if err := f.lock(ctx); err != nil {
		return err
	}
	defer f.unlock()
	grants := f.c.offered(s.filter)
	for i, uri := range grants.ResourceSubscriptions {
		if f.held[uri] == 0 {
			if err := f.c.SubscribeResource(ctx, uri); err != nil {
				return errors.Join(err, f.giveBack(grants.ResourceSubscriptions[:i]))
			}
		}
		if f.held == nil {
			f.held = make(map[string]int)
		}
		f.held[uri]++
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.in, s.grants = true, grants
	s.settle(nil)
	return nil
}

// release gives back what a subscriber held.
func (f *feed) release(s *subscriber) error {
	if f.c.life.Err() != nil {
		return nil // with the connection everything was given back
	}
	ctx, cancel := context.WithTimeout(f.c.life, farewell)
	defer cancel()
	if err := f.lock(ctx); err != nil {
		return err
	}
	defer f.unlock()
	return f.giveBack(f.honoured(s).ResourceSubscriptions)
}

// giveBack counts resources down, and unsubscribes from those that nobody needs; the turn is held.
func (f *feed) giveBack(uris []string) error {
	ctx, cancel := context.WithTimeout(f.c.life, farewell)
	defer cancel()
	var failed error
	for _, uri := range uris {
		if f.held[uri]--; f.held[uri] > 0 {
			continue
		}
		delete(f.held, uri)
		if err := f.c.UnsubscribeResource(ctx, uri); err != nil && f.c.life.Err() == nil {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// restored brings the news back after the connection was opened anew, and tells everybody of the gap.
func (f *feed) restored() {
	if f.c.traits().Listen {
		f.tune()
		f.gap()
		return
	}
	if err := f.lock(f.c.life); err != nil {
		return // it has ended
	}
	f.forsake(func(s *subscriber) bool { return !s.background && !s.reconnect }, errAnew)
	for uri := range f.held {
		if err := f.c.SubscribeResource(f.c.life, uri); err != nil && f.c.life.Err() == nil {
			f.fault(fmt.Errorf("after the connection was opened anew: %w", err))
		}
	}
	f.unlock()
	f.gap()
}

// errAnew ends a subscription that is not to reconnect.
var errAnew = errors.New("the connection was lost and opened anew, and the subscription is not to reconnect")

// barred ends the subscriptions of a legacy session whose stream the server refuses to a client that has had it: no resource is told
// of any more, and who waits would wait for ever. Functions that are called on changes stay, since changes may come with calls.
func (f *feed) barred(w *wire, err error) {
	f.c.background(func() {
		if f.c.now().wire != w || f.lock(f.c.life) != nil {
			return // another connection took its place, or the client has ended
		}
		defer f.unlock()
		f.forsake(func(s *subscriber) bool { return !s.background }, w.explain(f.c.life, err))
	})
}

// forsake ends the subscriptions that a test picks, without a word to the server; the turn is held.
func (f *feed) forsake(pick func(*subscriber) bool, why error) {
	for _, s := range f.all(pick) {
		if !f.drop(s) {
			continue // it was closed meanwhile, and waits for the turn to give back what it held
		}
		for _, uri := range f.honoured(s).ResourceSubscriptions {
			if f.held[uri]--; f.held[uri] <= 0 {
				delete(f.held, uri)
			}
		}
		f.end(s, why)
	}
}
