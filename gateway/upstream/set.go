package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// Options configures a Set. Dial is required; the rest is useful at zero.
type Options struct {
	// Dial makes a connection; see [Dialer].
	Dial Dialer

	// ConnectTimeout bounds the opening of one connection. Zero means 15 s.
	ConnectTimeout time.Duration

	// ListTimeout bounds the reading of all lists of one server. Zero means 30 s.
	ListTimeout time.Duration

	// KeepLists is how long a lost server keeps its lists. Zero means 30 s.
	KeepLists time.Duration

	// TrustHints says whether what a server claims of its tools is believed: that one only reads, or may be repeated
	// (readOnlyHint, idempotentHint). Nil believes none.
	TrustHints func(s manager.Server) bool

	// Breaker says when calls of a server that does not answer are refused.
	Breaker manager.BreakerPolicy

	// OnChange is called after the lists of a server have changed. It may be called concurrently.
	OnChange func()

	// OnUpdate is called after a resource that is watched has changed. It may be called concurrently, and must not block.
	OnUpdate func(server, uri string)

	// OnState is called at each change of a server's state, for one server one call at a time.
	OnState func(Status)

	// Logger receives what is odd about a server's lists. Nil means silence.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = 15 * time.Second
	}
	if o.ListTimeout == 0 {
		o.ListTimeout = 30 * time.Second
	}
	if o.KeepLists == 0 {
		o.KeepLists = 30 * time.Second
	}
	if o.TrustHints == nil {
		o.TrustHints = func(manager.Server) bool { return false }
	}
	if o.OnChange == nil {
		o.OnChange = func() {}
	}
	if o.OnUpdate == nil {
		o.OnUpdate = func(string, string) {}
	}
	if o.OnState == nil {
		o.OnState = func(Status) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Set holds all configured servers. Its methods may be called concurrently.
type Set struct {
	opts   Options
	order  []*upstream
	byName map[string]*upstream

	once sync.Once
}

// New makes a Set. Disabled servers take no part. Nothing is connected before Start.
func New(servers []manager.Server, opts Options) *Set {
	s := &Set{opts: opts.withDefaults(), byName: make(map[string]*upstream)}
	for _, entry := range servers {
		if entry.Disabled {
			continue
		}
		u := newUpstream(s, entry)
		s.order = append(s.order, u)
		s.byName[entry.Name] = u
	}
	return s
}

// Start begins to connect to every server. It does not wait.
func (s *Set) Start() {
	s.once.Do(func() {
		for _, u := range s.order {
			u.keeper.Start()
		}
	})
}

// Settled waits until every server has been tried once, or ctx ends.
func (s *Set) Settled(ctx context.Context) {
	for _, u := range s.order {
		select {
		case <-u.keeper.Tried():
		case <-ctx.Done():
			return
		}
	}
}

// Close ends every connection and every child process, and returns when all have ended.
func (s *Set) Close() {
	var closing sync.WaitGroup
	for _, u := range s.order {
		closing.Go(u.keeper.Close)
	}
	closing.Wait()
}

// Snapshot is one server at one moment.
type Snapshot struct {
	Status
	Lists *Lists
}

// Snapshots gives all servers in the order of the configuration.
func (s *Set) Snapshots() []Snapshot {
	out := make([]Snapshot, len(s.order))
	for i, u := range s.order {
		out[i] = u.snapshot()
	}
	return out
}

// Reason says why a call of a server failed, in words that are fit for a client.
func (s *Set) Reason(name string, err error) string {
	if u := s.byName[name]; u != nil {
		return u.keeper.Reason(err)
	}
	return err.Error()
}

// Call sends a request to a server. While the server is being connected it waits for that; a server that is down fails at once,
// with *manager.DownError, and one that does not answer with *manager.OpenError. A call that the server has certainly not
// taken is repeated on a new connection. One whose answer was lost is repeated where that does no harm: when it only reads,
// or calls a tool of a trusted server that may be repeated by its hints. See [manager.Keeper.Do] for the other errors.
func (s *Set) Call(ctx context.Context, name string, call Call) (*Answer, error) {
	u := s.byName[name]
	if u == nil {
		return nil, fmt.Errorf("%w: %q", manager.ErrUnknownServer, name)
	}
	var answer *Answer
	var asked atomic.Bool // a client is not asked twice for one call
	if ask := call.OnRequest; ask != nil {
		call.OnRequest = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			asked.Store(true)
			return ask(ctx, method, params)
		}
	}
	a := manager.Attempt{What: call.Method, Safe: func() bool { return !asked.Load() && u.harmless(call) }}
	err := u.keeper.Do(ctx, a, func(ctx context.Context, conn Conn) (err error) {
		answer, err = conn.Call(ctx, call)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}
