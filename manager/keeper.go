package manager

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
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
	// ends with the keeper, and Close waits for it. A panic is a failure like an error. Version is that of Status.
	Open func(ctx context.Context) (conn C, version string, err error)

	// Up is called when a connection has taken its place, before the state changes. Nil does nothing.
	Up func(conn C)

	// Attend runs while a connection stands, until its context ends. Nil does nothing.
	Attend func(ctx context.Context, conn C)

	// OnStatus hears of each change of the state, one call at a time. It must not block. Nil means silence.
	OnStatus func(Status)

	// Keep is how long a server may be away before Forget is called, once; of one that was never there, Forget is called after
	// the first try. Zero means 30 s; negative means not at all.
	Keep   time.Duration
	Forget func()

	// Policy is when a lost server is tried again: the client's own policy, but without an end, since a server that is
	// configured may come back tomorrow.
	Policy client.Restart

	// Breaker says when calls made with Do are refused since the server does not answer.
	Breaker BreakerPolicy

	// Retries is how often Do repeats one call at most, where that is safe. Zero means 2; negative means never.
	Retries int

	// RetryWait is how long a call that is to be repeated waits for the server to come back. Zero means 5 s; negative means
	// not at all.
	RetryWait time.Duration

	// Logger gets what nobody waits for. Nil means silence.
	Logger *slog.Logger
}

// Keeper keeps one server of a configuration connected until it is closed: it connects, waits for the end of the connection,
// and connects again, with pauses that grow and are shortened by chance. Calls made with [Keeper.Do] go through the server's
// breaker, and are repeated where that is safe. [Manager] is built from keepers; a program with rules of its own for sharing
// connections, a gateway say, builds on them too. Its methods may be called concurrently.
type Keeper[C Conn] struct {
	entry   Server
	opts    KeeperOptions[C]
	breaker *Breaker

	handling atomic.Pointer[Handling]

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	begin  sync.Once
	over   chan struct{} // closed when the loop has ended
	tried  chan struct{} // closed after the first try
	lost   chan doubt    // of one place: what a call has found out about conn
	hurry  chan struct{} // of one place: try again now
	news   chan struct{} // of one place: the state is to be judged again

	// Of the loop alone.
	since  time.Time // when the connection was lost
	forgot bool

	tell  sync.Mutex // of those who change the state, so that changes are told in order
	mu    sync.Mutex
	state Status
	conn  C
	up    bool          // conn is there
	soon  bool          // it was lost just now and is tried again after the shortest pause: calls wait for that
	wrong string        // what Mark said of conn
	last  string        // why a call failed last
	moved chan struct{} // closed and replaced at each change

	doubted bool          // a call has found conn to be of no use
	dropped any           // the last connection that was, also after it has left its place
	calls   int           // under way
	retired bool          // takes no new calls
	idle    chan struct{} // closed when retired and without calls
}

// NewKeeper makes a keeper. Nothing is connected before Start.
func NewKeeper[C Conn](entry Server, opts KeeperOptions[C]) *Keeper[C] {
	if opts.Keep == 0 {
		opts.Keep = 30 * time.Second
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	k := &Keeper[C]{
		entry: entry, opts: opts, over: make(chan struct{}),
		tried: make(chan struct{}), lost: make(chan doubt, 1), hurry: make(chan struct{}, 1), news: make(chan struct{}, 1),
		moved: make(chan struct{}), idle: make(chan struct{}),
		state: Status{Name: entry.Name, State: Connecting},
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.breaker = NewBreaker(opts.Breaker, k.judge)
	k.Change(Handling{opts.Policy, opts.Breaker, opts.Retries, opts.RetryWait})
	return k
}

// Handling is how a keeper meets failures: the members of [KeeperOptions] that can be changed while it runs.
type Handling struct {
	Policy    client.Restart
	Breaker   BreakerPolicy
	Retries   int
	RetryWait time.Duration
}

// Change puts another handling in place: for the next pause, the next failure, and calls under way. No connection is given up
// for it, and the breaker goes on with what it has counted; see [Breaker.Change]. It waits for nobody: OnStatus is called later,
// where there is something to tell.
func (k *Keeper[C]) Change(h Handling) {
	if h.Retries == 0 {
		h.Retries = 2
	}
	if h.RetryWait == 0 {
		h.RetryWait = 5 * time.Second
	}
	h.Policy = h.Policy.WithDefaults()
	k.handling.Store(&h)
	if k.breaker.Change(h.Breaker) {
		select {
		case k.news <- struct{}{}:
		default: // it is due
		}
	}
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
	k.ended()
}

// Retire takes no new calls, lets those under way end for as long as ctx holds, and closes.
func (k *Keeper[C]) Retire(ctx context.Context) {
	k.mu.Lock()
	if !k.retired && k.calls == 0 {
		close(k.idle)
	}
	k.retired = true
	k.mu.Unlock()
	select {
	case <-k.idle:
	case <-ctx.Done():
	}
	k.Close()
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
	if k.live() {
		return k.conn, nil
	}
	var none C
	return none, k.down()
}

// live tells whether there is a connection of which nothing bad is known: one that has ended keeps its place for as long as
// closing it takes. k.mu is held.
func (k *Keeper[C]) live() bool {
	if !k.up || k.doubted {
		return false
	}
	select {
	case <-k.conn.Done():
		return false
	default:
		return true
	}
}

// coming tells whether it is worth to wait for a connection: one is being made, or will be at once. k.mu is held.
func (k *Keeper[C]) coming() bool { return k.up || k.soon || k.state.State == Connecting }

// down says why there is no connection. k.mu is held.
func (k *Keeper[C]) down() error {
	e := &DownError{Server: k.entry.Name, State: k.state.State, Reason: k.state.Reason}
	switch {
	case k.ctx.Err() != nil:
		return k.closing()
	case k.up:
		e.State, e.Reason = Connecting, "its connection was lost a moment ago"
	case k.state.State == Failed:
		e.Final = k.state.Retry == 0
	case e.Reason == "":
		e.Reason = "it is being connected"
	}
	return e
}

func (k *Keeper[C]) closing() error {
	return &DownError{Server: k.entry.Name, State: Failed, Reason: "it is being closed", Final: true}
}

// doubt is why a connection is of no use.
type doubt struct{ err error }

// Doubt tells of a call that failed. It answers whether the connection is given up for it.
func (k *Keeper[C]) Doubt(conn C, err error) bool {
	if !IsLoss(err) {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.up && !k.doubted && any(k.conn) == any(conn) {
		k.doubted, k.dropped = true, conn
		k.lost <- doubt{err} // never waits: the place is free while conn is not doubted
	}
	return true
}

// Hurry tries a server again now that is waiting for its next try, or at once after a try that is under way and fails. It
// does nothing for one that is connected.
func (k *Keeper[C]) Hurry() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.live() {
		return
	}
	select {
	case k.hurry <- struct{}{}:
	default:
	}
}

// Next waits for a connection other than old, or for the failure to make one. A server that has been lost just now is waited
// for until it was tried once.
func (k *Keeper[C]) Next(ctx context.Context, old C) (C, error) {
	var none C
	for {
		k.mu.Lock()
		conn, live, coming, moved, down := k.conn, k.live(), k.coming(), k.moved, k.down()
		k.mu.Unlock()
		switch {
		case live && any(conn) != any(old):
			return conn, nil
		case !coming:
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

// Mark says why a connected server is not well, though its breaker is closed; an empty reason takes that back. The server is
// degraded as long as there is a reason of either kind. It answers false when there is no such connection any more.
func (k *Keeper[C]) Mark(conn C, reason string) bool {
	k.mu.Lock()
	ours := k.up && any(k.conn) == any(conn)
	if ours {
		k.wrong = reason
	}
	k.mu.Unlock()
	if ours {
		k.judge()
	}
	return ours
}

// judge says anew whether a connected server is well.
func (k *Keeper[C]) judge() {
	k.tell.Lock()
	defer k.tell.Unlock()
	breaker := k.breaker.Status()
	k.mu.Lock()
	conn, up, next := k.conn, k.up, k.state
	next.State, next.Reason = Ready, k.wrong
	if breaker.State != BreakerClosed {
		next.Reason = fmt.Sprintf("it does not answer, so calls are not sent (breaker %s, %d failures in a row); the last: %s",
			breaker.State, breaker.Failures, k.last)
	}
	k.mu.Unlock()
	if next.Reason != "" {
		next.State = Degraded
	}
	if up {
		k.move(conn, true, next)
	}
}

// Breaker tells where the server's breaker stands.
func (k *Keeper[C]) Breaker() BreakerStatus { return k.breaker.Status() }

// Reason says why something failed, in words fit to be shown; see the function Reason.
func (k *Keeper[C]) Reason(err error) string { return Reason(k.entry, err) }
