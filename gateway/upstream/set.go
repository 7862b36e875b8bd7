package upstream

import (
	"cmp"
	"context"
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

	// Sharing says who may be on one connection to a server. It may be called concurrently, and for each call. Nil means
	// [ShareSafely] for all.
	Sharing func(server string) Sharing

	// DialFor makes a connection that belongs to one caller. Nil means that Dial makes it.
	DialFor func(ctx context.Context, s manager.Server, owner *Owner) (Conn, error)

	// Absent says what is listed for a caller whose own connection could not be made, and before it is. Nil, and a nil answer,
	// mean what is listed for all.
	Absent func(server string, owner *Owner) *Lists

	// Pool bounds the connections of callers to begin with; see [Set.LimitPool].
	Pool PoolLimits

	// Limits are the time limits to begin with; see [Set.Limit].
	Limits Limits

	// KeepLists is how long a lost server keeps its lists. Zero means 30 s.
	KeepLists time.Duration

	// Drain is how long a server that was taken out may finish its calls; see [Set.Reload]. Zero means 30 s; negative means
	// that they are cut off.
	Drain time.Duration

	// Roots are those that servers are told of; give Dialing the same. Nil means none.
	Roots *Roots

	// TrustHints says whether what a server claims of its tools is believed: that one only reads, or may be repeated
	// (readOnlyHint, idempotentHint). Nil believes none.
	TrustHints func(s manager.Server) bool

	// Tunings say how servers are handled to begin with; see [Set.Tune].
	Tunings map[string]Tuning

	// Breaker says when calls of a server that does not answer are refused, where its tuning says nothing.
	Breaker manager.BreakerPolicy

	// OnChange is called after the lists of a server have changed. It may be called concurrently.
	OnChange func()

	// OnUpdate is called after a resource that is watched has changed. It may be called concurrently, and must not block.
	OnUpdate func(server, uri string)

	// OnOwnChange and OnOwnUpdate are those of the connection of one caller. What they tell of is no business of others.
	OnOwnChange func(owner *Owner, lists Kinds)
	OnOwnUpdate func(owner *Owner, server, uri string)

	// OnTask is called when a server says that a task of its has changed. It may be called concurrently, and must not block.
	OnTask func(server, id string)

	// OnState is called at each change of a server's state, for one server one call at a time. Connections of single callers
	// are not told of.
	OnState func(Status)

	// Logger receives what is odd about a server's lists. Nil means silence.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.KeepLists == 0 {
		o.KeepLists = 30 * time.Second
	}
	if o.Drain == 0 {
		o.Drain = 30 * time.Second
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
	if o.OnOwnChange == nil {
		o.OnOwnChange = func(*Owner, Kinds) {}
	}
	if o.OnOwnUpdate == nil {
		o.OnOwnUpdate = func(*Owner, string, string) {}
	}
	if o.Absent == nil {
		o.Absent = func(string, *Owner) *Lists { return nil }
	}
	if o.Sharing == nil {
		o.Sharing = func(string) Sharing { return Sharing{} }
	}
	if o.DialFor == nil {
		dial := o.Dial
		o.DialFor = func(ctx context.Context, s manager.Server, _ *Owner) (Conn, error) { return dial(ctx, s) }
	}
	if o.OnTask == nil {
		o.OnTask = func(string, string) {}
	}
	if o.OnState == nil {
		o.OnState = func(Status) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Limits are the time limits of a Set. Zero means the default.
type Limits struct {
	Connect time.Duration // of the opening of one connection; 15 s
	List    time.Duration // of the reading of all lists of one server; 30 s
	Call    time.Duration // of one call without a sign of life, for entries without a timeout of their own; that of the connection
	Total   time.Duration // of one call; that of the connection
}

func (l Limits) withDefaults() *Limits {
	l.Connect = cmp.Or(l.Connect, 15*time.Second)
	l.List = cmp.Or(l.List, 30*time.Second)
	return &l
}

// Set holds all configured servers. Its methods may be called concurrently.
type Set struct {
	opts   Options
	limits atomic.Pointer[Limits]

	tunings atomic.Pointer[map[string]Tuning]

	pool       pool
	poolLimits atomic.Pointer[PoolLimits]

	windows windows

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	changing sync.Mutex // of those who begin, change and end the servers
	started  bool
	closed   bool
	retiring sync.WaitGroup // of servers that have been taken out

	mu     sync.RWMutex
	order  []*upstream // replaced, and never changed
	byName map[string]*upstream
}

// New makes a Set. Disabled servers take no part. Nothing is connected before Start.
func New(servers []manager.Server, opts Options) *Set {
	s := &Set{opts: opts.withDefaults(), byName: make(map[string]*upstream)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.Limit(s.opts.Limits)
	s.LimitPool(s.opts.Pool)
	s.pool = pool{set: s, tenants: make(map[place]*tenant)}
	s.Tune(s.opts.Tunings)
	for _, entry := range enabled(servers) {
		u := newUpstream(s, entry)
		s.order = append(s.order, u)
		s.byName[entry.Name] = u
	}
	return s
}

// Limit puts other time limits in place. What has begun keeps those it began with.
func (s *Set) Limit(l Limits) { s.limits.Store(l.withDefaults()) }

// Start begins to connect to every server. It does not wait.
func (s *Set) Start() {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.started = true
	for _, u := range s.all() {
		u.keeper.Start()
	}
}

// Settled waits until every server has been tried once, or ctx ends.
func (s *Set) Settled(ctx context.Context) {
	for _, u := range s.all() {
		select {
		case <-u.keeper.Tried():
		case <-ctx.Done():
			return
		}
	}
}

// Tried waits until a server has been tried once, or ctx ends. One that is not configured is not waited for.
func (s *Set) Tried(ctx context.Context, name string) {
	if u := s.find(name); u != nil {
		select {
		case <-u.keeper.Tried():
		case <-ctx.Done():
		}
	}
}

// Close ends every connection and every child process, of servers that have been taken out too, and returns when all have
// ended. It may be called twice.
func (s *Set) Close() {
	s.changing.Lock()
	s.closed = true
	s.changing.Unlock()
	s.cancel()
	var closing sync.WaitGroup
	for _, u := range s.all() {
		closing.Go(u.keeper.Close)
	}
	closing.Go(s.pool.close)
	closing.Wait()
	s.retiring.Wait()
}

func (s *Set) all() []*upstream {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.order
}

// find answers nil for a server that is not configured.
func (s *Set) find(name string) *upstream {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byName[name]
}

// Snapshot is one server at one moment.
type Snapshot struct {
	Status
	Lists *Lists
	Own   int // connections that belong to single callers

	hints   hints
	listTTL time.Duration // of lists of which the server does not say how long they may be kept
}

// Snapshots gives all servers in the order of the configuration.
func (s *Set) Snapshots() []Snapshot {
	all := s.all()
	out := make([]Snapshot, len(all))
	own := s.pool.counts()
	for i, u := range all {
		out[i] = u.snapshot()
		out[i].Own = own[out[i].Name]
	}
	return out
}
