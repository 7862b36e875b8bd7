package app

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// Source says where the configuration comes from, so that it can be read anew while the gateway runs.
type Source struct {
	// File is where it stands, as people know it.
	File string

	// Read reads it anew. An error refuses it whole. left says of entries that are left out for want of something that could
	// not be asked for; the others are taken. One call is made at a time.
	Read func(ctx context.Context) (conf *config.Config, left, err error)

	// Watch is how often to look whether the file has changed. Zero means once a second; negative means never. What is new is
	// read when two looks in a row have found it.
	Watch time.Duration

	// Again asks for a reload with each value. Nil means that nobody asks.
	Again <-chan struct{}
}

// follow reads the configuration anew when it has changed, or when somebody asks, until ctx ends.
func (g *gateway) follow(ctx context.Context) {
	from := g.opts.Source
	w := newWatch(from.File, g.conf.Load().Source)
	var look <-chan time.Time
	if from.Watch >= 0 && isFile(from.File) {
		every := from.Watch
		if every == 0 {
			every = lookEvery
		}
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-from.Again:
			w.accept()
			g.reload(ctx, w)
		case <-look:
			if g.policy.Refresh() {
				g.bridges((*bridge.Bridge).Changed)
			}
			switch w.look() {
			case sightNew:
				g.reload(ctx, w)
			case sightMissing:
				g.say.line("rialto: %s is not there any more; what was read before stays in use", from.File)
			}
		}
	}
}

// isFile tells whether something can be read more than once, and without waiting for a writer.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// reload reads the configuration anew. One with a mistake changes nothing.
func (g *gateway) reload(ctx context.Context, w *watch) {
	from := g.opts.Source
	if info, err := os.Stat(from.File); err == nil && !info.Mode().IsRegular() {
		g.say.line("rialto: %s is no regular file, so it cannot be read again", from.File)
		return
	}
	next, left, err := from.Read(ctx)
	switch {
	case ctx.Err() != nil, err != nil && w.moved(): // it is being written: the next looks find what it says in the end
		return
	case err != nil:
		g.say.line("%v\nrialto: %s was not taken into use; what was read before stays", err, from.File)
		return
	case left != nil:
		g.say.line("%v", left)
		if kept := next.Keep(g.conf.Load(), left); kept != nil {
			g.say.line("rialto: the secrets of these could not be asked for, so they go on with those they have: %s", strings.Join(kept, ", "))
		}
	}
	g.take(ctx, next)
}

// take puts another configuration into use.
func (g *gateway) take(ctx context.Context, next *config.Config) {
	if l := g.swap(ctx, next); l != nil && g.opts.Stdio == nil { // whose caller has no name
		g.dismiss(ctx, l)
	}
}

// swap is take but for what those have open who may not call any more, by the lock that it answers; nil where there is no other.
func (g *gateway) swap(ctx context.Context, next *config.Config) *lock {
	to, err := g.destination(ctx, next)
	if err != nil {
		g.untaken(ctx, err)
		return nil
	}
	g.say.turn.Lock() // what becomes of servers is told after what was done with them
	defer g.say.turn.Unlock()
	g.say.hold()
	defer g.say.release()
	old := g.conf.Load()
	fitting, err := g.fitting(next, to)
	if err != nil {
		g.untaken(ctx, err)
		return nil
	}
	log, err := g.audit.Prepare(auditOf(next))
	if err != nil {
		g.untaken(ctx, err)
		return nil
	}
	moved, err := g.moveTo(ctx, to) // before anything else of the file is in use
	if err != nil {
		log.Drop()
		g.untaken(ctx, err)
		return nil
	}
	var changes manager.Changes
	err = g.reloadFronts(next, func() (err error) {
		g.set.Limit(limitsOf(next))
		g.set.LimitPool(poolOf(next))
		g.set.Tune(next.Tunings())
		g.roots.Set(next.RootsByServer())
		g.conf.Store(next) // what is connected from now on is connected as it says
		if changes, err = g.set.ReloadAnew(next.Servers, others(old, next)); err != nil {
			g.conf.Store(old)
			g.roots.Set(old.RootsByServer())
			g.set.Limit(limitsOf(old))
			g.set.LimitPool(poolOf(old))
			g.set.Tune(old.Tunings())
			return err
		}
		if fitting != nil {
			if fitting.auth == nil { // whom no token keeps out any more, the hosts and origins of the same file do
				g.guard.Allow(next.AllowedHosts, next.AllowedOrigins)
			}
			g.door.lock.Store(fitting)
		}
		return nil
	})
	if err != nil {
		log.Drop()
		err = errors.Join(err, g.drop(ctx, moved))
		if _, undo := g.rules(old, ""); undo != nil { // what servers may ask is not part of the rules of a front
			err = errors.Join(err, undo)
		}
		g.untaken(ctx, err)
		return nil
	}
	g.audit.Take(log)
	g.guard.Allow(next.AllowedHosts, next.AllowedOrigins)
	g.relocate(old, next, to, moved)
	g.say.reloaded(g, old, next, changes) // forgets the misfits that have been told
	g.say.relocated(g, old, next, moved)
	g.misfits(next)
	return fitting
}

// untaken tells why a configuration changes nothing, unless that is that the gateway stops.
func (g *gateway) untaken(ctx context.Context, err error) {
	if ctx.Err() == nil {
		g.say.line("rialto: %s was not taken into use: %v", g.opts.Source.File, err)
	}
}

func limitsOf(c *config.Config) upstream.Limits {
	return upstream.Limits{Connect: c.ConnectTimeout, List: c.ListTimeout, Call: c.CallTimeout, Total: c.TotalTimeout}
}

// rules are what a configuration lays down about all that passes, or about a bundle of it.
func (g *gateway) rules(c *config.Config, bundle string) (bridge.Rules, error) {
	naming, plan := namingOf(c), c.Plan()
	if bundle != "" {
		of := c.Bundles[bundle]
		naming.Mode, plan = cmp.Or(of.Prefix, naming.Mode), plan.Bundle(of.Shows)
	}
	return g.policy.Over(c.Policy, bridge.Rules{
		Naming: naming, Extensions: c.Extensions, Names: plan.Names, Shape: plan.Shape, Serves: plan.Serves, Whole: plan.Whole, Search: c.Search, Steps: append(g.observed(), plan.Step, g.desk.Step), OnTask: g.seen.Task,
	})
}

// namingOf leaves out the aliases of servers that take no part.
func namingOf(c *config.Config) route.Naming {
	n := c.Naming
	n.Aliases = maps.Clone(n.Aliases)
	names := enabled(c.Servers)
	maps.DeleteFunc(n.Aliases, func(server, _ string) bool { return !slices.Contains(names, server) })
	return n
}

// enabled names the servers that take part.
func enabled(servers []manager.Server) (names []string) {
	for _, s := range servers {
		if !s.Disabled {
			names = append(names, s.Name)
		}
	}
	return names
}
