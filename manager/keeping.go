package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// run keeps the server connected until the keeper is closed.
func (k *Keeper[C]) run() {
	failures := 0
	for k.ctx.Err() == nil {
		begun := time.Now()
		conn, version, err := k.open()
		at := time.Now()
		if err == nil && k.ctx.Err() != nil { // it has come too late to be of use to anybody
			k.close(conn)
			return
		}
		if err == nil {
			err = k.serve(conn, Status{State: Ready, Version: version, Took: at.Sub(begun)})
			if k.ctx.Err() != nil {
				return
			}
			if time.Since(at) >= k.handling.Load().Policy.Stable {
				failures = 0
			}
			if NotTaken(err) && !isDial(err) && time.Since(at) > k.handling.Load().Policy.First { // a forgotten session is no failure of the server
				k.set(Status{State: Connecting, Reason: k.Reason(err)}, false)
				continue
			}
		}
		if k.ctx.Err() != nil || !k.rest(err, failures) {
			return
		}
		failures++
	}
}

// open makes a connection. A panic of what the caller has brought along is the failure of this server, and of no other.
func (k *Keeper[C]) open() (conn C, version string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("connecting panicked: %v", p)
			k.opts.Logger.Error(k.Reason(err), slog.String("server", k.entry.Name), slog.String("stack", string(debug.Stack())))
		}
	}()
	return k.opts.Open(k.ctx)
}

// close ends a connection that is of no use any more.
func (k *Keeper[C]) close(conn C) {
	if err := conn.Close(); err != nil && k.ctx.Err() == nil {
		k.opts.Logger.Info("closing a lost connection: "+k.Reason(err), slog.String("server", k.entry.Name))
	}
}

// serve takes up a connection and says why it has ended.
func (k *Keeper[C]) serve(conn C, status Status) error {
	if k.opts.Up != nil {
		k.opts.Up(conn)
	}
	k.breaker.Reset() // what is behind the connection is another server now, or the same in another mood
	k.forgot = false
	select {
	case <-k.hurry: // that was for this connection, and not for a loss of it in an hour
	default:
	}
	k.tell.Lock()
	k.move(conn, true, status)
	k.tell.Unlock()
	k.firstTry()
	ctx, cancel := context.WithCancel(k.ctx)
	var attending sync.WaitGroup
	if k.opts.Attend != nil {
		attending.Go(func() { k.opts.Attend(ctx, conn) })
	}
	err := k.watch(conn)
	k.since = time.Now()
	cancel()
	k.close(conn)
	attending.Wait()
	return err
}

// watch waits for the end of a connection.
func (k *Keeper[C]) watch(conn C) error {
	for {
		select {
		case <-k.ctx.Done():
			return context.Cause(k.ctx)
		case <-conn.Done():
			if err := conn.Err(); err != nil {
				return err
			}
			return errors.New("the connection has ended")
		case found := <-k.lost:
			return found.err
		case <-k.news:
			k.judge()
		}
	}
}

// rest reports a failure and waits until the next try. It answers false when there is none.
func (k *Keeper[C]) rest(err error, failures int) bool {
	status := Status{State: Failed, Reason: k.Reason(err), Retry: k.handling.Load().Policy.Pause(failures + 1)}
	var final *UnsupportedError
	switch {
	case errors.As(err, &final):
		status.Retry = 0
	case errors.Is(err, client.ErrUnauthorized):
		status.State, status.Retry = NeedsAuthorization, k.handling.Load().Policy.Longest
	}
	k.set(status, failures == 0 && !k.since.IsZero() && status.State == Failed && status.Retry > 0)
	k.firstTry()
	var again <-chan time.Time
	if status.Retry > 0 {
		timer := time.NewTimer(status.Retry)
		defer timer.Stop()
		again = timer.C
	}
	left := time.Duration(0) // that its lists are kept
	if !k.since.IsZero() {
		left = max(k.opts.Keep, 0) - time.Since(k.since)
	}
	keep := time.NewTimer(left)
	defer keep.Stop()
	for {
		select {
		case <-k.ctx.Done():
			return false
		case <-keep.C:
			k.forget()
			continue
		case <-k.hurry:
		case <-again:
		}
		k.set(Status{State: Connecting, Reason: status.Reason}, false)
		return true
	}
}

func (k *Keeper[C]) forget() {
	if !k.forgot && k.opts.Forget != nil {
		k.opts.Forget()
	}
	k.forgot = true
}

// set changes the state of a server that is not connected. soon says that calls wait for the next try.
func (k *Keeper[C]) set(status Status, soon bool) {
	k.tell.Lock()
	defer k.tell.Unlock()
	k.mu.Lock()
	k.soon = soon
	k.mu.Unlock()
	var none C
	k.move(none, false, status)
}

// move changes the state, and is the only one to do so; k.tell is held.
func (k *Keeper[C]) move(conn C, up bool, status Status) {
	status.Name = k.entry.Name
	k.mu.Lock()
	same := k.state == status
	if !up || any(k.conn) != any(conn) {
		k.wrong, k.doubted = "", false
		select {
		case <-k.lost: // about the one before
		default:
		}
	}
	k.conn, k.up, k.state = conn, up, status
	close(k.moved)
	k.moved = make(chan struct{})
	k.mu.Unlock()
	if !same && k.opts.OnStatus != nil {
		k.opts.OnStatus(status)
	}
}

// ended leaves a keeper that is closed without a connection. That is no news: whoever closes it knows.
func (k *Keeper[C]) ended() {
	var none C
	k.mu.Lock()
	k.conn, k.up, k.soon = none, false, false
	k.state = Status{Name: k.entry.Name, State: Failed, Reason: "it was closed"}
	k.mu.Unlock()
	k.firstTry()
}

func (k *Keeper[C]) firstTry() {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.tried:
	default:
		close(k.tried)
	}
}
