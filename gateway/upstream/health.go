package upstream

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// HealthTuning says how a server is asked whether it is well, while nobody calls it. The zero value asks nothing: a lost
// connection and calls without an answer show by themselves.
type HealthTuning struct {
	Every    time.Duration // zero or less asks nothing
	Timeout  time.Duration // of one answer. Zero means 5 s
	Failures int           // in a row, after which the server counts as degraded. Zero means 3
}

func (t HealthTuning) withDefaults() HealthTuning {
	t.Timeout = cmp.Or(t.Timeout, 5*time.Second)
	t.Failures = cmp.Or(t.Failures, 3)
	return t
}

// pinger is a Conn that can ask its server whether it is there.
type pinger interface {
	// Ping asks. Any answer of the server is one, an error too.
	Ping(ctx context.Context) error

	// Busy tells whether calls of clients are under way.
	Busy() bool
}

// checkHealth asks now and then, until ctx ends. A server that has answered a call since is well and is not asked. A program on
// a pipe is not asked while it is at work: one that does one thing at a time could not answer, and is well all the same.
//
// A server that does not answer is degraded and keeps its connection: some do not know the question, and what works still works.
// Where the failure shows that the connection is gone, it is opened anew.
func (u *upstream) checkHealth(ctx context.Context, conn Conn) {
	p, ok := conn.(pinger)
	if !ok {
		return
	}
	failures := 0
	for {
		t := u.tuning().Health.withDefaults()
		var due <-chan time.Time
		if t.Every > 0 {
			due = time.After(t.Every)
		}
		select {
		case <-ctx.Done():
			return
		case <-u.retuned:
			if u.tuning().Health.Every <= 0 {
				failures = 0
				u.mark(conn, markHealth, "")
			}
			continue
		case <-due:
		}
		if u.answered.since() < t.Every {
			failures = 0
			u.mark(conn, markHealth, "")
			continue
		}
		if u.server().Transport == manager.Stdio && p.Busy() {
			continue
		}
		err := u.ping(ctx, p, t.Timeout)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			u.mark(conn, markHealth, "")
		case u.keeper.Doubt(conn, err):
			return
		default:
			if failures++; failures >= t.Failures {
				u.mark(conn, markHealth, fmt.Sprintf("it has left %d health checks in a row without an answer; the last: %s", failures, u.keeper.Reason(err)))
			}
		}
	}
}

func (u *upstream) ping(ctx context.Context, p pinger, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	if err := p.Ping(ctx); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}

// What a connected server may be marked for.
const (
	markLists = iota
	markHealth
	marksKinds
)

// marks are the reasons why a server is degraded that its breaker knows nothing of.
type marks struct {
	mu      sync.Mutex
	conn    Conn // that they are about
	reasons [marksKinds]string
}

// mark says why a connected server is not well; an empty reason takes that back.
func (u *upstream) mark(conn Conn, what int, reason string) {
	u.marks.mu.Lock()
	defer u.marks.mu.Unlock()
	if u.marks.conn != conn {
		u.marks.conn, u.marks.reasons = conn, [marksKinds]string{}
	}
	if u.marks.reasons[what] == reason {
		return
	}
	u.marks.reasons[what] = reason
	u.keeper.Mark(conn, cmp.Or(u.marks.reasons[:]...))
}

// moment is when something has happened last.
type moment struct {
	mu sync.Mutex
	at time.Time
}

func (m *moment) now() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = time.Now()
}

func (m *moment) since() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.at)
}
