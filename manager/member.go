package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// member is one server of a manager.
type member struct {
	m       *Manager
	name    string
	entry   atomic.Pointer[Server]
	keeper  *Keeper[*client.Client]
	breaker *Breaker

	noting sync.Mutex // of those who judge whether the server is well

	mu     sync.Mutex
	known  *lists // as read last in the background; nil when there is nothing to know
	trust  map[string]*mcp.ToolAnnotations
	wrong  string // why the lists could not be read; "" when they could
	last   string // why a call failed last
	calls  int
	over   bool          // takes no new calls
	idle   chan struct{} // closed when over and without calls
	closed sync.Once
}

func newMember(m *Manager, s Server) *member {
	b := &member{m: m, name: s.Name, idle: make(chan struct{})}
	b.entry.Store(&s)
	b.breaker = NewBreaker(m.opts.Breaker, b.judge)
	b.keeper = NewKeeper(s, KeeperOptions[*client.Client]{
		Open: b.open, Up: func(*client.Client) { b.breaker.Reset() }, Attend: b.attend,
		OnStatus: func(s Status) { m.hearing.tell(Event{Server: s.Name, Status: s}) },
		Keep:     m.opts.KeepLists, Forget: b.forget, Policy: m.opts.Client.Restart, Logger: m.opts.Logger,
	})
	return b
}

func (b *member) server() Server { return *b.entry.Load() }

// open makes a connection.
func (b *member) open(ctx context.Context) (*client.Client, string, error) {
	s, o := b.server(), b.m.opts.Client
	o.Headers = o.Headers.Clone()
	if s.Timeout > 0 {
		o.CallTimeout = s.Timeout
	}
	if b.m.opts.Configure != nil {
		b.m.opts.Configure(s, &o)
	}
	o.Restart.Attempts = -1 // the keeper opens lost connections again, and shows where the server stands
	hook := o.OnError
	o.OnError = func(err error) {
		b.m.opts.Logger.Warn(Reason(s, err), slog.String("server", s.Name))
		if hook != nil {
			hook(err)
		}
	}
	if o.ConnectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.ConnectTimeout, fmt.Errorf("not connected within %s", o.ConnectTimeout))
		defer cancel()
	}
	c, err := b.m.opts.Dial(ctx, s, o)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.DeadlineExceeded) {
			err = errors.Join(cause, err)
		}
		return nil, "", err
	}
	return c, c.ProtocolVersion(), nil
}

// judge says anew whether a connected server is well.
func (b *member) judge() {
	b.noting.Lock()
	defer b.noting.Unlock()
	conn, err := b.keeper.Conn()
	if err != nil {
		return
	}
	breaker := b.breaker.Status()
	b.mu.Lock()
	reason := b.wrong
	if breaker.State != BreakerClosed {
		reason = fmt.Sprintf("it does not answer, so calls are not sent (breaker %s, %d failures in a row); the last: %s",
			breaker.State, breaker.Failures, b.last)
	}
	b.mu.Unlock()
	b.keeper.Mark(conn, reason)
}

func (b *member) status() ServerStatus {
	s := ServerStatus{Status: b.keeper.Status(), Breaker: b.breaker.Status()}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known != nil {
		s.Tools, s.Prompts, s.Resources, s.Templates = len(b.known.tools), len(b.known.prompts), len(b.known.resources), len(b.known.templates)
	}
	return s
}

// enter counts a call among those under way; it fails when the server takes none any more.
func (b *member) enter() (leave func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return nil, fmt.Errorf("%w: %q was taken out of the configuration (%w)", ErrUnknownServer, b.name, ErrNotRun)
	}
	b.calls++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls--
		b.rest()
	}, nil
}

// rest notes that a server that takes no calls has none left; b.mu is held.
func (b *member) rest() {
	if b.over && b.calls == 0 {
		b.closed.Do(func() { close(b.idle) })
	}
}

// retire lets the calls under way end, and closes the server.
func (b *member) retire() {
	b.mu.Lock()
	b.over = true
	b.rest()
	b.mu.Unlock()
	if b.m.opts.Drain > 0 {
		timer := time.NewTimer(b.m.opts.Drain)
		defer timer.Stop()
		select {
		case <-b.idle:
		case <-timer.C:
		case <-b.m.ctx.Done():
		}
	}
	b.keeper.Close()
}
