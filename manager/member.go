package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// member is one server of a manager.
type member struct {
	m      *Manager
	name   string
	entry  atomic.Pointer[Server]
	keeper *Keeper[*client.Client]

	mu    sync.Mutex
	known *lists // as read last in the background; nil when there is nothing to know
	trust map[string]*mcp.ToolAnnotations
}

func newMember(m *Manager, s Server) *member {
	b := &member{m: m, name: s.Name}
	b.entry.Store(&s)
	b.keeper = NewKeeper(s, KeeperOptions[*client.Client]{
		Open: b.open, Attend: b.attend,
		OnStatus: func(s Status) { m.hearing.tell(Event{Server: s.Name, Status: s}) },
		Keep:     m.opts.KeepLists, Forget: b.forget, Policy: m.opts.Client.Restart,
		Breaker: m.opts.Breaker, Retries: m.opts.Retries, RetryWait: m.opts.RetryWait, Logger: m.opts.Logger,
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

func (b *member) status() ServerStatus {
	s := ServerStatus{Status: b.keeper.Status(), Breaker: b.keeper.Breaker()}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known != nil {
		s.Tools, s.Prompts, s.Resources, s.Templates = len(b.known.tools), len(b.known.prompts), len(b.known.resources), len(b.known.templates)
	}
	return s
}

// retire lets the calls under way end, and closes the server.
func (b *member) retire() {
	ctx, cancel := context.WithTimeout(b.m.ctx, max(b.m.opts.Drain, 0))
	defer cancel()
	b.keeper.Retire(ctx)
}
