package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// upstream is one configured server. Its loop is the only writer of status, connection and lists.
type upstream struct {
	set   *Set
	entry manager.Server
	tried chan struct{} // closed after the first try
	lost  chan loss     // of one place: what a call has found out
	since time.Time     // when the connection was lost; of the loop alone

	mu     sync.Mutex
	status Status
	lists  *Lists
	conn   Conn          // nil unless ready
	moved  chan struct{} // closed and replaced at each change of state
}

// loss is a connection that a call has found to be of no use.
type loss struct {
	conn Conn
	err  error
}

func newUpstream(set *Set, entry manager.Server) *upstream {
	return &upstream{
		set: set, entry: entry,
		tried: make(chan struct{}), lost: make(chan loss, 1), moved: make(chan struct{}),
		status: Status{Name: entry.Name, State: Connecting}, lists: &Lists{},
	}
}

func (u *upstream) snapshot() Snapshot {
	u.mu.Lock()
	defer u.mu.Unlock()
	return Snapshot{u.status, u.lists}
}

// connection gives the live connection, or *DownError.
func (u *upstream) connection() (Conn, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn == nil {
		reason := u.status.Reason
		if reason == "" {
			reason = "it is being connected"
		}
		return nil, &DownError{u.entry.Name, reason}
	}
	return u.conn, nil
}

// doubt tells the loop of a call that failed, and whether the connection is given up for it.
func (u *upstream) doubt(conn Conn, err error) bool {
	if !isLoss(err) {
		return false
	}
	select {
	case u.lost <- loss{conn, err}:
	default: // another call was first
	}
	return true
}

// replaced waits for a connection other than old, or for the failure to make one.
func (u *upstream) replaced(ctx context.Context, old Conn) (Conn, error) {
	for {
		u.mu.Lock()
		conn, state, reason, moved := u.conn, u.status.State, u.status.Reason, u.moved
		u.mu.Unlock()
		switch {
		case conn != nil && conn != old:
			return conn, nil
		case conn == nil && state == Failed:
			return nil, &DownError{u.entry.Name, reason}
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-u.set.ctx.Done():
			return nil, &DownError{u.entry.Name, "the gateway is stopping"}
		}
	}
}

// run keeps the server connected until ctx ends.
func (u *upstream) run(ctx context.Context) {
	defer u.firstTry()
	failures := 0
	immediate := false
	for ctx.Err() == nil {
		begun := time.Now()
		conn, lists, changed, err := u.open(ctx)
		if err == nil {
			up := time.Now()
			u.ready(conn, lists, up.Sub(begun))
			err = u.watch(ctx, conn, changed)
			immediate = notTaken(err) && time.Since(up) > policy.First // a forgotten session is no failure of the server
			u.since = time.Now()
			u.close(conn)
			if time.Since(up) >= policy.Stable {
				failures = 0
			}
		}
		if ctx.Err() != nil {
			return
		}
		if immediate {
			immediate = false
			u.move(nil, Status{State: Connecting, Reason: u.reason(err)}, nil)
			continue
		}
		if !u.rest(ctx, err, failures) {
			return
		}
		failures++
	}
}

// open makes a connection and reads all lists. changed gathers the notices that come from then on.
func (u *upstream) open(ctx context.Context) (Conn, *Lists, *notices, error) {
	limit := u.set.opts.ConnectTimeout
	dialing, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not connected within %s", limit))
	defer cancel()
	conn, err := u.set.opts.Dial(dialing, u.entry)
	if err != nil {
		return nil, nil, nil, err
	}
	changed := newNotices()
	conn.OnChange(changed.add)
	lists, err := u.fetch(ctx, conn, AllKinds, &Lists{})
	if err != nil {
		u.close(conn)
		return nil, nil, nil, err
	}
	return conn, lists, changed, nil
}

func (u *upstream) fetch(ctx context.Context, conn Conn, kinds Kinds, old *Lists) (*Lists, error) {
	limit := u.set.opts.ListTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("its lists were not complete within %s", limit))
	defer cancel()
	lists, err := fetch(ctx, conn, kinds, old, u.warn)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return lists, err
}

// watch keeps the lists fresh until the connection ends, and says why it did.
func (u *upstream) watch(ctx context.Context, conn Conn, changed *notices) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-conn.Done():
			if err := conn.Err(); err != nil {
				return err
			}
			return errors.New("the connection has ended")
		case l := <-u.lost:
			if l.conn == conn {
				return l.err
			}
		case <-changed.due():
			u.refresh(ctx, conn, changed)
		}
	}
}

// refresh reads the lists that were said to have changed. When that fails the old ones stay.
func (u *upstream) refresh(ctx context.Context, conn Conn, changed *notices) {
	old := u.snapshot()
	lists, err := u.fetch(ctx, conn, changed.take(), old.Lists)
	if err != nil {
		if ctx.Err() == nil {
			u.warn("a change was announced, but the lists could not be read: " + u.reason(err))
		}
		changed.took(false)
		return
	}
	differs := changes(old.Lists, lists) != 0
	changed.took(differs)
	if differs {
		status := old.Status
		status.Counts = countsOf(lists)
		u.move(conn, status, lists)
	}
}

// ready takes up a new connection.
func (u *upstream) ready(conn Conn, lists *Lists, took time.Duration) {
	u.move(conn, Status{State: Ready, Version: conn.Version(), Took: took, Counts: countsOf(lists)}, lists)
	u.firstTry()
}

// rest reports a failure and waits until the next try. It answers false when there is none.
func (u *upstream) rest(ctx context.Context, err error, failures int) bool {
	status := Status{State: Failed, Reason: u.reason(err)}
	var final *UnsupportedError
	if !errors.As(err, &final) {
		status.Retry = pause(failures)
	}
	u.move(nil, status, nil)
	u.firstTry()
	if status.Retry == 0 {
		return false
	}
	keep := time.NewTimer(u.set.opts.KeepLists - time.Since(u.since))
	defer keep.Stop()
	again := time.NewTimer(status.Retry)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-keep.C:
			u.move(nil, status, &Lists{})
		case <-again.C:
			u.move(nil, Status{State: Connecting, Reason: status.Reason}, nil)
			return true
		}
	}
}

// move changes the state; nil lists leave those that are there.
func (u *upstream) move(conn Conn, status Status, lists *Lists) {
	status.Name = u.entry.Name
	u.mu.Lock()
	differs := lists != nil && changes(u.lists, lists) != 0
	if lists != nil {
		u.lists = lists
	}
	same := u.status == status
	u.conn, u.status = conn, status
	close(u.moved)
	u.moved = make(chan struct{})
	u.mu.Unlock()
	if differs {
		u.set.opts.OnChange()
	}
	if !same {
		u.set.opts.OnState(status)
	}
}

func (u *upstream) firstTry() {
	select {
	case <-u.tried:
	default:
		close(u.tried)
	}
}

func (u *upstream) close(conn Conn) {
	if err := conn.Close(); err != nil {
		u.warn("closing the connection: " + u.reason(err))
	}
}

func (u *upstream) reason(err error) string { return Reason(u.entry, err) }

func (u *upstream) warn(text string) {
	u.set.opts.Logger.Warn(text, slog.String("server", u.entry.Name))
}
