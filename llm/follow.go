package llm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
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
	reading chan struct{} // filled while the lists are read
	set     atomic.Pointer[Set]

	mu        sync.Mutex
	pause     time.Duration // between two readings
	notBefore time.Time     // the next one
	timer     *time.Timer   // that waits for it
}

// Follow reads the tools of a source, and reads them again after news of a change. onChange is called when the definitions
// that the model gets are different then, never for a list that has only been read again; onError when they cannot be read,
// in which case the last set stays. Both may be nil. They are called one at a time, on goroutines of the source or of the
// Live, and may still be called by a reading that Close finds under way. Follow fails where [Tools] does.
//
// However fast the news comes, one reading is under way and one more waits, which sees the last change. News that turns out
// to be none makes the next reading wait, for a second at first and up to [ListFloor] when it goes on. Close ends it.
func Follow(ctx context.Context, source Source, o Options, onChange func(*Set), onError func(error)) (*Live, error) {
	l := &Live{source: source, opts: o, onChange: onChange, failed: onError, stop: func() {}, reading: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.reading <- struct{}{}
	defer func() { <-l.reading }()
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
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

// changed takes the news: the lists are read at once, or when the pause is over.
func (l *Live) changed() {
	if l.pending.Swap(true) {
		return // the one that waits will see it
	}
	if wait := l.wait(); wait <= 0 {
		l.read()
	}
}

// wait sets the timer where there is a pause, and tells how long that is.
func (l *Live) wait() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait := time.Until(l.notBefore)
	switch {
	case wait < -ListFloor:
		l.pause = 0 // it has been quiet
	case wait > 0 && l.ctx.Err() == nil:
		l.timer = time.AfterFunc(wait, l.read) // Close stops it
	}
	return wait
}

// read reads the lists. Reading one may itself be what a server tells news of, so that the next reading waits longer each
// time that there was no change.
func (l *Live) read() {
	l.reading <- struct{}{}
	defer func() { <-l.reading }()
	l.pending.Store(false)
	if l.ctx.Err() != nil {
		return
	}
	set, err := Tools(l.ctx, l.source, l.opts)
	fresh := err == nil && set.Digest() != l.set.Load().Digest()
	l.rest(fresh)
	switch {
	case l.ctx.Err() != nil:
	case err != nil && l.failed != nil:
		l.failed(err)
	case fresh:
		l.set.Store(set)
		if l.onChange != nil {
			l.onChange(set)
		}
	}
}

func (l *Live) rest(fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pause = min(max(2*l.pause, time.Second), ListFloor); fresh {
		l.pause = 0
	}
	l.notBefore = time.Now().Add(l.pause)
}
