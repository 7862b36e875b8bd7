package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// upstream is one configured server: a keeper and what the server lists.
type upstream struct {
	set    *Set
	entry  atomic.Pointer[manager.Server]
	keeper *manager.Keeper[Conn]

	stateless atomic.Bool // the server is known to keep nothing of a client between calls
	differs   atomic.Bool // it has listed other things for one caller than for others

	told atomic.Value // string: why the connection of a caller has failed last

	// Of a connection that belongs to a caller; nil for the gateway's own.
	shared *upstream
	whose  *Owner

	cache *cache // of what it reads: one for all connections to the server
	gate  *gate  // for calls of clients; likewise

	watch     chan struct{} // of one place: there are other resources to watch
	rootsNews chan struct{} // likewise: its roots have changed
	stale     chan Kinds    // of one place: lists that are to be read again, for want of news

	retuned  chan struct{} // of one place: the health is to be asked for in another way
	answered moment        // a call
	marks    marks

	mu      sync.Mutex
	roots   []mcp.Root      // that it is told of
	watched []string        // resources whose updates are wanted
	lists   *Lists          // as the server has them
	shown   *Lists          // without what the entry takes away
	hints   hints           // how long they may be kept
	gone    bool            // taken out, or replaced: it has no news for anybody
	knows   bool            // lists are those of whose
	pending map[Conn]opened // connections that have been opened and not taken their place yet
}

// opened is what the opening of a connection has brought.
type opened struct {
	lists   *Lists
	changed *manager.Notices // gathers what is said to have changed from then on
}

func newUpstream(set *Set, entry manager.Server) *upstream {
	u := &upstream{set: set, lists: &Lists{}, shown: &Lists{}, pending: make(map[Conn]opened), watch: make(chan struct{}, 1), rootsNews: make(chan struct{}, 1), stale: make(chan Kinds, 1), retuned: make(chan struct{}, 1)}
	u.entry.Store(&entry)
	u.roots = set.opts.Roots.of(entry.Name)
	u.cache, u.gate = newCache(u.tuning().Cache), newGate(entry.Name, u.tuning().Flow)
	u.keeper = manager.NewKeeper(entry, manager.KeeperOptions[Conn]{
		Open: u.open, Up: u.up, Attend: u.attend, OnStatus: func(manager.Status) { u.tell() },
		Keep: set.opts.KeepLists, Forget: u.forget, Logger: set.opts.Logger,
	})
	u.tune(u.tuning())
	return u
}

func (u *upstream) snapshot() Snapshot {
	status, ttl := u.keeper.Status(), u.tuning().Cache.Lists
	u.mu.Lock()
	defer u.mu.Unlock()
	return Snapshot{Status: Status{status, countsOf(u.shown)}, Lists: u.shown, hints: u.hints, listTTL: ttl}
}

func (u *upstream) server() manager.Server { return *u.entry.Load() }

func (u *upstream) name() string { return u.entry.Load().Name }

func (u *upstream) tell() {
	switch {
	case u.left():
	case u.whose == nil:
		u.set.opts.OnState(u.snapshot().Status)
	default:
		u.tellOwn(u.keeper.Status())
	}
}

func (u *upstream) left() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.gone
}

// open makes a connection and reads all lists.
func (u *upstream) open(ctx context.Context) (Conn, string, error) {
	limit := u.set.limits.Load().Connect
	dialing, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not connected within %s", limit))
	defer cancel()
	conn, err := u.dial(dialing)
	if err != nil {
		return nil, "", err
	}
	changed := manager.NewNotices()
	conn.OnChange(func(kinds Kinds) {
		if kinds&(Resources|Templates) != 0 {
			u.cache.clear()
		}
		changed.Add(kinds)
	})
	if t, ok := conn.(tasker); ok {
		t.OnTask(func(id string) { u.set.opts.OnTask(u.server().Name, id) })
	}
	lists, err := u.fetch(ctx, conn, AllKinds, &Lists{})
	if err != nil {
		if closed := conn.Close(); closed != nil {
			u.warn("closing the connection: " + u.keeper.Reason(closed))
		}
		return nil, "", err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pending[conn] = opened{lists, changed}
	return conn, conn.Version(), nil
}

// up takes up the lists of a new connection.
func (u *upstream) up(conn Conn) {
	u.mu.Lock()
	lists := u.pending[conn].lists
	u.mu.Unlock()
	u.gap()
	u.noteState(conn)
	u.take(lists)
}

func (u *upstream) dial(ctx context.Context) (Conn, error) {
	if u.whose != nil {
		return u.set.opts.DialFor(ctx, u.server(), u.whose)
	}
	return u.set.opts.Dial(ctx, u.server())
}

// forget is take of a server that has been away for too long.
func (u *upstream) forget() {
	if u.whose != nil {
		u.own(nil)
		return
	}
	u.take(&Lists{})
}

func (u *upstream) fetch(ctx context.Context, conn Conn, kinds Kinds, old *Lists) (*Lists, error) {
	limit := u.set.limits.Load().List
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("its lists were not complete within %s", limit))
	defer cancel()
	lists, err := fetch(ctx, conn, kinds, old, u.warn)
	switch {
	case err == nil:
		return lists, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, err
}

// attend keeps the lists fresh while a connection stands.
func (u *upstream) attend(ctx context.Context, conn Conn) {
	u.mu.Lock()
	changed := u.pending[conn].changed
	delete(u.pending, conn)
	again := len(u.watched) > 0
	u.mu.Unlock()
	if again { // this connection watches nothing yet
		u.rewatch()
	}
	defer u.gap()
	if u.whose == nil {
		var checking sync.WaitGroup
		checking.Go(func() { u.checkHealth(ctx, conn) }) // ends with ctx
		defer checking.Wait()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.watch:
			u.watchAll(ctx, conn)
		case <-u.rootsNews:
			u.tellRoots(ctx, conn)
		case kinds := <-u.stale:
			changed.Add(kinds)
		case <-changed.Due():
			u.refresh(ctx, conn, changed)
		}
	}
}

// gap forgets what is kept of the server: news of it may have been missed.
func (u *upstream) gap() {
	u.mu.Lock()
	hears := u.whose == nil || len(u.watched) > 0
	u.mu.Unlock()
	if hears {
		u.cache.clear()
	}
}

// refresh reads the lists that were said to have changed. When that fails the old ones stay, the state says so, and they are
// read once more after a pause.
func (u *upstream) refresh(ctx context.Context, conn Conn, changed *manager.Notices) {
	u.mu.Lock()
	old := u.lists
	u.mu.Unlock()
	kinds := changed.Take()
	lists, err := u.fetch(ctx, conn, kinds, old)
	if err != nil {
		if ctx.Err() == nil {
			reason := "a change was announced, but its lists cannot be read: " + u.keeper.Reason(err)
			u.warn(reason)
			u.mark(conn, markLists, reason)
		}
		changed.Add(kinds)
		changed.Took(false)
		return
	}
	u.mark(conn, markLists, "")
	differs := changes(old, lists) != 0
	changed.Took(differs)
	u.mu.Lock()
	u.hints = lists.hints
	u.mu.Unlock()
	if differs {
		u.take(lists)
		u.tell()
	}
}

// take puts lists in place.
func (u *upstream) take(lists *Lists) {
	if u.whose != nil {
		u.own(lists)
		return
	}
	u.mu.Lock()
	now := shown(u.entry.Load(), lists)
	differs := !u.gone && changes(u.shown, now) != 0
	u.lists, u.shown, u.hints = lists, now, lists.hints
	u.mu.Unlock()
	if differs {
		u.set.opts.OnChange()
	}
}

// shown is what an entry leaves of the lists of its server.
func shown(entry *manager.Server, lists *Lists) *Lists {
	if len(entry.DisabledTools) == 0 {
		return lists
	}
	out := *lists
	out.Tools = slices.DeleteFunc(slices.Clone(lists.Tools), func(tool Item) bool { return slices.Contains(entry.DisabledTools, tool.Key) })
	return &out
}

func (u *upstream) warn(text string) {
	u.set.opts.Logger.Warn(text, slog.String("server", u.server().Name))
}
