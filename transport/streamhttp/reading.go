package streamhttp

import (
	"net/http"
	"sync"
	"time"
)

// reading bounds the time for the body of one request, from its arrival on. A deadline is set only where the body is late
// or left unread: setting one and lifting it for each request costs more than a timer that is stopped again. The zero value
// bounds nothing. It belongs to the goroutine that serves the request.
type reading struct {
	bodies *Bodies
	w      http.ResponseWriter
	clock  *clock // nil when nothing is bounded any more
	lift   bool   // somebody has called Limit for this request
}

// begin starts the time of a body. end must be called when the request has been served.
func (b *Bodies) begin(w http.ResponseWriter, r *http.Request) reading {
	if r.ContentLength == 0 || b.Timeout <= 0 {
		return reading{}
	}
	return reading{bodies: b, w: w, clock: b.clocks.set(w, b.Timeout)}
}

// done says that the body has been read to its end. A deadline is lifted: the wait for a lost connection must not end with
// it.
func (r *reading) done() {
	if r.clock == nil {
		return
	}
	rang := r.bodies.clocks.stop(r.clock)
	r.clock = nil
	if !rang && !r.lift {
		return
	}
	if err := readBy(r.w, time.Time{}); err != nil && !r.lift { // what has no deadlines had none to lift
		r.bodies.OnError(err)
	}
}

// end says that the request has been served. What of its body is unread net/http takes in before it answers, and gets as
// long again for it, or no time where the body was late already.
func (r *reading) end() {
	if r.clock == nil {
		return
	}
	if !r.bodies.clocks.stop(r.clock) {
		_ = readBy(r.w, time.Now().Add(r.bodies.Timeout)) // or it has no deadlines
	}
	r.clock = nil
}

// clocks keeps timers for use again, as alarms does and for the same reasons.
type clocks struct{ pool sync.Pool }

// clock interrupts the reading of a body when it rings.
type clock struct {
	timer *time.Timer

	mu   sync.Mutex
	w    http.ResponseWriter // nil while there is nothing to interrupt
	rang bool
}

func (c *clocks) set(w http.ResponseWriter, after time.Duration) *clock {
	if one, ok := c.pool.Get().(*clock); ok {
		one.w = w // nobody else looks: the timer has been stopped
		one.timer.Reset(after)
		return one
	}
	one := &clock{w: w}
	one.timer = time.AfterFunc(after, one.ring)
	return one
}

func (c *clock) ring() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w != nil {
		c.rang = true
		_ = readBy(c.w, time.Unix(1, 0)) // long ago; or it has no deadlines
	}
}

// stop takes a clock back and tells whether it has rung. One that rings just now is not used again.
func (c *clocks) stop(one *clock) (rang bool) {
	if one.timer.Stop() {
		one.w = nil
		c.pool.Put(one)
		return false
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	one.w = nil
	return one.rang
}
