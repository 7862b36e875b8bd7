package state

import (
	"context"
	"time"
)

// follower reads a stream of a MemoryLog as it grows.
type follower struct {
	m               *MemoryLog
	ctx             context.Context // of the one Follow that this is
	session, stream string
	log             *sessionLog // nil until it begins, where it began with no id
	next            uint64      // number of the first event it has not looked at; 0 takes what there is
}

const following = "follow events"

// from lets it begin after an event.
func (f *follower) from(after string) error {
	l, number, err := f.m.find(f.ctx, f.session, after)
	if err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	if l.streamOf(number) != f.stream {
		return ErrNotFound
	}
	f.log, f.next = l, number+1
	return nil
}

// all is the iterator: events until an error, which comes last.
func (f *follower) all(yield func(Event, error) bool) {
	if err := f.join(); err != nil {
		yield(Event{}, failed(following, err))
		return
	}
	defer f.leave()
	for {
		batch, more, err := f.look()
		for _, e := range batch {
			if f.ctx.Err() != nil {
				break
			}
			if !yield(e, nil) {
				return
			}
		}
		if err == nil && len(batch) == 0 {
			select {
			case <-more:
			case <-f.ctx.Done():
			}
		}
		if f.ctx.Err() != nil {
			err = context.Cause(f.ctx)
		}
		if err != nil {
			yield(Event{}, failed(following, err))
			return
		}
	}
}

// join makes the log stay for this reader, and begins one where it waits for the first event.
func (f *follower) join() error {
	now, err := f.m.enter(f.ctx)
	if err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	if f.log == nil {
		f.log = f.m.open(f.session, now)
	}
	if f.log.over != nil {
		return f.log.over
	}
	f.log.followers++
	f.m.relieve(now)
	return nil
}

// leave lets the log go. One in which nothing was ever stored was there for its readers alone.
func (f *follower) leave() {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	l := f.log
	l.followers--
	if l.over != nil {
		return
	}
	e := f.m.byID[l.session]
	f.m.use(e, time.Now())
	if l.followers == 0 && l.next() == 1 {
		f.m.remove(e, ErrNotFound)
	}
}

// look returns what is new in the stream, or else what to wait for.
func (f *follower) look() (batch []Event, more <-chan struct{}, err error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	l := f.log
	switch {
	case l.over != nil:
		return nil, nil, l.over
	case f.next == 0:
		f.next = l.first
	case f.next < l.first:
		return nil, nil, ErrGone
	}
	batch = l.later(f.stream, f.next)
	f.next = l.next()
	if len(batch) > 0 {
		return batch, nil, nil
	}
	return nil, l.wait(), nil
}
