package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Retry says when a call that has failed on the way may be repeated.
type Retry uint8

// The ways to repeat.
const (
	RetrySafe   Retry = iota // where it was certainly not begun, or is known to do no harm; see [Manager.Call]
	RetryNever               // not at all
	RetryAlways              // also where the server may have done it already: the caller knows that this does no harm
)

// UnknownOutcomeError is a call whose answer was lost, so that nobody can tell whether the server has done it.
type UnknownOutcomeError struct {
	Server string
	What   string // that was asked for
	Reason string // of the loss; secrets of the configuration are masked
	Tries  int    // more than one where a repetition does no harm
	err    error
}

func (e *UnknownOutcomeError) Error() string {
	after := "so it was not repeated"
	if e.Tries > 1 {
		after = fmt.Sprintf("after %d tries", e.Tries)
	}
	return fmt.Sprintf("server %q: %s got no answer: %s; whether it was done is not known, %s", e.Server, e.What, e.Reason, after)
}

// Unwrap answers what failed.
func (e *UnknownOutcomeError) Unwrap() error { return e.err }

// The pauses before a call is repeated; they double, and are shortened by chance.
const (
	firstRepeat = 200 * time.Millisecond
	lastRepeat  = time.Second
)

// Attempt says what a call is and how it may be repeated.
type Attempt struct {
	What  string // that is asked for, as errors name it
	Retry Retry

	// Safe tells whether the call does no harm when it is done twice. It is asked when a connection was lost under the call.
	// Nil means no.
	Safe func() bool
}

func (a Attempt) safe() bool { return a.Retry == RetryAlways || a.Safe != nil && a.Safe() }

// Do makes a call: it waits for a server that is being connected, asks the breaker, and repeats f where that is safe, after a
// pause and on a new connection if need be. f should make one call and return its error. See [Manager.Call] for the errors.
func (k *Keeper[C]) Do(ctx context.Context, a Attempt, f func(ctx context.Context, conn C) error) error {
	if err := k.enter(); err != nil {
		return err
	}
	defer k.leave()
	conn, err := k.first(ctx)
	if err != nil {
		return err
	}
	var lost error // of the last try that the server may have done: no refusal of a later one makes it undone
	for try := 1; ; try++ {
		err := k.once(ctx, conn, f)
		if err == nil || ctx.Err() != nil {
			return ofCaller(ctx, err)
		}
		fate := fateOf(err)
		if fate == fateLost {
			lost = err
		}
		again := fate == fateUntaken || fate == fateLost && !errors.Is(err, mcp.CodeRequestTimeout) && a.safe()
		if again && try <= k.handling.Load().Retries && a.Retry != RetryNever {
			next, failed := k.again(ctx, try)
			if failed == nil {
				conn = next
				continue
			}
			err = fmt.Errorf("%w (before: %w)", failed, err)
		}
		if lost != nil && fate != fateAnswered {
			return k.unknown(a, try, lost)
		}
		return err
	}
}

// fate is what a failed try says of the call itself.
type fate uint8

const (
	fateAnswered fate = iota // the server has answered, or could not be asked for a reason that stays
	fateRefused              // it was not sent, or not let in, and would not be if it were sent again
	fateUntaken              // the server has certainly not begun it
	fateLost                 // nobody knows
)

func fateOf(err error) fate {
	var open *OpenError
	switch {
	case errors.As(err, &open), errors.Is(err, client.ErrUnauthorized):
		return fateRefused
	case NotTaken(err):
		return fateUntaken
	case isUnhealthy(err):
		return fateLost
	}
	return fateAnswered
}

// errRetired is the answer to a call that comes after Retire.
var errRetired = errors.New("was taken out of the configuration")

// enter counts a call among those under way; it fails with errRetired when the server takes none any more.
func (k *Keeper[C]) enter() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.retired {
		return fmt.Errorf("%w: %q %w (%w)", ErrUnknownServer, k.entry.Name, errRetired, ErrNotRun)
	}
	k.calls++
	return nil
}

func (k *Keeper[C]) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.calls--; k.calls == 0 && k.retired {
		close(k.idle)
	}
}

// first gives the connection for a call, waiting for it where one is being made.
func (k *Keeper[C]) first(ctx context.Context) (C, error) {
	select {
	case <-k.tried:
	case <-ctx.Done():
		var none C
		return none, context.Cause(ctx)
	}
	if conn, err := k.Conn(); err == nil {
		return conn, nil
	}
	var none C
	return k.Next(ctx, none)
}

// ofCaller gives the error of a context its cause.
func ofCaller(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return context.Cause(ctx)
	}
	return err
}

func (k *Keeper[C]) unknown(a Attempt, tries int, err error) error {
	return &UnknownOutcomeError{Server: k.entry.Name, What: a.What, Reason: k.Reason(err), Tries: tries, err: err}
}

// once makes one call behind the breaker.
func (k *Keeper[C]) once(ctx context.Context, conn C, f func(context.Context, C) error) error {
	if ctx.Err() != nil { // nothing is sent, so this says nothing of the server
		return context.Cause(ctx)
	}
	done, err := k.breaker.Allow()
	if err != nil {
		return fmt.Errorf("server %q: %w", k.entry.Name, err)
	}
	outcome := Unknown
	defer func() { done(outcome) }() // also when f panics
	err = f(ctx, conn)
	outcome = weigh(ctx, err)
	if outcome == Unhealthy && errors.Is(err, mcp.CodeConnectionClosed) && k.gaveUp(conn) {
		outcome = Unknown // it was cut on this side; the call that had found the connection of no use has said what there is to say
	}
	if outcome == Unhealthy {
		k.mu.Lock()
		k.last = k.Reason(err)
		k.mu.Unlock()
	}
	if err != nil {
		k.Doubt(conn, err)
	}
	return err
}

// gaveUp tells whether a connection was closed on this side since a call had found it to be of no use.
func (k *Keeper[C]) gaveUp(conn C) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dropped == any(conn)
}

// again waits for a connection to repeat a call on. It is another one, unless the old one is still good. The pause comes
// last, and by chance: calls that were lost together do not come back together.
func (k *Keeper[C]) again(ctx context.Context, try int) (C, error) {
	var none C
	wait := k.handling.Load().RetryWait
	if wait < 0 {
		return none, &DownError{Server: k.entry.Name, State: Connecting, Reason: "calls do not wait for it to come back"}
	}
	late := &DownError{Server: k.entry.Name, State: Connecting, Reason: fmt.Sprintf("it has not come back within %s", wait)}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, late)
	defer cancel()
	if _, err := k.await(ctx); err != nil {
		return none, err
	}
	pause := time.NewTimer(client.Restart{First: firstRepeat, Longest: lastRepeat}.Pause(try))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-k.ctx.Done():
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	return k.await(ctx)
}

// await waits for a connection, also across failed attempts.
func (k *Keeper[C]) await(ctx context.Context) (C, error) {
	var none C
	for {
		k.mu.Lock()
		conn, live, state, coming, moved, down := k.conn, k.live(), k.state, k.coming(), k.moved, k.down()
		k.mu.Unlock()
		switch {
		case live:
			return conn, nil
		case !coming && (state.Retry == 0 || state.State == NeedsAuthorization):
			return none, down
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return none, context.Cause(ctx)
		case <-k.ctx.Done():
			return none, k.closing()
		}
	}
}

// weigh says what a call tells of the health of its server. A tool that fails is no failure of the server, and neither is a
// caller that gives up; one that sets a time limit and gets no answer within it is.
func weigh(ctx context.Context, err error) Outcome {
	switch {
	case err == nil:
		return Answered
	case errors.Is(ctx.Err(), context.Canceled):
		return Unknown
	case ctx.Err() != nil, isUnhealthy(err):
		return Unhealthy
	}
	var fault *mcp.Error
	var status *transport.StatusError
	if errors.As(err, &fault) && fault.Remote || errors.As(err, &status) || errors.Is(err, client.ErrUnauthorized) || errors.Is(err, mcp.CodeInvalidResult) {
		return Answered
	}
	return Unknown
}

// isUnhealthy tells whether a call failed on the way: no answer in time, none at all, or rubbish in its place. An answer that
// is only too large is one.
func isUnhealthy(err error) bool {
	var fault *mcp.Error
	var status *transport.StatusError
	var frame *transport.FrameError
	var network net.Error
	switch {
	case errors.As(err, &fault) && fault.Remote:
		return false
	case errors.As(err, &status):
		return status.Status >= http.StatusInternalServerError || status.Status == http.StatusTooManyRequests
	case errors.As(err, &frame):
		return frame.Limit == 0
	case errors.Is(err, mcp.CodeRequestTimeout), errors.Is(err, mcp.CodeConnectionClosed), errors.Is(err, mcp.CodeNotConnected):
		return true
	}
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
