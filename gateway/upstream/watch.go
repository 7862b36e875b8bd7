package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// Watch implements Conn.
func (l *link) Watch(ctx context.Context, uris []string, fn func(uri string)) error {
	l.watching.Lock()
	defer l.watching.Unlock()
	if caps := l.c.ServerCapabilities().Resources; caps == nil || !caps.Subscribe {
		uris = nil
	}
	var next *client.Subscription
	if len(uris) > 0 {
		var err error
		if next, err = l.c.Subscribe(ctx, client.Filter{ResourceSubscriptions: uris}, client.SubscribeOptions{Reconnect: true}); err != nil {
			return err
		}
	}
	old := l.watch
	l.watch = next // before the old one ends, so that what both have is not given back between
	if next != nil {
		l.reading.Go(func() { l.news(next, uris, fn) }) // ends with next, or with the client
	}
	if old != nil {
		return old.Close()
	}
	return nil
}

// watchPause is how long after the end of a subscription it is asked for again.
const watchPause = time.Minute

// news hands on the news of a subscription. Where that ends before its connection does, since the server has taken access away
// say, it is asked for again, and what was missed is told.
func (l *link) news(s *client.Subscription, uris []string, fn func(uri string)) {
	for s != nil && tellUpdates(s, uris, fn) != nil {
		if s = l.resume(s, uris); s != nil {
			for _, uri := range uris {
				fn(uri)
			}
		}
	}
}

// resume asks again for what a subscription has brought; nil where nobody wants that any more.
func (l *link) resume(old *client.Subscription, uris []string) *client.Subscription {
	for {
		select {
		case <-time.After(watchPause):
		case <-l.c.Done():
			return nil
		}
		if next, over := l.again(old, uris); over {
			return next
		}
	}
}

// again is one try of resume; over is false where there may be another.
func (l *link) again(old *client.Subscription, uris []string) (next *client.Subscription, over bool) {
	l.watching.Lock()
	defer l.watching.Unlock()
	if l.watch != old {
		return nil, true // others are watched by now, or none
	}
	ctx, cancel := context.WithTimeout(context.Background(), watchPause)
	defer cancel()
	next, err := l.c.Subscribe(ctx, client.Filter{ResourceSubscriptions: uris}, client.SubscribeOptions{Reconnect: true})
	if err != nil {
		return nil, false
	}
	l.watch = next
	return next, true
}

// tellUpdates hands on the news of a subscription until it ends: nil where it was closed. News of what lies below a resource are
// news of that resource: clients of the gateway hear of what they have named. After a gap anything may have changed.
func tellUpdates(s *client.Subscription, uris []string, fn func(uri string)) error {
	for e, err := range s.Events(context.Background()) {
		if err != nil {
			return err
		}
		for _, uri := range uris {
			if e.Kind == client.Gap || e.URI == uri || strings.HasPrefix(e.URI, uri) && !slices.Contains(uris, e.URI) {
				fn(uri)
			}
		}
	}
	return nil
}

// Watch asks a server for the updates of these resources, from now on and over all its connections, and of no others. It does
// not wait for the server; Options.OnUpdate hears of the updates. A server that is not configured is passed over.
func (s *Set) Watch(name string, uris []string) {
	if u := s.find(name); u != nil {
		u.watchOnly(uris)
	}
}

// watchOnly asks for the updates of these resources and of no others.
func (u *upstream) watchOnly(uris []string) {
	u.mu.Lock()
	same := slices.Equal(u.watched, uris)
	u.watched = slices.Clone(uris)
	u.mu.Unlock()
	if !same {
		u.rewatch()
	}
}

// rewatch says that the resources to watch are others now.
func (u *upstream) rewatch() { ring(u.watch) }

func ring(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default: // somebody is about to look
	}
}

// watchAll brings a connection up to what is to be watched.
func (u *upstream) watchAll(ctx context.Context, conn Conn) {
	u.mu.Lock()
	uris := u.watched
	u.mu.Unlock()
	limit := u.set.limits.Load().List
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	err := conn.Watch(ctx, uris, func(uri string) {
		u.cache.updated(uri)
		switch {
		case u.left():
		case u.whose != nil:
			u.set.opts.OnOwnUpdate(u.whose, u.server().Name, uri)
		default:
			u.set.opts.OnUpdate(u.server().Name, uri)
		}
	})
	if err != nil && ctx.Err() == nil && !manager.IsLoss(err) {
		u.warn("updates of its resources do not come: " + u.keeper.Reason(err))
	}
}
