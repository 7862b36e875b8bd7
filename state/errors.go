package state

import (
	"context"
	"errors"
	"fmt"
)

// What callers branch on. Errors are wrapped with the operation that failed: compare with [errors.Is].
var (
	// ErrNotFound says that there is no such session, event or log: it never was, has ended, or was left alone too long.
	// Which of these it is cannot be told, so that an id that was guessed tells nothing.
	ErrNotFound = errors.New("not found")

	// ErrExists says that there is a session with this id already.
	ErrExists = errors.New("exists already")

	// ErrConflict says that a record was changed since it was read: read it again.
	ErrConflict = errors.New("was changed by somebody else meanwhile")

	// ErrFull says that as many are kept as may be: try again later.
	ErrFull = errors.New("the limit is reached")

	// ErrGone says that the log no longer has what was asked for, since the older events go first.
	ErrGone = errors.New("dropped to make room for newer ones")

	// ErrTooLarge says that a record, event or message is larger than may be kept at all.
	ErrTooLarge = errors.New("too large")

	// ErrInvalid says that an id, a stream or a topic is not 1 to 512 bytes of visible ASCII.
	ErrInvalid = errors.New("must be 1 to 512 characters of visible ASCII")

	// ErrClosed says that the store, log, bus or subscription was closed.
	ErrClosed = errors.New("closed")

	// ErrNobody says that nobody answers to a topic.
	ErrNobody = errors.New("nobody listens")
)

// failed names the operation of an error. Its format is the same for every cause.
func failed(operation string, err error) error { return fmt.Errorf("%s: %w", operation, err) }

const longestName = 512

// validName tells whether a name may be used for an id, a stream or a topic.
func validName(name string) bool {
	if name == "" || len(name) > longestName {
		return false
	}
	for i := range len(name) {
		if name[i] < '!' || name[i] > '~' {
			return false
		}
	}
	return true
}

// ended returns the cause of a context that has ended.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// bound reads a limit: zero is the default, negative is none.
func bound[N int | int64](given, normal N) N {
	switch {
	case given == 0:
		return normal
	case given < 0:
		return -1
	}
	return given
}

// over tells whether a number is beyond a limit that bound has read.
func over[N int | int64](n, limit N) bool { return limit >= 0 && n > limit }
