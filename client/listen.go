package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

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
	errBare     = errors.New("the server closed the subscription without acknowledging it")
	errEnded    = errors.New("the server has ended the subscription")
	errReplaced = errors.New("the subscription is no longer wanted")
	errEarly    = errors.New("a change came before the acknowledgement of the subscription and was dropped")
)

// streams are the listens of a feed; feed.mu guards them.
type streams struct {
	current  *listen // acknowledged: it brings the news
	next     *listen // to take its place
	broken   bool    // there was one that broke, so that news may be missed
	pause    time.Duration
	retrying bool
}

// listen is one stream of subscriptions/listen.
type listen struct {
	filter  Filter // what was asked for
	granted Filter // what the server has agreed to
	cancel  context.CancelCauseFunc
}

// tune opens, replaces or ends the stream so that it brings what is wanted. It does not wait for the server. A stream is
// ended when its successor has been acknowledged, so that nothing is missed between.
func (f *feed) tune() {
	if !f.c.traits().Listen {
		return // news comes by itself
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	want := f.c.offered(f.union())
	switch {
	case want.IsZero():
		f.quit(&f.current)
		f.quit(&f.next)
	case f.next != nil && reflect.DeepEqual(f.next.filter, want):
	case f.current != nil && reflect.DeepEqual(f.current.filter, want):
		f.quit(&f.next)
		f.welcome(f.current)
	default:
		f.quit(&f.next)
		f.open(want)
	}
}

// quit ends a stream that is not wanted any more; f.mu is held.
func (f *feed) quit(l **listen) {
	if *l != nil {
		(*l).cancel(errReplaced)
		*l = nil
	}
}

// open begins a stream; f.mu is held.
func (f *feed) open(want Filter) {
	ctx, cancel := context.WithCancelCause(f.c.life)
	l := &listen{filter: want, cancel: cancel}
	began := f.c.background(func() {
		defer cancel(nil)
		acknowledged, err := f.listen(ctx, l)
		if ctx.Err() == nil {
			f.over(l, acknowledged, err)
		}
	})
	if began {
		f.next = l
	}
}

// acknowledged puts a stream into its place. It answers false when it is not wanted any more.
func (f *feed) acknowledged(l *listen, granted Filter) bool {
	f.mu.Lock()
	if f.next != l {
		f.mu.Unlock()
		return false
	}
	var had Filter
	if f.current != nil {
		had = f.current.filter
	}
	f.quit(&f.current)
	f.current, f.next = l, nil
	l.granted = granted
	broken := f.broken
	f.broken, f.pause = false, 0
	f.mu.Unlock()
	if broken {
		f.gap()
	} else {
		f.begins(had, l.filter)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == l {
		f.welcome(l)
	}
	return true
}

// welcome tells all whom a stream serves what it grants; f.mu is held.
func (f *feed) welcome(l *listen) {
	for s := range f.members {
		s.in, s.grants = true, both(&s.filter, &l.granted)
		s.settle(nil)
	}
}

// over takes the end of a stream that nobody here has ended. Those who cannot or do not want to wait for another are told.
func (f *feed) over(l *listen, acknowledged bool, err error) {
	final := !acknowledged && isFinal(err)
	f.mu.Lock()
	opening := f.next == l
	switch {
	case opening:
		f.next = nil
	case f.current == l:
		f.current, f.broken = nil, true
	default:
		f.mu.Unlock()
		return // it was replaced while it ended
	}
	var lost []*subscriber
	for s := range f.members {
		stays := s.background || s.reconnect && s.in
		if opening && f.current != nil {
			stays = s.in || s.background // the stream before it goes on
		}
		if final && !(opening && f.current != nil && s.in) || !stays {
			delete(f.members, s)
			lost = append(lost, s)
		}
	}
	left := len(f.members)
	f.mu.Unlock()
	for _, s := range lost {
		f.end(s, err)
	}
	if err != nil {
		f.fault(err)
	}
	if left > 0 {
		f.later()
	}
}

// later tunes after a pause, on a goroutine that ends with it or with the client.
func (f *feed) later() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retrying {
		return
	}
	f.pause = min(max(2*f.pause, firstPause), lastPause)
	pause := f.pause
	f.retrying = f.c.background(func() {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-f.c.life.Done():
		}
		f.mu.Lock()
		f.retrying = false
		f.mu.Unlock()
		f.tune()
	})
}

// isFinal tells whether asking again is pointless: the server has no such method, refuses the parameters, has other ideas
// of how a subscription begins, or wants to know first who asks.
func isFinal(err error) bool {
	return errors.Is(err, mcp.CodeMethodNotFound) || errors.Is(err, mcp.CodeInvalidParams) || errors.Is(err, ErrUnauthorized) ||
		errors.Is(err, errBare)
}

// listen opens one stream and returns when it is over: nil for an end in order.
func (f *feed) listen(ctx context.Context, l *listen) (acknowledged bool, err error) {
	params, err := encode(mcp.ListenParams{Notifications: l.filter})
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watchdog{cancel: cancel}
	w.set(ackTime, errNoAck)
	defer w.stop()
	outcome, err := f.c.send(ctx, &era.Outgoing{Method: mcp.MethodListen, Params: params}, engine.CallOptions{
		OnNotice: func(n *era.Notice) bool { return f.heard(l, w, n) },
	})
	acknowledged = w.acknowledged()
	switch {
	case errors.Is(err, errEnded):
		err = nil
	case err == nil && outcome.Err != nil:
		err = outcome.Err
	}
	if err == nil && !acknowledged {
		err = errBare
	}
	if err != nil {
		err = fmt.Errorf("subscriptions/listen: %w", err)
	}
	return acknowledged, err
}

// heard takes what comes on a stream, on the reader's goroutine. It answers false for a change that everybody is to hear of.
func (f *feed) heard(l *listen, w *watchdog, n *era.Notice) bool {
	switch n.Method {
	case mcp.NotifySubscriptionsAcknowledged:
		var ack mcp.SubscriptionsAcknowledgedParams
		if err := jsonv2.Unmarshal(n.Params, &ack); err != nil {
			f.fault(fmt.Errorf("the acknowledgement of the subscription cannot be read: %w", err))
		}
		w.acknowledge()
		f.acknowledged(l, ack.Notifications)
		return true
	case mcp.NotifyCancelled:
		w.set(endTime, errEnded)
		return true
	}
	if kindOf[n.Method] == 0 {
		return false
	}
	if !w.acknowledged() {
		f.fault(errEarly)
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current != l // the other stream brings it too
}

// watchdog ends a stream on which nothing comes in time, and knows whether it was acknowledged.
type watchdog struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	ack   bool
}

func (w *watchdog) set(after time.Duration, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.timer = time.AfterFunc(after, func() { w.cancel(cause) })
}

func (w *watchdog) acknowledge() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ack = true
	w.timer.Stop()
}

func (w *watchdog) acknowledged() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ack
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
}
