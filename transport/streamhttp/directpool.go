package streamhttp

import (
	"slices"
	"sync"
	"time"
)

// pool keeps the connections of one address that nobody uses, the one used last at the end. It has no goroutine: one
// timer closes those that have become old. Its methods may be called concurrently.
type pool struct {
	most int
	life time.Duration

	mu     sync.Mutex
	idle   []*wire
	timer  *time.Timer // runs while idle has anything
	closed bool
}

// take returns a connection that the server has not closed and sends nothing on, or nil.
func (p *pool) take() *wire {
	for {
		w := p.pop()
		if w == nil || time.Since(w.since) < p.life && w.alive() {
			return w
		}
		w.conn.Close()
	}
}

func (p *pool) pop() *wire {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	w := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	return w
}

// put takes a connection back, or closes it: when there are enough, and where it could not be asked whether it is alive.
func (p *pool) put(w *wire) {
	w.since = time.Now()
	if w.alive == nil || !p.add(w) {
		w.conn.Close()
	}
}

func (p *pool) add(w *wire) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= p.most {
		return false
	}
	p.idle = append(p.idle, w)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.life, p.sweep)
	}
	return true
}

// sweep closes what has become old, and comes again when the next will have.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	young := slices.IndexFunc(p.idle, func(w *wire) bool { return time.Since(w.since) < p.life })
	old := len(p.idle)
	if young >= 0 {
		old = young
	}
	for _, w := range p.idle[:old] {
		w.conn.Close()
	}
	p.idle = slices.Delete(p.idle, 0, old)
	p.timer = nil
	if len(p.idle) > 0 && !p.closed {
		p.timer = time.AfterFunc(p.life-time.Since(p.idle[0].since), p.sweep)
	}
}

// close closes what is idle, and lets nothing become so any more.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, w := range p.idle {
		w.conn.Close()
	}
	p.idle = nil
}
