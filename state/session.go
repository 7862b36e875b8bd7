package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// Session is the record of one legacy session: all that another replica needs to go on with it. It is a plain value that
// survives encoding/json unchanged.
//
// What a store returns may share memory with the store. A field may be replaced, but what a slice holds must not be
// written to; [Session.Clone] makes a copy that may.
type Session struct {
	// ID names the session, on the wire too. Whoever creates it makes it from at least 128 random bits.
	ID string `json:"id"`

	// Version counts the changes, from 1 on. The store sets it; Update compares it.
	Version uint64 `json:"version"`

	// Revision is the protocol revision that the handshake settled.
	Revision string `json:"revision"`

	// ClientInfo and Capabilities are the members of the initialize request, as received.
	ClientInfo   json.RawMessage `json:"clientInfo,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`

	// Ready says that the handshake is complete, so that unsolicited messages may go out.
	Ready bool `json:"ready,omitempty"`

	// Principal is the key of who opened the session ([mcp.Principal.Key]), "" for anybody. The store does not judge it:
	// who looks a session up compares, and treats one of somebody else as unknown.
	Principal string `json:"principal,omitempty"`

	// LogLevel is the least level of the log messages the client wants; "" when it has set none.
	LogLevel mcp.Level `json:"logLevel,omitempty"`

	// Subscriptions are the URIs of the resources whose updates the client wants.
	Subscriptions []string `json:"subscriptions,omitempty"`

	// Owner names the replica that holds what cannot be stored (a stream, a running call); "" when there is none.
	Owner string `json:"owner,omitempty"`

	// Stream names the stream, in the log, that what belongs to no call goes to: the one the client opened last; "" when
	// it has opened none.
	Stream string `json:"stream,omitempty"`

	// Created and Used are times of the store, which sets them: when the record was made, and when it was last created,
	// updated or touched.
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
}

// Clone returns a copy that shares nothing with s.
func (s Session) Clone() Session {
	s.ClientInfo = bytes.Clone(s.ClientInfo)
	s.Capabilities = bytes.Clone(s.Capabilities)
	s.Subscriptions = slices.Clone(s.Subscriptions)
	return s
}

// SessionStore keeps the records of sessions. Its methods may be called concurrently, on every replica.
//
// Each method sees what any method that returned before it did, on whichever replica. A session that was not created,
// updated or touched for the idle limit of the store has ended: from then on it is as unknown as one that never was, and
// nobody has to do anything for that. While a call runs or a stream is open, somebody has to touch the session.
type SessionStore interface {
	// Create adds a record and returns it as it is stored, with Version 1. It fails with [ErrExists] when the id is
	// taken, [ErrFull] when there are as many sessions as may be, [ErrTooLarge] and [ErrInvalid].
	Create(ctx context.Context, s Session) (Session, error)

	// Get returns a record. It is no use of the session: whoever serves a request for it calls Touch. It fails with
	// [ErrNotFound].
	Get(ctx context.Context, id string) (Session, error)

	// Update replaces a record whose Version is still that of s, and returns it as it is stored, with the next Version.
	// ID and Created stay. It fails with [ErrConflict] when the record was updated since s was read, [ErrNotFound] when
	// it has ended, [ErrTooLarge], and [ErrFull] when it has grown and there is no place; then nothing has changed. Of several updates with one Version one succeeds.
	// After another error the caller reads the record again to learn whether it was done. See [Change].
	Update(ctx context.Context, s Session) (Session, error)

	// Touch notes a use and leaves Version as it is, so that it never gets in the way of an update. It fails with
	// [ErrNotFound]. Callers may save touches: one in each tenth of the idle limit is enough.
	Touch(ctx context.Context, id string) error

	// Delete ends a session. It fails with [ErrNotFound] when there is none: of several deletes of one session one
	// succeeds.
	Delete(ctx context.Context, id string) error
}

// attempts bounds how often Change tries. With n writers at once each round lets one through.
const attempts = 64

// Change reads a record, lets edit change it (its slices, too) and updates it; when somebody else came first it begins
// again, so edit may be called several times. It returns the stored record. An error of edit ends it and is returned as
// it is. It fails with [ErrConflict] when the record would not hold still.
func Change(ctx context.Context, store SessionStore, id string, edit func(*Session) error) (Session, error) {
	for range attempts {
		s, err := store.Get(ctx, id)
		if err != nil {
			return Session{}, err
		}
		s = s.Clone()
		if err := edit(&s); err != nil {
			return Session{}, err
		}
		s, err = store.Update(ctx, s)
		if !errors.Is(err, ErrConflict) {
			return s, err
		}
	}
	return Session{}, failed("change session", ErrConflict)
}

// SessionLimits bounds a store. The zero value has the defaults; a negative number lifts a limit.
type SessionLimits struct {
	// MaxSessions is how many sessions there may be. Zero means 100,000.
	MaxSessions int

	// Idle is how long a session lives without a use. Zero means 30 minutes.
	Idle time.Duration

	// MaxRecordBytes is how large one record may be, as what its strings and raw values hold, and 16 for
	// each subscription. Zero means 1 MiB.
	MaxRecordBytes int64

	// MaxTotalBytes is how large all records together may be, where that is memory of this process. Beyond it there is
	// no place for another session or a larger record ([ErrFull]). Zero means 512 MiB.
	MaxTotalBytes int64
}

func (l SessionLimits) withDefaults() SessionLimits {
	l.MaxSessions = bound(l.MaxSessions, 100_000)
	l.MaxRecordBytes = bound(l.MaxRecordBytes, 1<<20)
	l.MaxTotalBytes = bound(l.MaxTotalBytes, 512<<20)
	if l.Idle == 0 {
		l.Idle = 30 * time.Minute
	}
	return l
}

// size is what counts against MaxRecordBytes.
func (s *Session) size() int64 {
	n := len(s.ID) + len(s.Revision) + len(s.ClientInfo) + len(s.Capabilities) + len(s.Principal) + len(s.LogLevel) +
		len(s.Owner) + len(s.Stream)
	const perString = 16 // its place in the slice
	for _, uri := range s.Subscriptions {
		n += perString + len(uri)
	}
	return int64(n)
}
