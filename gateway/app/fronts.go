package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/demo"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// reloadDrain is how long a bundle or an address that was taken out may finish what is under way there.
const reloadDrain = 30 * time.Second

// front is one server that clients see: everything behind the gateway, or a bundle of it. Each has a bridge of its own, with its
// own lists and names, over the connections that all of them share.
type front struct {
	bundle string // "" is everything
	title  string
	server *server.Server
	bridge *bridge.Bridge   // nil for the demonstration
	window *upstream.Window // likewise

	endpoint, sse http.Handler // behind the door; nil on stdio
}

// placeOf is where a front is served over HTTP.
func placeOf(bundle string) place {
	if bundle == "" {
		return atEndpoint
	}
	return place{below: true, path: "/" + bundle}
}

// placeOfSSE is where clients of HTTP+SSE find it.
func placeOfSSE(bundle string) place {
	if bundle == "" {
		return place{path: ssePath}
	}
	return place{below: true, path: "/" + bundle + ssePath}
}

// path is the path of a front now.
func (g *gateway) path(bundle string) string { return placeOf(bundle).of(g.conf.Load().Path) }

// raise makes a front of the servers as they are now. It is not served yet.
func (g *gateway) raise(c *config.Config, bundle string) (*front, error) {
	of := c.Bundles[bundle]
	f, o := &front{bundle: bundle, title: of.Title}, g.options
	info := mcp.Implementation{Name: "rialto", Title: "Rialto gateway", Version: g.opts.Version}
	onNotes := g.say.names
	if bundle != "" {
		info.Title = cmp.Or(of.Title, "Rialto gateway: "+bundle)
		o.Instructions = of.Instructions
		onNotes = nil // the names of the whole are told
	}
	if g.set == nil {
		f.server = demo.Server(g.opts.Version, o)
	} else {
		rules, err := g.rules(c, bundle)
		if err != nil {
			return nil, err
		}
		f.window = g.set.Window()
		f.bridge, err = bridge.New(info, g.policy.Asking(f.window), bridge.Options{Rules: rules, StartWait: g.begun.StartWait, Server: o, Logger: o.Logger, OnNotes: onNotes})
		if err != nil {
			f.window.Close()
			return nil, err
		}
		f.server = f.bridge.Server()
	}
	if g.opts.Stdio == nil {
		f.endpoint = g.door.guard(placeOf(bundle), f.server.Handler())
		f.sse = g.door.guard(placeOfSSE(bundle), anywhere{f.server.SSEHandler()})
	}
	return f, nil
}

// raiseAll makes the fronts that the run begins with.
func (g *gateway) raiseAll() error {
	if name := g.opts.Bundle; name != "" || g.opts.Stdio != nil && !g.begun.ServeAll {
		if _, ok := g.begun.Bundles[name]; !ok {
			return unknownBundle(name, g.begun)
		}
	}
	var all []*front
	for _, name := range append([]string{""}, slices.Sorted(maps.Keys(g.begun.Bundles))...) {
		f, err := g.raise(g.begun, name)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	g.fronts.Store(&all)
	return nil
}

func unknownBundle(name string, c *config.Config) error {
	if name == "" {
		return fmt.Errorf("the configuration serves its bundles alone, by \"serveAll\"; name one with --bundle: it has %s", sentence(slices.Sorted(maps.Keys(c.Bundles))))
	}
	if len(c.Bundles) == 0 {
		return fmt.Errorf("there is no bundle %q: the configuration has none", name)
	}
	return fmt.Errorf("there is no bundle %q; the configuration has %s", name, sentence(slices.Sorted(maps.Keys(c.Bundles))))
}

// all gives the fronts, that of everything first. It must not be changed.
func (g *gateway) all() []*front {
	if all := g.fronts.Load(); all != nil {
		return *all
	}
	return nil
}

// find gives a front by its bundle; nil where there is none.
func (g *gateway) find(bundle string) *front {
	for _, f := range g.all() {
		if f.bundle == bundle {
			return f
		}
	}
	return nil
}

// bridges calls do for each bridge, those of bundles that have been taken out and still have calls included.
func (g *gateway) bridges(do func(*bridge.Bridge)) {
	for _, f := range g.all() {
		if f.bridge != nil {
			do(f.bridge)
		}
	}
	g.leaving.Range(func(f, _ any) bool {
		do(f.(*front).bridge)
		return true
	})
}

// reloadFronts takes the rules of another configuration into use for all fronts, and other servers, which swap puts in place: each
// front changes both at one moment. Bundles that are new are raised, and those that are gone are let go. An error changes nothing.
func (g *gateway) reloadFronts(next *config.Config, swap func() error) error {
	names := enabled(next.Servers)
	if own := g.opts.Bundle; own != "" {
		if _, ok := next.Bundles[own]; !ok {
			return fmt.Errorf("it has no bundle %q, which is what this gateway serves", own)
		}
	}
	rules := make(map[string]bridge.Rules)
	for _, bundle := range append([]string{""}, slices.Sorted(maps.Keys(next.Bundles))...) {
		of, err := g.rules(next, bundle)
		if err == nil {
			err = of.Naming.Validate(names)
		}
		if err != nil {
			return err
		}
		rules[bundle] = of
	}
	var kept, gone []*front
	for _, f := range g.all() {
		if _, ok := next.Bundles[f.bundle]; ok || f.bundle == "" {
			kept = append(kept, f)
		} else {
			gone = append(gone, f)
		}
	}
	run := swap
	for _, f := range kept { // each within the next, so that an error of any changes none
		inner := run
		run = func() error { return f.bridge.Reload(rules[f.bundle], names, inner) }
	}
	if err := run(); err != nil {
		return err
	}
	g.publish(next, kept)
	for _, f := range gone {
		g.door.forget(placeOf(f.bundle), placeOfSSE(f.bundle))
		g.leaving.Store(f, nil)
		g.retiring.Go(func() { g.retire(f) }) // ends by itself after reloadDrain, and with the gateway, which waits
	}
	return nil
}

// publish puts the fronts of a configuration in place of those before.
func (g *gateway) publish(next *config.Config, kept []*front) {
	all := slices.Clone(kept)
	for _, f := range kept {
		of := next.Bundles[f.bundle]
		f.server.SetPageSize(next.PageSize)
		f.server.SetInstructions(of.Instructions)
		if of.Title != f.title {
			g.say.line("rialto: the title of the bundle %q waits for the next start", f.bundle)
		}
	}
	g.options.PageSize = next.PageSize
	for bundle := range next.Bundles {
		if slices.ContainsFunc(kept, func(f *front) bool { return f.bundle == bundle }) {
			continue
		}
		f, err := g.raise(next, bundle)
		if err != nil { // its rules were looked at before
			g.say.line("rialto: the bundle %q cannot be served: %v", bundle, err)
			continue
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *front) int { return cmp.Compare(a.bundle, b.bundle) })
	g.fronts.Store(&all)
	for _, f := range all {
		if !slices.Contains(kept, f) {
			f.bridge.Changed() // what has changed since it was raised was told to the others alone
		}
	}
}

// retire lets the calls of a bundle end that is served no longer.
func (g *gateway) retire(f *front) {
	ctx, cancel := context.WithTimeout(g.running, reloadDrain)
	defer cancel()
	if err := f.server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		g.say.line("rialto: while the bundle %q was taken out: %v", f.bundle, err)
	}
	f.close()
	g.leaving.Delete(f)
}

// close ends what a front has under way. It belongs after the shutdown of its server.
func (f *front) close() {
	if f.bridge != nil {
		f.bridge.Close()
		f.window.Close()
	}
}
