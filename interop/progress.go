package interop

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// progressLog gathers the progress of one call. It is safe for concurrent use.
type progressLog struct {
	mu    sync.Mutex
	seen  []Progress
	grown chan struct{} // holds at most one token: something was added
}

func newProgressLog() *progressLog {
	return &progressLog{grown: make(chan struct{}, 1)}
}

func (l *progressLog) add(p Progress) {
	l.mu.Lock()
	l.seen = append(l.seen, p)
	l.mu.Unlock()
	select {
	case l.grown <- struct{}{}:
	default:
	}
}

// wait returns what has come once there are want of them, or when lateProgress is over.
func (l *progressLog) wait(ctx context.Context, want int) []Progress {
	late := time.NewTimer(lateProgress)
	defer late.Stop()
	for {
		l.mu.Lock()
		seen := slices.Clone(l.seen)
		l.mu.Unlock()
		if len(seen) >= want {
			return seen
		}
		select {
		case <-l.grown:
		case <-late.C:
			return seen
		case <-ctx.Done():
			return seen
		}
	}
}

// progressBook knows which progress token belongs to which call of a session. It is safe for concurrent use; the zero
// value is ready.
type progressBook struct {
	mu   sync.Mutex
	logs []*progressLog
}

// expect hands out a new progress token whose notifications go to log.
func (b *progressBook) expect(log *progressLog) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.logs = append(b.logs, log)
	return progressToken(len(b.logs))
}

// add puts a notification where its token says. One with a token never handed out is dropped, so the check misses it.
func (b *progressBook) add(token string, p Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, log := range b.logs {
		if progressToken(i+1) == token {
			log.add(p)
		}
	}
}

func progressToken(call int) string { return fmt.Sprintf("call-%d", call) }
