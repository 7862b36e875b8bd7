package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
)

// Server is one Model Context Protocol server. Build it with [New].
type Server struct {
	info   mcp.Implementation
	opts   Options
	set    *negotiate.Set
	engine *engine.Engine
	reg    registry
	own    engine.Pace // of what the server answers by itself

	completers sync.Map // completerKey -> Completer

	mu       sync.Mutex
	vendors  atomic.Pointer[map[string]RawHandler]
	handlers []closer
}

// closer is a handler made by this server that Shutdown ends.
type closer interface {
	Shutdown(context.Context) error
}

// New builds a server. It panics when info has no name, when a version is unknown, or when an extension is malformed:
// things only a programmer can cause.
func New(info mcp.Implementation, opts Options) *Server {
	if info.Name == "" {
		panic("server: the implementation needs a name")
	}
	s := &Server{info: info, opts: opts}
	for _, x := range opts.Extensions {
		if err := x.Check(); err != nil {
			panic("server: " + err.Error())
		}
	}
	set, err := negotiate.New(era.Config{
		Side: era.ServerSide, Extensions: opts.Extensions, Vendor: s.servesVendor, Info: info, Served: opts.Versions,
	})
	if err != nil {
		panic("server: " + err.Error())
	}
	s.set = set
	s.vendors.Store(&map[string]RawHandler{})
	s.reg.init(s)
	s.engine = engine.New((*dispatcher)(s), engine.Options{
		MaxInFlight: opts.MaxInFlight, MaxListens: opts.MaxListens, IDPrefix: requestPrefix(), OnError: s.report,
	})
	return s
}

// report tells the owner of a fault that no peer is told of.
func (s *Server) report(err error) {
	if s.opts.OnError != nil {
		s.opts.OnError(err)
	}
	s.logger().LogAttrs(context.Background(), slog.LevelWarn, "mcp: stray fault", slog.String("error", err.Error()))
}

func (s *Server) logger() *slog.Logger {
	if s.opts.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.opts.Logger
}

// ErrUnhandled is what a fallback handler returns for a request it does not know: the request is then answered as if
// there were no fallback.
var ErrUnhandled = errors.New("not handled here")

// Handle registers a handler for a method outside the specification. It replaces an earlier one; nil removes it. It
// panics for a method of the specification: those exist by revision, and a handler cannot revive one.
func (s *Server) Handle(method string, h RawHandler) {
	if negotiate.Universe()[method] {
		panic(fmt.Sprintf("server: %q is a method of the specification", method))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := make(map[string]RawHandler, len(*s.vendors.Load())+1)
	for m, old := range *s.vendors.Load() {
		next[m] = old
	}
	if h == nil {
		delete(next, method)
	} else {
		next[method] = h
	}
	s.vendors.Store(&next)
}

func (s *Server) servesVendor(method string) bool {
	return s.opts.Fallback != nil || (*s.vendors.Load())[method] != nil
}

// ResourceUpdated tells the clients that subscribed to a resource that it has changed. It does not wait for them.
func (s *Server) ResourceUpdated(uri string) { s.engine.Announce(engine.ResourceUpdated, uri) }

// Changed tells the clients that listen that a list answered by [Options.Catalogue] has changed. It does not wait for
// them; changes in quick succession are announced once. What is registered announces its changes by itself.
func (s *Server) Changed(kind ListKind) {
	switch kind {
	case Tools:
		s.engine.Announce(engine.ToolsChanged, "")
	case Prompts:
		s.engine.Announce(engine.PromptsChanged, "")
	default:
		s.engine.Announce(engine.ResourcesChanged, "")
	}
}

// Shutdown refuses new sessions, ends every subscription with its final result, cancels what runs and closes every
// session. It returns when all have ended, or with the context's error when that ends first.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	handlers := s.handlers
	s.mu.Unlock()
	err := s.engine.Shutdown(ctx)
	for _, h := range handlers {
		err = errors.Join(err, h.Shutdown(ctx))
	}
	return err
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
