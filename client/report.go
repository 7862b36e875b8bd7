package client

import "sync"

// reporter hands faults to a hook in order, on a goroutine of its own: those who find them are the readers of wires and
// what Close waits for, and the hook may be the one that calls Close.
type reporter struct {
	hook func(error)

	mu    sync.Mutex
	queue []error
	busy  bool
}

// mostReports bounds the faults that wait for a slow hook; what comes beyond is dropped.
const mostReports = 1000

func (r *reporter) report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) >= mostReports {
		return
	}
	r.queue = append(r.queue, err)
	if !r.busy {
		r.busy = true
		go r.drain() // ends when the queue is empty; nobody waits for it
	}
}

func (r *reporter) drain() {
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.busy = false
			r.mu.Unlock()
			return
		}
		err := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		r.mu.Unlock()
		r.hook(err)
	}
}
