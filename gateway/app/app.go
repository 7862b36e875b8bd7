package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/observe"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// Options says what Run does. Stderr is required.
type Options struct {
	// Config holds the servers and settings. Nil serves the built-in demonstration server.
	Config *config.Config

	// Source is where Config comes from. Nil means that it does not change while the gateway runs.
	Source *Source

	// Listen is the address for HTTP, whatever Config says, also when that is read anew; empty means that of Config, or
	// 127.0.0.1:8421.
	Listen string

	// Insecure lets everybody call from other machines, as the setting of that name does. Otherwise a Run that listens for
	// those and has nothing that says who may call fails.
	Insecure bool

	// Stdio serves this one connection instead of HTTP. Nil means HTTP.
	Stdio transport.Conn

	// Bundle is the one that Stdio serves; empty means everything. It is not for HTTP, which serves all of them.
	Bundle string

	// Stderr is told what happens, in lines.
	Stderr io.Writer

	// Log says how log records look there.
	Log Log

	// Tokens are those of logins at servers.
	Tokens Tokens

	// Version is that of the program.
	Version string

	body, idle, drain time.Duration                           // in place of bodyTime, idleTime and reloadDrain
	after             func(time.Duration, func()) *time.Timer // in place of time.AfterFunc, for readTime
}

// UnreachableError is a server that cannot be reached while the configuration demands all of them.
type UnreachableError struct{ Server, Reason string }

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("server %q cannot be reached (%s), and the configuration requires it", e.Server, e.Reason)
}

// gateway is one run.
type gateway struct {
	opts  Options
	begun *config.Config                // that the run began with
	conf  atomic.Pointer[config.Config] // that is in use
	say   *teller
	guard *streamhttp.Guard
	door  *door

	at      *address                      // that is listened on; nil on stdio. Reloads change it, one at a time
	address atomic.Pointer[net.TCPAddr]   // of at, for everybody
	routes  atomic.Pointer[http.ServeMux] // of all addresses
	failed  chan error                    // has one when nothing can be served any more

	audit  *observe.Audit
	seen   *observe.Observer
	roots  upstream.Roots // that servers are told of
	policy *policy.Policy
	desk   *signon.Desk  // nil for the demonstration
	set    *upstream.Set // likewise

	options  server.Options           // of the fronts that are raised next
	fronts   atomic.Pointer[[]*front] // that are served; that of everything first
	running  context.Context          // ends when the gateway stops
	halt     context.CancelFunc
	retiring sync.WaitGroup // of bundles and addresses that have been taken out
	leaving  sync.Map       // those, as *front

	unfollow  context.CancelFunc // ends what follows the file; nil for nothing
	following sync.WaitGroup
}

// Run serves until ctx ends or, on stdio, until the input does. It returns nil after a stop in order. It fails when the
// address cannot be listened on, and with *UnreachableError when a server cannot be reached that the configuration requires.
func Run(ctx context.Context, opts Options) error {
	g := &gateway{opts: opts, begun: opts.Config, say: &teller{w: opts.Stderr, log: opts.Log}, failed: make(chan error, 1)}
	if g.begun == nil {
		g.begun = config.Default()
	}
	g.conf.Store(g.begun)
	g.guard = streamhttp.NewGuard(g.begun.AllowedHosts, g.begun.AllowedOrigins)
	g.door = newDoor(g.guard, &refusals{
		line: g.say.line,
		note: func(req *http.Request, status int, reason string) { g.seen.Unauthenticated(req, status, reason) },
		rest: func(n int) { g.seen.MoreUnauthenticated(n) },
	})
	if err := g.admit(g.begun); err != nil {
		return err
	}
	defer func() {
		g.door.log.close() // which has more to note
		g.audit.Close()
	}()
	g.running, g.halt = context.WithCancel(context.WithoutCancel(ctx))
	defer g.halt()
	if err := g.provision(); err != nil {
		return err
	}
	if opts.Stdio != nil {
		return g.serveStdio(ctx)
	}
	return g.serveHTTP(ctx)
}

// provision builds all parts and starts none.
func (g *gateway) provision() error {
	o := server.Options{
		PageSize: g.begun.PageSize, StateKeys: g.begun.StateKeys.All(),
		Logger: slog.New(g.say.handler()),
		HTTP:   server.HTTPOptions{Guard: g.guard},
	}
	if err := g.observe(&o); err != nil {
		return err
	}
	g.options = o
	if g.opts.Config == nil {
		return g.raiseAll()
	}
	info := mcp.Implementation{Name: "rialto", Title: "Rialto gateway", Version: g.opts.Version}
	g.desk = g.newDesk(info, o.Logger)
	g.policy = policy.New(g.policyOptions(o.Logger))
	g.roots.Set(g.begun.RootsByServer())
	g.set = upstream.New(g.begun.Servers, upstream.Options{
		Dial:       g.desk.Dial,
		DialFor:    g.desk.DialFor,
		Absent:     g.desk.Absent,
		Roots:      &g.roots,
		Limits:     limitsOf(g.begun),
		Tunings:    g.begun.Tunings(),
		Sharing:    g.sharing,
		Pool:       poolOf(g.begun),
		TrustHints: func(s manager.Server) bool { return g.conf.Load().PerServer[s.Name].TrustHints },
		OnState:    g.state,
		OnChange:   func() { g.bridges((*bridge.Bridge).Changed) },
		OnUpdate: func(server, uri string) {
			g.bridges(func(b *bridge.Bridge) { b.Updated(server, uri) })
		},
		OnTask: func(server, id string) {
			g.bridges(func(b *bridge.Bridge) { b.TaskChanged(server, id) })
		},
		OnOwnChange: func(owner *upstream.Owner, lists upstream.Kinds) {
			g.bridges(func(b *bridge.Bridge) { b.OwnChanged(owner, lists) })
		},
		OnOwnUpdate: func(owner *upstream.Owner, server, uri string) {
			g.bridges(func(b *bridge.Bridge) { b.OwnUpdated(owner, server, uri) })
		},
		Logger: o.Logger,
	})
	return g.raiseAll()
}

// state tells what has become of a server, and of what is said of its lists and does not fit them.
func (g *gateway) state(s upstream.Status) {
	if g.personal(s.Name) {
		g.say.personal(s.Name)
		return
	}
	g.say.state(s)
	if g.conf.Load().Plan().Waits() {
		g.bridges((*bridge.Bridge).Changed)
	}
	if s.State == manager.Ready {
		g.say.turn.Lock() // else a reload meanwhile forgets that they were told, or these are those of before
		defer g.say.turn.Unlock()
		g.misfits(g.conf.Load())
	}
}

// misfits tells of what a configuration says of the lists of servers, and of bundles, and does not fit them. g.say.turn is held.
func (g *gateway) misfits(c *config.Config) {
	snaps, plan := g.set.Snapshots(), c.Plan()
	notes := plan.Notes(snaps)
	for _, bundle := range slices.Sorted(maps.Keys(c.Bundles)) {
		for _, note := range plan.Bundle(c.Bundles[bundle].Shows).Notes(snaps) {
			notes = append(notes, fmt.Sprintf("bundle %q: %s", bundle, note))
		}
	}
	if whole := g.find(""); whole != nil && whole.bridge != nil {
		notes = append(notes, whole.bridge.Notes()...)
	}
	g.say.misfits(notes)
}

// begin connects to the servers. The answer ends what began, and may be called before everything has begun.
func (g *gateway) begin(ctx context.Context) (end func(), err error) {
	if g.set == nil {
		return func() {}, nil
	}
	for _, s := range g.begun.Servers {
		g.say.entry(s)
	}
	g.say.nothing(g.begun.Servers)
	g.set.Start()
	if err := g.demand(ctx); err != nil {
		g.set.Close()
		return nil, err
	}
	return func() {
		g.set.Close()
		if err := g.desk.Close(); err != nil {
			g.say.line("rialto: while stopping: %v", err)
		}
	}, nil
}

// attend begins to follow the file and the tokens. Everything is served by then, so that a reload finds it as it is.
func (g *gateway) attend(ctx context.Context) {
	if g.set == nil {
		return
	}
	ctx, g.unfollow = context.WithCancel(ctx) // ends what follows with stop, which waits
	if g.opts.Source != nil {
		g.following.Go(func() { g.follow(ctx) })
	}
	g.following.Go(func() { g.followTokens(ctx) })
}
