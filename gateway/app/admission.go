package app

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/config"
)

// admit takes into use what the first configuration says of who may call.
func (g *gateway) admit(c *config.Config) error {
	l, err := g.door.fit(c.Auth)
	if err != nil {
		return fmt.Errorf("gateway.auth: %w", err)
	}
	g.door.lock.Store(l)
	return nil
}

// unguarded is the error of a configuration that would let strangers in.
func (g *gateway) unguarded(c *config.Config) error {
	if !g.public || c.Auth != nil || c.Insecure || g.opts.Insecure {
		return nil
	}
	return errors.New("others on the network could use every server here, since nobody is asked who calls; " +
		"say who may call with gateway.auth in the configuration, listen on 127.0.0.1, or let everybody in with --insecure")
}

// fitting makes what another configuration says of who may call; nil where it says the same.
func (g *gateway) fitting(next *config.Config) (*lock, error) {
	if err := g.unguarded(next); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(g.door.lock.Load().auth, next.Auth) {
		return nil, nil
	}
	l, err := g.door.fit(next.Auth)
	if err != nil {
		return nil, fmt.Errorf("gateway.auth: %w", err)
	}
	return l, nil
}

const verifyTime = 10 * time.Second // for finding out whose a token is

// readTime is how long after a reload a request may begin to run that came before it: its token is looked at, and then its body has
// all of its time.
const readTime = verifyTime + bodyTime + time.Second

// dismiss ends what those have open who may not call any more. What they open with requests that were let in before and have
// not been read yet ends when these must have been.
func (g *gateway) dismiss(ctx context.Context, l *lock) {
	g.dismissNow(l)
	after := time.AfterFunc
	if g.opts.after != nil {
		after = g.opts.after
	}
	late := after(readTime, func() {
		if g.door.lock.Load() == l { // else a later reload sees to it
			g.dismissNow(l)
		}
	})
	context.AfterFunc(ctx, func() { late.Stop() })
}

// dismissNow ends what they have open at clients' end first, so that nothing asks for their connections to servers again.
func (g *gateway) dismissNow(l *lock) {
	g.bridges(func(b *bridge.Bridge) { b.Dismiss(l.gone) })
	if g.set != nil {
		g.desk.Dismiss(l.gone)
		g.set.DismissOwners(l.gone)
	}
}

// callers says in words who may call; "" for everybody.
func callers(a *config.Auth) string {
	if a == nil {
		return ""
	}
	var who []string
	switch n := len(a.Tokens); n {
	case 0:
	case 1:
		who = append(who, "1 token of the configuration")
	default:
		who = append(who, fmt.Sprintf("%d tokens of the configuration", n))
	}
	for _, i := range a.Issuers {
		who = append(who, "tokens of "+i.URL)
	}
	return strings.Join(who, ", ")
}
