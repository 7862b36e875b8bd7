package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/mcp"
)

// Server is one Model Context Protocol server. Build it with [New].
type Server struct {
	info    mcp.Implementation
	opts    Options
	set     *negotiate.Set
	engine  *engine.Engine
	reg     registry
	schemas *schema.Cache // of tools, so that one that is registered anew costs little
	sealer  *seal.Sealer  // of the states of calls that ask
	own     engine.Pace   // of what the server answers by itself
	around  Call          // through the middleware; nil without any

	pages      pages // that clients were sent to
	pageSize   atomic.Int64
	advice     atomic.Pointer[string] // instructions, once they have been changed
	completers sync.Map               // completerKey -> Completer

	relay *relay // nil without a bus

	mu       sync.Mutex
	vendors  atomic.Pointer[map[string]RawHandler]
	handlers []closer
}

// closer is a handler made by this server that Shutdown ends.
type closer interface {
	Refuse() // takes no new requests
	Shutdown(context.Context) error
}

// canceller is a closer with requests that belong to no session.
type canceller interface{ Cancel() }

// New builds a server. It panics when info has no name, when a version is unknown, when an extension, a cache hint or a state
// key is malformed, or when sessions are to be shared without what that takes: things only a programmer can cause.
func New(info mcp.Implementation, opts Options) *Server {
	if info.Name == "" {
		panic("server: the implementation needs a name")
	}
	if x := mcp.TasksExtension(); opts.Tasks != nil && !slices.ContainsFunc(opts.Extensions, func(one mcp.Extension) bool { return one.Identifier == x.Identifier }) {
		opts.Extensions = append(slices.Clone(opts.Extensions), x)
	}
	limits := schema.Options{MaxDepth: opts.MaxSchemaDepth, MaxSubschemas: opts.MaxSubschemas}
	s := &Server{info: info, opts: opts, schemas: schema.NewCache(0, limits)}
	s.SetPageSize(opts.PageSize)
	if err := opts.checkHints(); err != nil {
		panic("server: " + err.Error())
	}
	if h := opts.HTTP; h.Sessions != nil && (opts.Bus == nil || h.EventLog == nil && !h.NoResume) {
		panic("server: HTTPOptions.Sessions needs Options.Bus beside it, and HTTPOptions.EventLog unless NoResume is set")
	}
	set, err := negotiate.New(era.Config{
		Side: era.ServerSide, Extensions: opts.Extensions, Vendor: s.servesVendor, Info: info, Served: opts.Versions,
	})
	if err != nil {
		panic("server: " + err.Error())
	}
	s.set = set
	if s.sealer, err = newSealer(info.Name, opts); err != nil {
		panic("server: " + err.Error())
	}
	s.vendors.Store(&map[string]RawHandler{})
	s.reg.init(s)
	s.around = s.chain(opts.Middleware)
	s.engine = engine.New((*dispatcher)(s), engine.Options{
		MaxInFlight: opts.MaxInFlight, MaxQueued: opts.MaxQueued, MaxAnonymous: opts.MaxAnonymous, MaxListens: opts.MaxListens, MaxListensOf: opts.MaxListensPerPrincipal,
		AskTimeout: opts.AskTimeout, AskGrace: opts.AskGrace, IDPrefix: requestPrefix(), OnError: s.report,
		OnOpen: onPeer(opts.Hooks.SessionOpened), OnClose: onPeer(opts.Hooks.SessionClosed), Tell: s.teller(), Task: s.taskNotice(),
		OnInterest: opts.Hooks.Subscriptions,
	})
	s.startRelay()
	if opts.Tasks != nil {
		opts.Tasks.Attach(s)
	}
	return s
}

// report tells the owner of a fault that no peer is told of.
func (s *Server) report(err error) {
	if s.opts.OnError != nil {
		s.opts.OnError(err)
	}
	s.logger().LogAttrs(context.Background(), slog.LevelWarn, "mcp: fault outside any call", slog.String("error", err.Error()))
}

func (s *Server) logger() *slog.Logger {
	if s.opts.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.opts.Logger
}

// Subscriptions lists the resources whose updates clients that are connected here want to hear of: those of legacy sessions and
// those of open subscriptions/listen, each once and in order. [Hooks.Subscriptions] tells when to look.
func (s *Server) Subscriptions() []string { return s.engine.Wanted() }

// ResourceUpdated tells the clients that subscribed to a resource that it has changed. It does not wait for them.
func (s *Server) ResourceUpdated(uri string) { s.engine.Announce(engine.ResourceUpdated, uri) }

// Changed tells the clients that listen that a list answered by [Options.Catalogue] has changed, unless the options declare
// its capability without listChanged. It does not wait for them; changes in quick succession are announced once. What is
// registered announces its changes by itself.
func (s *Server) Changed(kind ListKind) {
	if !s.announces(kind) {
		return
	}
	switch kind {
	case Tools:
		s.engine.Announce(engine.ToolsChanged, "")
	case Prompts:
		s.engine.Announce(engine.PromptsChanged, "")
	default:
		s.engine.Announce(engine.ResourcesChanged, "")
	}
}

// ErrShutdown is what Serve and RunStdio return when they are called after Shutdown.
var ErrShutdown = engine.ErrShutdown

// Shutdown stops the server. It refuses new requests and sessions, ends the tasks that run here and every subscription with its
// final result, and waits until the calls that run have been answered, of both eras and on every wire; what they ask their
// clients is still answered. Sessions and pipes are closed then; sessions that other replicas share live on there.
//
// A call that does not end is cancelled, and its client is told so, when a tenth of the time is left that ctx gives, and no
// more than a second of it; where ctx has no deadline, when it ends. Shutdown returns nil when everything has ended, cancelled
// or not, and the context's error when a handler takes no notice in time. It may be called again, and from several goroutines.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	handlers := s.handlers
	s.mu.Unlock()
	for _, h := range handlers {
		h.Refuse() // before calls are cancelled, so that their clients learn why
	}
	var err error
	if s.opts.Tasks != nil {
		err = s.opts.Tasks.Shutdown(ctx) // first, so that who waits for one is answered
	}
	s.drain(ctx)
	for _, h := range handlers {
		if c, ok := h.(canceller); ok {
			c.Cancel()
		}
	}
	err = errors.Join(err, s.engine.Shutdown(ctx))
	for _, h := range handlers {
		err = errors.Join(err, h.Shutdown(ctx))
	}
	s.relay.stop()
	return err
}

// drain waits for what runs, and leaves some of the time for what has to be cancelled.
func (s *Server) drain(ctx context.Context) {
	if end, ok := ctx.Deadline(); ok {
		const part, most = 10, time.Second
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-min(time.Until(end)/part, most)))
		defer cancel()
	}
	s.engine.Drain(ctx)
}

// Stats is what a server holds at the moment.
type Stats struct {
	Peers   int // legacy sessions and open pipes
	Listens int // open subscription streams
}

// Stats counts what is open.
func (s *Server) Stats() Stats {
	return Stats{Peers: len(s.engine.Peers()), Listens: s.engine.Listens()}
}
