package engine

import (
	"sync/atomic"
	"time"
)

// Pacer is a Handler that knows how long requests of a kind take.
type Pacer interface {
	// Pace returns the record of requests like this one, or nil when nothing is known and they must be taken for slow.
	Pace(in *Incoming) *Pace
}

// Pace is what experience says of one kind of request. A slow run weighs four times a fast one, and it takes three in a
// row to be held for slow, so that one pause of the garbage collector marks nothing for good. The zero Pace is fast.
type Pace struct{ score atomic.Int32 }

const (
	slowRun   = time.Millisecond // what runs longer is slow
	slowScore = 12
	mostScore = 64 // so that a reformed handler is found out within as many runs
)

// Slow returns a Pace that begins as slow, for handlers nothing is known of.
func Slow() *Pace {
	p := &Pace{}
	p.score.Store(slowScore)
	return p
}

func (p *Pace) slow() bool { return p.score.Load() >= slowScore }

// note takes down a run that began at start. Counts of concurrent runs may be lost, which does no harm.
func (p *Pace) note(start time.Time) {
	score := p.score.Load()
	if time.Since(start) >= slowRun {
		score = min(score+4, mostScore)
	} else if score > 0 {
		score--
	} else {
		return
	}
	p.score.Store(score)
}
