package manager

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// Conn is what a [Keeper] needs of a connection; *client.Client is one.
type Conn interface {
	Done() <-chan struct{} // closed when the connection has ended
	Err() error            // why
	Close() error
}

// KeeperOptions configures a Keeper. Open is required.
type KeeperOptions[C Conn] struct {
	// Open makes a connection and all that must have worked before the server counts as ready. It bounds itself; its context
	// ends with the keeper. Version is that of Status.
	Open func(ctx context.Context) (conn C, version string, err error)

	// Up is called when a connection has taken its place, before the state changes. Nil does nothing.
	Up func(conn C)

	// Attend runs while a connection stands, until its context ends. Nil does nothing.
	Attend func(ctx context.Context, conn C)

	// OnStatus hears of each change of the state, one call at a time. It must not block. Nil means silence.
	OnStatus func(Status)

	// Keep is how long a server may be away before Forget is called, once. Zero means 30 s.
	Keep   time.Duration
	Forget func()

	// Policy is when a lost server is tried again: the client's own policy, but without an end, since a server that is
	// configured may come back tomorrow.
	Policy client.Restart

	// Logger gets what nobody waits for. Nil means silence.
	Logger *slog.Logger
}

// Keeper keeps one server of a configuration connected until it is closed: it connects, waits for the end of the connection,
// and connects again, with pauses that grow and are shortened by chance. [Manager] is built from keepers; a program with
// rules of its own for sharing connections, a gateway say, builds on them too. Its methods may be called concurrently.
type Keeper[C Conn] struct {
	entry Server
	opts  KeeperOptions[C]

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	begin  sync.Once
	over   chan struct{} // closed when the loop has ended
	tried  chan struct{} // closed after the first try
	lost   chan loss     // of one place: what a call has found out
	hurry  chan struct{} // of one place: try again now

	// Of the loop alone.
	since  time.Time // when the connection was lost
	forgot bool

	tell  sync.Mutex // of those who change the state, so that changes are told in order
	mu    sync.Mutex
	state Status
	conn  C
	up    bool          // conn is there
	moved chan struct{} // closed and replaced at each change
}

// loss is a connection that a call has found to be of no use.
type loss struct {
	conn any
	err  error
}

// NewKeeper makes a keeper. Nothing is connected before Start.
func NewKeeper[C Conn](entry Server, opts KeeperOptions[C]) *Keeper[C] {
	if opts.Keep == 0 {
		opts.Keep = 30 * time.Second
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	opts.Policy = opts.Policy.WithDefaults()
	k := &Keeper[C]{
		entry: entry, opts: opts, over: make(chan struct{}),
		tried: make(chan struct{}), lost: make(chan loss, 1), hurry: make(chan struct{}, 1), moved: make(chan struct{}),
		state: Status{Name: entry.Name, State: Connecting},
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// Start begins to connect. It does not wait.
func (k *Keeper[C]) Start() {
	k.begin.Do(func() {
		go func() { // ends with Close, which waits
			defer close(k.over)
			k.run()
		}()
	})
}

// Close ends the connection and returns when all has ended. It may be called twice.
func (k *Keeper[C]) Close() {
	k.cancel()
	k.begin.Do(func() { close(k.over) }) // never started
	<-k.over
	k.firstTry()
}

// Tried is closed once the server has been tried, with success or without.
func (k *Keeper[C]) Tried() <-chan struct{} { return k.tried }

// Status tells where the server stands.
func (k *Keeper[C]) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// Conn gives the connection, or *DownError.
func (k *Keeper[C]) Conn() (C, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.up {
		return k.conn, nil
	}
	var none C
	return none, k.down()
}

func (k *Keeper[C]) down() error {
	reason := k.state.Reason
	switch {
	case k.ctx.Err() != nil:
		reason = "it is being closed"
	case reason == "":
		reason = "it is being connected"
	}
	return &DownError{k.entry.Name, reason}
}

// Doubt tells of a call that failed. It answers whether the connection is given up for it.
func (k *Keeper[C]) Doubt(conn C, err error) bool {
	if !IsLoss(err) {
		return false
	}
	select {
	case k.lost <- loss{conn, err}:
	default: // another call was first
	}
	return true
}

// Hurry tries a server again now that is waiting for its next try.
func (k *Keeper[C]) Hurry() {
	select {
	case k.hurry <- struct{}{}:
	default:
	}
}

// Next waits for a connection other than old, or for the failure to make one.
func (k *Keeper[C]) Next(ctx context.Context, old C) (C, error) {
	var none C
	for {
		k.mu.Lock()
		conn, up, state, moved, down := k.conn, k.up, k.state.State, k.moved, k.down()
		k.mu.Unlock()
		switch {
		case up && any(conn) != any(old):
			return conn, nil
		case !up && state != Connecting:
			return none, down
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return none, context.Cause(ctx)
		case <-k.ctx.Done():
			return none, &DownError{k.entry.Name, "it is being closed"}
		}
	}
}

// Mark calls a connected server degraded for a reason, or ready again where the reason is empty. It answers false when
// there is no such connection any more.
func (k *Keeper[C]) Mark(conn C, reason string) bool {
	k.tell.Lock()
	defer k.tell.Unlock()
	k.mu.Lock()
	if !k.up || any(k.conn) != any(conn) {
		k.mu.Unlock()
		return false
	}
	next := k.state
	next.State, next.Reason = Ready, reason
	if reason != "" {
		next.State = Degraded
	}
	k.mu.Unlock()
	k.move(conn, true, next)
	return true
}

// run keeps the server connected until the keeper is closed.
func (k *Keeper[C]) run() {
	defer k.firstTry()
	failures := 0
	for k.ctx.Err() == nil {
		begun := time.Now()
		conn, version, err := k.opts.Open(k.ctx)
		at := time.Now()
		if err == nil {
			err = k.serve(conn, Status{State: Ready, Version: version, Took: at.Sub(begun)})
			if k.ctx.Err() != nil {
				return
			}
			if time.Since(at) >= k.opts.Policy.Stable {
				failures = 0
			}
			if NotTaken(err) && !isDial(err) && time.Since(at) > k.opts.Policy.First { // a forgotten session is no failure of the server
				k.set(Status{State: Connecting, Reason: k.Reason(err)})
				continue
			}
		}
		if k.ctx.Err() != nil || !k.rest(err, failures) {
			return
		}
		failures++
	}
}

// serve takes up a connection and says why it has ended.
func (k *Keeper[C]) serve(conn C, status Status) error {
	if k.opts.Up != nil {
		k.opts.Up(conn)
	}
	k.forgot = false
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
	if closed := conn.Close(); closed != nil && k.ctx.Err() == nil {
		k.opts.Logger.Info("closing a lost connection: "+k.Reason(closed), slog.String("server", k.entry.Name))
	}
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
		case l := <-k.lost:
			if l.conn == any(conn) {
				return l.err
			}
		}
	}
}

// rest reports a failure and waits until the next try. It answers false when there is none.
func (k *Keeper[C]) rest(err error, failures int) bool {
	status := Status{State: Failed, Reason: k.Reason(err), Retry: k.opts.Policy.Pause(failures + 1)}
	var final *UnsupportedError
	switch {
	case errors.As(err, &final):
		status.Retry = 0
	case errors.Is(err, client.ErrUnauthorized):
		status.State, status.Retry = NeedsAuthorization, k.opts.Policy.Longest
	}
	k.set(status)
	k.firstTry()
	var again <-chan time.Time
	if status.Retry > 0 {
		timer := time.NewTimer(status.Retry)
		defer timer.Stop()
		again = timer.C
	}
	keep := time.NewTimer(k.opts.Keep - time.Since(k.since))
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
		k.set(Status{State: Connecting, Reason: status.Reason})
		return true
	}
}

func (k *Keeper[C]) forget() {
	if !k.forgot && k.opts.Forget != nil {
		k.opts.Forget()
	}
	k.forgot = true
}

// set changes the state of a server that is not connected.
func (k *Keeper[C]) set(status Status) {
	k.tell.Lock()
	defer k.tell.Unlock()
	var none C
	k.move(none, false, status)
}

// move changes the state, and is the only one to do so; k.tell is held.
func (k *Keeper[C]) move(conn C, up bool, status Status) {
	status.Name = k.entry.Name
	k.mu.Lock()
	same := k.state == status
	k.conn, k.up, k.state = conn, up, status
	close(k.moved)
	k.moved = make(chan struct{})
	k.mu.Unlock()
	if !same && k.opts.OnStatus != nil {
		k.opts.OnStatus(status)
	}
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

// Reason says why something failed, in words fit to be shown; see the function Reason.
func (k *Keeper[C]) Reason(err error) string { return Reason(k.entry, err) }
