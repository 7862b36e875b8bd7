package streamhttp

import (
	"sync"
	"sync/atomic"
	"time"
)

// alarms keeps timers for use again: nearly every request sets one and stops it before it rings. The pool belongs to one
// handler, so that a timer never leaves the testing/synctest bubble it was made in.
type alarms struct{ pool sync.Pool }

// alarm makes a response a stream when it takes long.
type alarm struct {
	timer *time.Timer
	reply atomic.Pointer[reply]
}

func (a *alarms) set(p *reply, after time.Duration) *alarm {
	if one, ok := a.pool.Get().(*alarm); ok {
		one.reply.Store(p)
		one.timer.Reset(after)
		return one
	}
	one := &alarm{}
	one.reply.Store(p)
	one.timer = time.AfterFunc(after, one.ring)
	return one
}

func (a *alarm) ring() {
	if p := a.reply.Swap(nil); p != nil {
		p.upgrade()
	}
}

// stop takes the alarm back, unless it rings just now.
func (a *alarms) stop(one *alarm) {
	if one.timer.Stop() {
		one.reply.Store(nil)
		a.pool.Put(one)
	}
}
