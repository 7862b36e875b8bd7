package state

import (
	"crypto/rand"
	"strconv"
	"strings"
)

// sessionLog is the log of one session in memory. Its events are numbered without gaps, over all streams, so that a number
// is found by counting and what is missing is known. It is guarded by the lock of its MemoryLog.
type sessionLog struct {
	session   string
	epoch     string // random, and part of each id: a log that was dropped and begun again knows none of its old ids
	first     uint64 // number of events[0]; numbers count from 1
	events    []logged
	bytes     int64
	followers int
	more      chan struct{} // closed by the next event or the end; nil while nobody waits
	over      error         // why it has ended
}

type logged struct {
	stream string
	data   []byte
}

const (
	perEvent = 128 // what an event costs beside its data
	perLog   = 512 // likewise, a log
)

func (e *logged) cost() int64 { return perEvent + int64(len(e.stream)+len(e.data)) }

func newSessionLog(session string) sessionLog {
	return sessionLog{session: session, epoch: strings.Clone(rand.Text()[:16]), first: 1}
}

// next is the number of the next event.
func (l *sessionLog) next() uint64 { return l.first + uint64(len(l.events)) }

func (l *sessionLog) add(e logged) {
	l.events = append(l.events, e)
	l.bytes += e.cost()
	l.wake()
}

// shift drops the oldest event.
func (l *sessionLog) shift() (freed int64) {
	freed = l.events[0].cost()
	l.events[0] = logged{} // the array behind it lives on
	l.events = l.events[1:]
	if len(l.events) == 0 {
		l.events = nil
	}
	l.first++
	l.bytes -= freed
	return freed
}

func (l *sessionLog) wake() {
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

// wait returns a channel that is closed when there is more to see.
func (l *sessionLog) wait() <-chan struct{} {
	if l.more == nil {
		l.more = make(chan struct{})
	}
	return l.more
}

func (l *sessionLog) id(number uint64) string {
	return l.epoch + "." + strconv.FormatUint(number, 36)
}

// number finds the number of an id. ErrNotFound: this log never gave it. ErrGone: it did.
func (l *sessionLog) number(id string) (uint64, error) {
	digits, ok := strings.CutPrefix(id, l.epoch+".")
	if !ok {
		return 0, ErrNotFound
	}
	n, err := strconv.ParseUint(digits, 36, 64)
	switch {
	case err != nil, n == 0, n >= l.next(), l.id(n) != id: // one id has one spelling
		return 0, ErrNotFound
	case n < l.first:
		return 0, ErrGone
	}
	return n, nil
}

func (l *sessionLog) streamOf(number uint64) string { return l.events[number-l.first].stream }

// later returns the events of a stream from a number on.
func (l *sessionLog) later(stream string, from uint64) []Event {
	var found []Event
	for n := max(from, l.first); n < l.next(); n++ {
		if e := &l.events[n-l.first]; e.stream == stream {
			found = append(found, Event{ID: l.id(n), Data: e.data})
		}
	}
	return found
}
