package llm

import (
	"context"
	"sync"
	"sync/atomic"
)

// Live is a set that follows the lists of its servers.
type Live struct {
	source   Source
	opts     Options
	onChange func(*Set)
	failed   func(error)

	ctx     context.Context
	cancel  context.CancelFunc
	stop    func()
	pending atomic.Bool
	mu      sync.Mutex // held while the lists are read
	set     atomic.Pointer[Set]
}

// Follow reads the tools of a source, and reads them again after news of a change. onChange is called when the definitions
// that the model gets are different then, never for a list that has only been read again; onError when they cannot be read,
// in which case the last set stays. Both may be nil. They are called on goroutines of the source, one at a time.
//
// However fast the news comes, one reading is under way and one more waits, which sees the last change. Close ends it.
func Follow(ctx context.Context, source Source, o Options, onChange func(*Set), onError func(error)) (*Live, error) {
	l := &Live{source: source, opts: o, onChange: onChange, failed: onError, stop: func() {}}
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := source.(Notifier); ok {
		l.stop = n.OnToolsChange(l.changed) // before the first reading, so that no change falls between
	}
	set, err := Tools(ctx, source, o)
	if err != nil {
		l.Close()
		return nil, err
	}
	l.set.Store(set)
	return l, nil
}

// Set is the set as of now. One conversation with a model should keep to one.
func (l *Live) Set() *Set { return l.set.Load() }

// Close ends following; the last set stays usable. It may be called twice.
func (l *Live) Close() {
	l.cancel()
	l.stop()
}

func (l *Live) changed() {
	if l.pending.Swap(true) {
		return // the one that waits will see it
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending.Store(false)
	set, err := Tools(l.ctx, l.source, l.opts)
	switch {
	case l.ctx.Err() != nil:
	case err != nil && l.failed != nil:
		l.failed(err)
	case err == nil && set.Digest() != l.set.Load().Digest():
		l.set.Store(set)
		if l.onChange != nil {
			l.onChange(set)
		}
	}
}
