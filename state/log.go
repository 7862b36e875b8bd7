package state

import (
	"context"
	"iter"
	"time"
)

// Event is one event of a stream, as a log keeps it.
type Event struct {
	// ID is what a client names to go on after this event: 1 to 128 bytes of visible ASCII, so it passes through an
	// event stream, a header and JSON unchanged. It is unique over all streams of its session, and over all time.
	ID string `json:"id"`

	// Data is what was appended. It may be empty (an event that only gives an id) and must not be written to.
	Data []byte `json:"data"`
}

// EventLog keeps the newest events of the streams of sessions, so that a stream that was cut goes on after the last event
// that came, on any replica. Its methods may be called concurrently, on every replica.
//
// A stream is a name that its session gives; it begins with its first event. Order: all events of a session stand in one
// order. An append that returned before another began stands before it; of appends at the same time either may come
// first, but all readers see the same order, and see an event only when they can see all that stand before it. An append
// that has returned is seen by every call that begins later. What the order is only the log can tell: ids are not to be
// compared.
//
// Bounds: of each session the log keeps the newest events up to a number and a size, over all its streams; the older go
// first. A log that was neither appended to nor read for its idle limit is dropped.
type EventLog interface {
	// Append stores an event and returns its id. data is copied. It fails with [ErrTooLarge] when the event alone is
	// larger than what is kept of a session, and [ErrInvalid]; then nothing was stored, nor dropped, and the event must
	// not be sent with an id of this log: who resumes would miss it. After another error it may be stored or not.
	Append(ctx context.Context, session, stream string, data []byte) (id string, err error)

	// Replay returns the stream that an event belongs to and the later events of that stream alone, oldest first, each
	// once, up to what is stored now. They may be ranged over once; an error comes last, ErrGone when they were dropped
	// meanwhile. It fails at once, before anything is written to a client, with [ErrNotFound] when the event is none of
	// this session's and [ErrGone] when it has been dropped, so that later ones may be missing.
	Replay(ctx context.Context, session, after string) (stream string, later iter.Seq2[Event, error], err error)

	// Follow returns the events of a stream later than after, and with "" all that are kept; then it waits for new ones.
	// There is no gap and nothing twice between what a Replay brought last and what a Follow after that brings. It fails
	// at once as Replay does, and with ErrNotFound when the event belongs to another stream; after "" needs no stream,
	// nor log, that exists already.
	//
	// They may be ranged over once, on the goroutine of who ranges. They do not end by themselves: the last pair has
	// the error, which is the cause of ctx, ErrNotFound when the log was dropped, or ErrGone when the reader was too slow
	// and events went that it had not seen. A log that is being followed is not idle.
	Follow(ctx context.Context, session, stream, after string) (iter.Seq2[Event, error], error)

	// Drop forgets the log of a session; its ids are unknown from then on, for ever. It is no error that there is none.
	Drop(ctx context.Context, session string) error
}

// LogLimits bounds a log. The zero value has the defaults; a negative number lifts a limit.
type LogLimits struct {
	// MaxEvents is how many events of a session are kept. Zero means 1,000.
	MaxEvents int

	// MaxBytes is how many bytes of a session are kept; an event counts as its data, the name of its stream and 128 for
	// the keeping. Zero means 4 MiB.
	MaxBytes int64

	// Idle is how long a log is kept without use. It is for sessions that end unseen; Drop is for the others. Zero means
	// 24 hours; less than the idle limit of the sessions would make streams of living ones forget where they were.
	Idle time.Duration

	// MaxSessions and MaxTotalBytes bound all logs together where they are memory of this process: beyond them the
	// events of the session that was appended to longest ago go, as when they had grown too old. Zero means 100,000 and
	// 256 MiB; MaxTotalBytes is never less than MaxBytes.
	MaxSessions   int
	MaxTotalBytes int64
}

func (l LogLimits) withDefaults() LogLimits {
	l.MaxEvents = bound(l.MaxEvents, 1000)
	l.MaxBytes = bound(l.MaxBytes, 4<<20)
	l.MaxSessions = bound(l.MaxSessions, 100_000)
	l.MaxTotalBytes = bound(l.MaxTotalBytes, 256<<20)
	if l.MaxTotalBytes >= 0 {
		l.MaxTotalBytes = max(l.MaxTotalBytes, l.MaxBytes+perLog)
	}
	if l.Idle == 0 {
		l.Idle = 24 * time.Hour
	}
	return l
}
