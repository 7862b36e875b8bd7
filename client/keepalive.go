package client

import (
	"context"
	"errors"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// KeepAlive asks a server of the legacy era with ping whether it is still there: the modern era has no such request, and a
// process shows by itself that it has ended. Each answer doubles the time to the next ping, up to Longest; an error counts
// as an answer. After Failures pings in a row without one the connection counts as lost, and Options.Restart says what
// follows.
//
// A server that is busy with one call may be slow to answer: choose Timeout and Failures so that it is not given up for that.
type KeepAlive struct {
	Interval time.Duration // to the first ping, and after one that failed. Zero or negative means that nothing is asked
	Longest  time.Duration // between two pings. Zero means 10 min
	Timeout  time.Duration // of one ping. Zero means 10 s
	Failures int           // in a row. Zero means 3
}

func (k KeepAlive) withDefaults() KeepAlive {
	if k.Longest <= 0 {
		k.Longest = 10 * time.Minute
	}
	if k.Timeout <= 0 {
		k.Timeout = 10 * time.Second
	}
	if k.Failures <= 0 {
		k.Failures = 3
	}
	k.Longest = max(k.Longest, k.Interval)
	return k
}

// keepAlive pings for as long as the client lives.
func (c *Client) keepAlive() {
	k := c.opts.KeepAlive.withDefaults()
	var asked *live
	wait, failed := k.Interval, 0
	for c.sleep(wait) {
		l := c.now()
		if l != asked {
			asked, wait, failed = l, k.Interval, 0
		}
		if !l.codec.Traits().Handshake || c.flight.Load() != nil {
			continue
		}
		err := c.pingOn(l, k.Timeout)
		switch {
		case c.life.Err() != nil:
			return
		case err == nil:
			wait, failed = min(2*wait, k.Longest), 0
			continue
		}
		wait = k.Interval
		if failed++; failed >= k.Failures {
			l.wire.lose(mcp.Errorf(mcp.CodeConnectionClosed, "the server left %d pings unanswered; the last: %w", failed, err))
			if f := c.lost(l); f != nil {
				<-f.done
			}
		}
	}
}

// pingOn asks once. An error that the server answers is an answer, and so is the demand to begin a new session.
func (c *Client) pingOn(l *live, limit time.Duration) error {
	out := &era.Outgoing{Method: mcp.MethodPing}
	ctx, cancel := context.WithCancel(c.life)
	defer cancel()
	outcome, err := c.exchange(ctx, l, out, engine.CallOptions{Timeout: limit, Total: limit})
	if err == nil {
		return nil
	}
	doubt := l.doubt(outcome, err)
	if doubt == nil {
		return err
	}
	_, failure := c.renew(c.life, l, doubt)
	if failure != nil {
		return errors.Join(err, failure)
	}
	return nil
}
