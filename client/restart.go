package client

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
)

// Restart says how a connection that has ended by itself is opened again: a child process that has exited, an event stream
// of HTTP+SSE that was lost, a server that answers no pings. The zero value does it with the defaults named here.
//
// The first attempt after a connection that was stable comes at once; the pauses before further ones double from First up
// to Longest, each shortened by chance by up to a half, so that those who went together do not come back together.
type Restart struct {
	Attempts int           // in a row, without a stable connection between. Zero means 8, negative no restart at all
	First    time.Duration // pause. Zero means 500 ms
	Longest  time.Duration // pause. Zero means a minute
	Stable   time.Duration // how long a connection must have held for the count to begin anew. Zero means 30 s
}

// WithDefaults returns the policy with its defaults filled in.
func (r Restart) WithDefaults() Restart {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&r.First, 500*time.Millisecond)
	set(&r.Longest, time.Minute)
	set(&r.Stable, 30*time.Second)
	if r.Attempts == 0 {
		r.Attempts = 8
	}
	return r
}

// Pause is how long to wait before the next attempt, when there were so many failures in a row; none after none.
func (r Restart) Pause(failures int) time.Duration {
	r = r.WithDefaults()
	if failures <= 0 {
		return 0
	}
	d := r.First
	for i := 1; i < failures && d < r.Longest; i++ {
		d *= 2
	}
	d = min(d, r.Longest)
	return d/2 + rand.N(d/2+1)
}

// lost begins to open a connection anew that has ended, and returns the flight to wait for; nil where there is none: it
// has been replaced already, or is not opened again.
func (c *Client) lost(l *live) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flight.Load(); f != nil {
		return f
	}
	if c.closed || c.now() != l || c.life.Err() != nil {
		return nil
	}
	if !c.to.restart || c.opts.Restart.Attempts < 0 {
		c.end(l.wire.why)
		return nil
	}
	f := newFlight()
	c.flight.Store(f)
	c.running.Go(func() { c.restart(f, l) }) // ends with c.life at the latest
	return f
}

// restart opens the connection again until it succeeds or the policy says that it is enough.
func (c *Client) restart(f *flight, l *live) {
	why := l.wire.why
	c.faults.report(c.named("the connection was lost and is opened again: %w", plainly(why)))
	_ = l.wire.close() // it fails for the reason that was just told
	policy := c.opts.Restart.WithDefaults()
	if time.Since(l.since) >= policy.Stable {
		c.failures = 0
	}
	for c.failures < policy.Attempts {
		if !c.sleep(policy.Pause(c.failures)) {
			break
		}
		c.failures++
		fresh, err := c.openAgain(l)
		if err == nil {
			if c.fly(f, fresh, nil) {
				c.watchWire(fresh)
				c.restore(fresh)
			}
			return
		}
		if c.life.Err() != nil {
			break
		}
		why = err
		c.faults.report(err)
		f.attempt(mcp.Errorf(mcp.CodeNotConnected, "the connection was lost and could not be opened again: %w", err))
	}
	if c.life.Err() == nil {
		why = mcp.Errorf(mcp.CodeConnectionClosed, "%s is not started again after %d failures in a row; the last: %w", c.to.name, c.failures, why)
		c.end(why)
	}
	c.fly(f, nil, errors.Join(mcp.CodeConnectionClosed, why))
}

// openAgain makes one attempt. A legacy server is not probed again; a modern one is met with its usual opening.
func (c *Client) openAgain(l *live) (*live, error) {
	o := &opener{c: c, to: c.to, phase: "start", afresh: true}
	if l.codec.Traits().Handshake {
		o.known = &negotiate.Verdict{Finding: negotiate.FoundLegacy}
	}
	ctx, cancel := c.connecting(c.life)
	defer cancel()
	fresh, err := o.run(ctx)
	if err != nil {
		return nil, o.failed(" again", errors.Join(err, o.abort()))
	}
	return fresh, nil
}

// sleep waits within the life of the client.
func (c *Client) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.life.Done():
		return false
	}
}
