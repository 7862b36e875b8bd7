package engine

import (
	"context"
	"sync"
	"time"
)

// notices runs the notification handlers of one peer, one at a time and in order. A goroutine exists only while there
// is something to run.
type notices struct {
	start func(func()) bool // runs a function on a goroutine that the peer's Close waits for; false when it is closed

	mu     sync.Mutex
	queue  []notice
	bytes  int // of what is in queue
	busy   bool
	closed bool
	seq    uint64 // of the last notification put in
	done   uint64 // of the last one whose handler has returned
	wake   chan struct{}
}

// notice is a notification that waits for its handler.
type notice struct {
	run  func(context.Context)
	size int // in bytes, as it came
}

// What may wait for a slow handler. A peer that sends more loses the newest, and is told nothing: no notification is ever
// answered. One that is larger alone may wait where nothing else does.
const (
	mostNotices     = 10000
	mostNoticeBytes = 64 << 20
)

// inNotice marks the context of a notification handler.
type inNotice struct{}

// put queues the handler of a notification of so many bytes, and answers false when no more are taken.
func (q *notices) put(size int, run func(context.Context)) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.queue) >= mostNotices || len(q.queue) > 0 && q.bytes+size > mostNoticeBytes {
		return false
	}
	if !q.busy && !q.start(q.drain) {
		return false
	}
	q.busy = true
	q.queue = append(q.queue, notice{run, size})
	q.bytes += size
	q.seq++
	return true
}

func (q *notices) drain() {
	over := false
	defer func() {
		if !over { // a handler has ended the goroutine (runtime.Goexit); those behind it still have their turn
			q.resume()
		}
	}()
	ctx := context.WithValue(context.Background(), inNotice{}, q)
	for {
		run := q.next()
		if run == nil {
			over = true
			return
		}
		q.one(ctx, run)
	}
}

func (q *notices) next() func(context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		q.busy = false
		return nil
	}
	first := q.queue[0]
	q.queue[0] = notice{}
	q.queue = q.queue[1:]
	q.bytes -= first.size
	return first.run
}

func (q *notices) one(ctx context.Context, run func(context.Context)) {
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.done++
		q.stirred()
	}()
	run(ctx)
}

func (q *notices) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = q.start(q.drain)
}

// stirred wakes those who wait for handlers; q.mu is held.
func (q *notices) stirred() {
	if q.wake != nil {
		close(q.wake)
		q.wake = nil
	}
}

func (q *notices) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.done += uint64(len(q.queue))
	q.queue, q.bytes = nil, 0
	q.stirred()
}

// mark returns how many notifications have come so far.
func (q *notices) mark() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.seq
}

// patience bounds how long a notification handler that does not return can hold back the answer that came after its
// notification.
const patience = time.Second

// await returns when the handlers of all notifications up to mark have returned. A call made inside a handler does not
// wait for that handler.
func (q *notices) await(ctx context.Context, mark uint64) {
	if ctx.Value(inNotice{}) == q {
		return
	}
	var timeout <-chan time.Time
	for {
		q.mu.Lock()
		if q.done >= mark {
			q.mu.Unlock()
			return
		}
		if q.wake == nil {
			q.wake = make(chan struct{})
		}
		wake := q.wake
		q.mu.Unlock()
		if timeout == nil {
			timer := time.NewTimer(patience)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-wake:
		case <-timeout:
			return
		case <-ctx.Done():
			return
		}
	}
}
