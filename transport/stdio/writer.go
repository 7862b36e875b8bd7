package stdio

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

const (
	maxGathered = 256 << 10 // bytes that may wait while a write is under way; a single larger frame passes
	keepBytes   = 64 << 10  // a buffer above this is not kept, nor is more held back
	maxHeld     = time.Millisecond
)

// errUntaken is what Close returns when the peer did not take everything in time.
var errUntaken = errors.New("the peer did not read all that was written to it")

// frameWriter gathers frames in one buffer. Whoever finds no write under way writes all that has gathered, so frames of
// many writers leave in one system call and no goroutine is kept for it. Answers may also be held back while further
// requests have arrived: then nobody writes, and the next frame takes them along. A write that its context interrupts is
// finished by a goroutine, since a torn line would spoil the stream for everybody; close waits for it.
type frameWriter struct {
	out sink

	mu      sync.Mutex
	waiting []byte        // frames nobody writes yet
	spare   []byte        // the buffer written last, for reuse
	active  bool          // somebody writes, and will write what is waiting
	more    bool          // a further frame can be read without waiting
	since   time.Time     // when the first of the frames that are held back came
	closed  bool          // no further frame is taken
	err     error         // the first failure; the stream is broken after it
	changed chan struct{} // closed at the next change of the above; nil while nobody waits
}

// write takes one frame. It returns when the frame has been written, is held back where that is allowed, or waits behind
// a write under way; a failure of that write is then the answer to a later call.
func (w *frameWriter) write(ctx context.Context, frame []byte, mayHold bool) error {
	w.mu.Lock()
	if err := w.awaitRoom(ctx, len(frame)+1); err != nil {
		w.mu.Unlock()
		return err
	}
	before := len(w.waiting)
	w.waiting = transport.AppendFrame(w.waiting, frame)
	if len(w.waiting) == before {
		w.mu.Unlock()
		return transport.ErrEmptyFrame
	}
	w.waiting = append(w.waiting, '\n')
	if w.active || (mayHold && w.hold(before == 0)) {
		w.mu.Unlock()
		return nil
	}
	w.active = true
	w.mu.Unlock()
	return w.start(ctx)
}

// hold tells whether the frame that has just been taken may wait for the answers to further ones; w.mu is held.
func (w *frameWriter) hold(first bool) bool {
	if !w.more || len(w.waiting) > keepBytes {
		return false
	}
	now := time.Now()
	if first {
		w.since = now
	}
	return now.Sub(w.since) < maxHeld
}

// expect says whether a further frame can be read without waiting.
func (w *frameWriter) expect(more bool) {
	w.mu.Lock()
	w.more = more
	w.mu.Unlock()
}

// due tells whether frames are held back for no reason any more.
func (w *frameWriter) due() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.more && !w.active && len(w.waiting) > 0
}

// flush writes what is held back.
func (w *frameWriter) flush(ctx context.Context) error {
	if !w.activate() {
		return nil
	}
	return w.start(ctx)
}

// activate sets active, if something waits that nobody writes.
func (w *frameWriter) activate() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active || len(w.waiting) == 0 {
		return false
	}
	w.active = true
	return true
}

// start writes until nothing waits, or lets that be done aside where a write cannot be interrupted. It is called by whoever
// has set active.
func (w *frameWriter) start(ctx context.Context) error {
	if !w.out.interruptible() {
		go func() { _ = w.run(context.Background()) }() // ends when nothing waits; a failure is kept for the next write
		return nil
	}
	return w.run(ctx)
}

// awaitRoom waits, with the mutex held between the waits, until size more bytes may gather.
func (w *frameWriter) awaitRoom(ctx context.Context, size int) error {
	for {
		switch {
		case w.closed:
			return transport.ErrClosed
		case w.err != nil:
			return w.err
		case ctx.Err() != nil:
			return ctx.Err()
		case !w.active || len(w.waiting) == 0 || len(w.waiting)+size <= maxGathered: // without a write under way this frame begins one
			return nil
		}
		change := w.nextChange()
		w.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
		}
		w.mu.Lock()
	}
}

// run writes until nothing waits. It fails with what has become of the first batch, in which the caller's own frame is: what
// goes wrong after it has left is for a later write.
func (w *frameWriter) run(ctx context.Context) (own error) {
	for first := true; ; first = false {
		batch, broken := w.takeBatch()
		switch {
		case batch == nil && first:
			return broken
		case batch == nil:
			return own
		}
		n, err := w.out.write(ctx, batch)
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			w.putBack(batch[n:])
			go func() { _ = w.run(context.Background()) }() // as in start
			if first {
				own = err
			}
			return own
		}
		if err = w.wrote(batch, err); first {
			own = err
		}
	}
}

// takeBatch takes all that waits, or ends the writing.
func (w *frameWriter) takeBatch() ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.signal()
	if w.err != nil || len(w.waiting) == 0 {
		w.active = false
		return nil, w.err
	}
	batch := w.waiting
	w.waiting, w.spare = w.spare[:0], nil
	return batch, nil
}

// putBack puts the unwritten rest of a batch before what has gathered since.
func (w *frameWriter) putBack(rest []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(rest, w.waiting...)
}

// wrote ends the writing of a batch. A failure is told as the first of the stream, which says more.
func (w *frameWriter) wrote(batch []byte, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	if cap(batch) <= keepBytes {
		w.spare = batch[:0]
	}
	if err != nil {
		err = w.err
	}
	return err
}

// fail breaks the stream from outside: the peer is gone. Writes under way and later ones end with err.
func (w *frameWriter) fail(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.signal()
	w.mu.Unlock()
	w.out.interrupt()
}

// close takes no more frames and waits up to grace for what was taken to leave; then it breaks the write off, and
// waits for the writer as long again at most.
func (w *frameWriter) close(grace time.Duration) error {
	w.mu.Lock()
	w.closed = true
	w.signal()
	w.mu.Unlock()
	if w.activate() {
		go func() { _ = w.run(context.Background()) }() // waited for below
	}
	if w.awaitIdle(grace) {
		return nil
	}
	w.fail(transport.ErrClosed)
	w.awaitIdle(grace)
	return errUntaken
}

// awaitIdle reports whether the writing ended within limit.
func (w *frameWriter) awaitIdle(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		w.mu.Lock()
		if !w.active {
			w.mu.Unlock()
			return true
		}
		change := w.nextChange()
		w.mu.Unlock()
		select {
		case <-change:
		case <-timer.C:
			return false
		}
	}
}

// nextChange and signal are called with the mutex held.
func (w *frameWriter) nextChange() <-chan struct{} {
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.changed
}

func (w *frameWriter) signal() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
