package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/gateway/config"
)

// move is a change of the address over HTTP that a reload brings: the new one is open, so that nothing can fail any more, and is
// not served before all the rest has changed.
type move struct {
	from, to *address
	handed   bool // from was closed first
}

// destination is where another configuration has the gateway listen. The command line has the last word.
func (g *gateway) destination(ctx context.Context, next *config.Config) (target, error) {
	if g.at == nil {
		return target{}, nil
	}
	asked := cmp.Or(g.opts.Listen, next.Listen)
	if asked == g.at.asked {
		return g.at.target, nil // a name may mean something else by now, which nobody has asked for
	}
	to, err := resolve(ctx, asked)
	if err != nil {
		return target{}, refusedListen(asked, err)
	}
	return to, nil
}

// moveTo opens another address. The answer is taken or dropped; it is nil where nothing has to be opened.
func (g *gateway) moveTo(ctx context.Context, t target) (*move, error) {
	from := g.at
	if from == nil || t.is(from) {
		return nil, nil
	}
	to, err := g.bind(ctx, t)
	if err == nil {
		return &move{from: from, to: to}, nil
	}
	if !t.covers(from) {
		return nil, refusedListen(t.asked, err)
	}
	if err := from.pause(); err != nil { // it is closed all the same
		g.say.line("rialto: while %s was closed: %v", from.at(), err)
	}
	if to, err = g.bind(ctx, t); err != nil {
		return nil, errors.Join(refusedListen(t.asked, err), g.restore(ctx, from))
	}
	return &move{from, to, true}, nil
}

// refusedListen is the error of an address that cannot be opened.
func refusedListen(asked string, err error) error {
	return fmt.Errorf("gateway.listen: cannot listen on %s: %w; choose an address of this machine that nothing else has", asked, err)
}

// restore opens an address again that was closed for another. A gateway that cannot be reached any more ends.
func (g *gateway) restore(ctx context.Context, a *address) error {
	err := g.resume(context.WithoutCancel(ctx), a)
	if err != nil {
		g.fail(err)
	}
	return err
}

// drop gives up what was opened.
func (g *gateway) drop(ctx context.Context, m *move) error {
	if m == nil {
		return nil
	}
	err := m.to.listener.Close()
	if m.handed {
		err = errors.Join(err, g.restore(ctx, m.from))
	}
	return err
}

// relocate puts into use where another configuration has the gateway. What came by another path, or at another address, goes on.
func (g *gateway) relocate(old, next *config.Config, to target, m *move) {
	if g.at == nil {
		return
	}
	if next.Path != old.Path {
		g.routes.Store(g.handler(next.Path))
	}
	if m == nil {
		g.at.target = to // which may be other words for the same
		return
	}
	g.at = m.to
	g.address.Store(m.to.at())
	g.serve(m.to)
	g.leave(m.from)
}
