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
	gone  bool // taken out, or replaced: what becomes of it is no news of a server of the configuration
}

func newMember(m *Manager, s Server) *member {
	b := &member{m: m, name: s.Name}
	b.entry.Store(&s)
	b.keeper = NewKeeper(s, KeeperOptions[*client.Client]{
		Open: b.open, Attend: b.attend,
		OnStatus: func(s Status) { b.tell(Event{Server: s.Name, Status: s}) },
		Keep:     m.opts.KeepLists, Forget: b.forget, Policy: m.opts.Client.Restart,
		Breaker: m.opts.Breaker, Retries: m.opts.Retries, RetryWait: m.opts.RetryWait, Logger: m.opts.Logger,
	})
	return b
}

func (b *member) server() Server { return *b.entry.Load() }

// tell passes news on, unless the server has left the configuration.
func (b *member) tell(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.gone {
		b.m.hearing.tell(e)
	}
}

// leave ends the news, and gives what is known of the lists to the one that takes the place of the server.
func (b *member) leave() *lists {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
	return b.known
}

// inherit remembers the lists of the server whose place this one takes, so that only what differs from them is news. They are
// given to nobody: what the two have in common is yet to be seen.
func (b *member) inherit(known *lists) {
	if known == nil {
		return
	}
	unread := *known
	unread.read = 0
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known = &unread
}

// update takes up an entry that leads to the same connection. It answers whether other tools are shown now.
func (b *member) update(s Server) (news Kinds) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.entry.Swap(&s)
	if b.known != nil && different(shown(old, b.known.tools), shown(&s, b.known.tools), toolLists.key) {
		return Tools
	}
	return 0
}

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
	if c == nil && err == nil {
		err = errors.New("Options.Dial gave neither a connection nor an error")
	}
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
		s.Tools, s.Prompts = len(shown(b.entry.Load(), b.known.tools)), len(b.known.prompts)
		s.Resources, s.Templates = len(b.known.resources), len(b.known.templates)
	}
	return s
}

// retire lets the calls under way end, and closes the server.
func (b *member) retire() {
	ctx, cancel := context.WithTimeout(b.m.ctx, max(b.m.opts.Drain, 0))
	defer cancel()
	b.keeper.Retire(ctx)
}
