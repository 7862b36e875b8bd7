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
	l, err := g.door.fit(c, g.open(c))
	if err != nil {
		return fmt.Errorf("gateway.auth: %w", err)
	}
	g.door.lock.Store(l)
	return nil
}

// open tells whether everybody may call who can reach the gateway, where callers have no names.
func (g *gateway) open(c *config.Config) bool { return c.Insecure || g.opts.Insecure }

// unguarded is the error of a configuration that would let strangers in at an address.
func (g *gateway) unguarded(c *config.Config, at target) error {
	if !at.public() || c.Auth != nil || g.open(c) {
		return nil
	}
	return errors.New("others on the network could use every server here, since nobody is asked who calls; " +
		"say who may call with gateway.auth in the configuration, listen on 127.0.0.1, or let everybody in with --insecure")
}

// fitting makes what another configuration, at the address that it has, says of who may call and where; nil where it says the
// same.
func (g *gateway) fitting(next *config.Config, at target) (*lock, error) {
	if err := g.unguarded(next, at); err != nil {
		return nil, err
	}
	now, open := g.door.lock.Load(), g.open(next)
	if reflect.DeepEqual(now.auth, next.Auth) && now.path == next.Path && now.open == open {
		return nil, nil
	}
	l, err := g.door.fit(next, open)
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
