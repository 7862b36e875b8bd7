package compose

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// Options configures a Composition. The zero value is ready to use.
type Options struct {
	// Rules say what of the parts is shown, and what is done with each request.
	Rules bridge.Rules

	// Server is what the front is built with; see [bridge.Options].
	Server server.Options

	// Client is what connections to the parts are opened with.
	Client client.Options

	// Limits and Sharing are those of [upstream.Options].
	Limits  upstream.Limits
	Sharing func(server string) upstream.Sharing

	// OnState is called at each change of the state of a part. Nil means silence.
	OnState func(upstream.Status)

	// Logger receives what goes wrong and no client is told. Nil means silence.
	Logger *slog.Logger
}

// Part is one server of a composition.
type Part struct {
	entry manager.Server
	local *server.Server // nil for one elsewhere
}

// Local is a server of this program, under a name of its own. It is called in memory, and stays the caller's: it may be served
// elsewhere too, and is not shut down with the composition.
func Local(name string, s *server.Server) Part {
	return Part{entry: manager.Server{Name: name}, local: s}
}

// Remote is a server by address or command, as a configuration file has it.
func Remote(entry manager.Server) Part { return Part{entry: entry} }

// Composition is several servers behind one. Its methods may be called concurrently.
type Composition struct {
	set    *upstream.Set
	bridge *bridge.Bridge
	locals map[string]*server.Server

	serving sync.WaitGroup // of connections to local servers
}

// New connects to the parts and makes one server of them. It does not wait for them: requests of the first clients do, for a
// moment. It fails when two parts have one name, and when the naming of the rules does not fit them.
func New(info mcp.Implementation, o Options, parts ...Part) (*Composition, error) {
	c := &Composition{locals: make(map[string]*server.Server)}
	var entries []manager.Server
	for _, p := range parts {
		entries = append(entries, p.entry)
		if p.local != nil {
			c.locals[p.entry.Name] = p.local
		}
	}
	if o.Client.Info.Name == "" {
		o.Client.Info = info
	}
	roots := &upstream.Roots{}
	away := upstream.Dialing(o.Client, roots)
	c.set = upstream.New(entries, upstream.Options{
		Dial: func(ctx context.Context, entry manager.Server) (upstream.Conn, error) {
			if s := c.locals[entry.Name]; s != nil {
				return c.inside(ctx, s, o.Client)
			}
			return away(ctx, entry)
		},
		Roots: roots, Limits: o.Limits, Sharing: o.Sharing, OnState: o.OnState, Logger: o.Logger,
		OnChange:    func() { c.bridge.Changed() },
		OnUpdate:    func(server, uri string) { c.bridge.Updated(server, uri) },
		OnTask:      func(server, id string) { c.bridge.TaskChanged(server, id) },
		OnOwnChange: func(owner *upstream.Owner, lists upstream.Kinds) { c.bridge.OwnChanged(owner, lists) },
		OnOwnUpdate: func(owner *upstream.Owner, server, uri string) { c.bridge.OwnUpdated(owner, server, uri) },
	})
	var err error
	if c.bridge, err = bridge.New(info, c.set, bridge.Options{Rules: o.Rules, Server: o.Server, Logger: o.Logger}); err != nil {
		c.set.Close()
		return nil, fmt.Errorf("compose servers: %w", err)
	}
	c.set.Start()
	return c, nil
}

// inside opens a connection to a server of this program. The server's end of it ends with it.
func (c *Composition) inside(ctx context.Context, s *server.Server, o client.Options) (upstream.Conn, error) {
	near, far := transport.Pair(0)
	c.serving.Go(func() { // ends with near; Close waits
		if err := s.Serve(context.WithoutCancel(ctx), far); err != nil {
			_ = far.Close() // so that near does not wait for a server that has been shut down
		}
	})
	conn, err := upstream.Open(o, func(o client.Options) (*client.Client, error) { return client.Connect(ctx, near, o) })
	if err != nil {
		return nil, errors.Join(err, near.Close())
	}
	return conn, nil
}

// Server is the front, to be served.
func (c *Composition) Server() *server.Server { return c.bridge.Server() }

// Snapshots gives the parts as they are now, in their order.
func (c *Composition) Snapshots() []upstream.Snapshot { return c.set.Snapshots() }

// Close shuts the front down, as [server.Server.Shutdown] does, and ends the connections to the parts, and programs that were
// started for them. It may be called twice.
func (c *Composition) Close(ctx context.Context) error {
	err := c.bridge.Server().Shutdown(ctx)
	c.bridge.Close()
	c.set.Close()
	c.serving.Wait()
	return err
}
