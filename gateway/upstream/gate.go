package upstream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// FlowTuning says how many calls of clients go to a server at once, over all connections to it. The gateway's own requests do
// not count, nor do cancellations of tasks and answers to their questions.
type FlowTuning struct {
	InFlight int           // at once. Zero means any number
	Queue    int           // more that wait for their turn. Zero means 100, negative none
	Wait     time.Duration // that one waits at most. Zero means 30 s
}

func (t FlowTuning) withDefaults() FlowTuning {
	t.Queue = max(cmp.Or(t.Queue, 100), 0)
	t.Wait = cmp.Or(t.Wait, 30*time.Second)
	return t
}

// gate lets so many calls at once through to one server. The others wait, each caller in a line of its own, and the lines take
// turns: a caller with a hundred calls holds up another by one of them. When there is no room to wait for one more call, it
// takes the place of the newest of the caller with the longest line, if that is longer than its own.
//
// A call holds its place until it has ended at the server, also while it waits there for an answer of its client: the server
// is at work on it. It needs no other place to go on, so that a server which takes one call at a time cannot be stuck. A call
// whose questions come as its result has ended with them, and its retry is another one. What ends a task, or answers its questions,
// passes by: see [Call.frees].
type gate struct {
	server string

	mu      sync.Mutex
	tuning  FlowTuning
	inside  int
	waiting int
	lines   []*queue // that are not empty, in the order of their turns
}

// queue holds the calls of one caller that wait, the oldest first.
type queue struct {
	who   string
	calls []*turnstile
}

// turnstile is one call that waits.
type turnstile struct{ let chan error } // of one place: nil to go on

func newGate(server string, t FlowTuning) *gate {
	return &gate{server: server, tuning: t.withDefaults()}
}

// tune takes up a tuning. Calls inside stay; those that wait go on when there is room now.
func (g *gate) tune(t FlowTuning) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tuning = t.withDefaults()
	g.admit()
}

// room tells whether one more call may go in. g.mu is held.
func (g *gate) room() bool { return g.tuning.InFlight <= 0 || g.inside < g.tuning.InFlight }

// enter waits for the turn of a call. leave must be called when it has ended. It fails with *FullError where there is no room
// to wait, or none within the time.
func (g *gate) enter(ctx context.Context, who *Caller) error {
	g.mu.Lock()
	if g.room() && g.waiting == 0 {
		g.inside++
		g.mu.Unlock()
		return nil
	}
	t := g.tuning
	stile, err := g.queue(whoIs(who))
	g.mu.Unlock()
	if err != nil {
		return err
	}
	timer := time.NewTimer(t.Wait)
	defer timer.Stop()
	select {
	case err = <-stile.let:
	case <-ctx.Done():
		err = g.giveUp(stile, context.Cause(ctx))
	case <-timer.C:
		err = g.giveUp(stile, &FullError{g.server, fmt.Sprintf("its calls are limited to %d at once, and this one has waited %s for its turn", t.InFlight, t.Wait)})
	}
	return err
}

// queue puts a call at the end of the line of its caller. g.mu is held.
func (g *gate) queue(who string) (*turnstile, error) {
	at := slices.IndexFunc(g.lines, func(q *queue) bool { return q.who == who })
	if g.waiting >= g.tuning.Queue && !g.makeRoom(at) {
		return nil, g.full()
	}
	if at < 0 {
		at = len(g.lines)
		g.lines = append(g.lines, &queue{who: who})
	}
	stile := &turnstile{make(chan error, 1)}
	g.lines[at].calls = append(g.lines[at].calls, stile)
	g.waiting++
	return stile, nil
}

func (g *gate) full() error {
	if g.tuning.Queue == 0 {
		return &FullError{g.server, fmt.Sprintf("its calls are limited to %d at once", g.tuning.InFlight)}
	}
	return &FullError{g.server, fmt.Sprintf("its calls are limited to %d at once, and %d more wait already", g.tuning.InFlight, g.waiting)}
}

// makeRoom sends the newest call away of the caller with the longest line, unless the line at a place is as long with one more.
// g.mu is held.
func (g *gate) makeRoom(at int) bool {
	ours := 1
	if at >= 0 {
		ours += len(g.lines[at].calls)
	}
	var longest *queue
	for _, q := range g.lines {
		if longest == nil || len(q.calls) > len(longest.calls) {
			longest = q
		}
	}
	if longest == nil || len(longest.calls) <= ours {
		return false
	}
	last := len(longest.calls) - 1 // not the only one: it is longer than ours
	longest.calls[last].let <- g.full()
	longest.calls = longest.calls[:last]
	g.waiting--
	return true
}

// giveUp takes a call out that waits no longer. One that has been let in at the same moment gives its place on.
func (g *gate) giveUp(stile *turnstile, why error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, q := range g.lines {
		if at := slices.Index(q.calls, stile); at >= 0 {
			q.calls = slices.Delete(q.calls, at, at+1)
			g.waiting--
			if len(q.calls) == 0 {
				g.lines = slices.Delete(g.lines, i, i+1)
			}
			return why
		}
	}
	if err := <-stile.let; err != nil { // it was sent away
		return err
	}
	g.inside--
	g.admit()
	return why
}

// leave ends a call.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.admit()
}

// admit lets calls in, of one line after the other, while there is room. g.mu is held.
func (g *gate) admit() {
	for g.waiting > 0 && g.room() {
		q := g.lines[0]
		g.lines = g.lines[1:]
		q.calls[0].let <- nil
		q.calls = q.calls[1:]
		if len(q.calls) > 0 {
			g.lines = append(g.lines, q)
		}
		g.waiting--
		g.inside++
	}
}
