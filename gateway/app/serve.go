package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Time limits of stopping. Together they stay below three seconds.
const (
	drainTime = time.Second            // for clients: streams end, answers leave
	closeTime = 300 * time.Millisecond // beyond that, for handlers that do not end
)

// serveStdio serves one connection until it or ctx ends.
func (g *gateway) serveStdio(ctx context.Context) error {
	end, err := g.begin(ctx)
	if err != nil {
		return errors.Join(err, g.opts.Stdio.Close())
	}
	what := ""
	if g.opts.Bundle != "" {
		what = "the bundle " + g.opts.Bundle + " "
	}
	g.say.line("rialto %s: serving %son standard input and output", g.opts.Version, what)
	g.attend(ctx)
	err = g.find(g.opts.Bundle).server.Serve(ctx, g.opts.Stdio)
	if ctx.Err() != nil {
		err = nil
	}
	g.stop(end)
	return err
}

// serveHTTP listens and serves until ctx ends.
func (g *gateway) serveHTTP(ctx context.Context) error {
	asked := cmp.Or(g.opts.Listen, g.begun.Listen)
	to, err := resolve(ctx, asked)
	if err == nil {
		g.at, err = g.bind(ctx, to)
	}
	if err != nil {
		return fmt.Errorf("listen on %s: %w; is it in use already? choose another with --listen", asked, err)
	}
	g.address.Store(g.at.at())
	if err := g.unguarded(g.begun, to); err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w", asked, err), g.at.listener.Close())
	}
	end, err := g.begin(ctx)
	if err != nil {
		return errors.Join(err, g.at.listener.Close())
	}
	g.routes.Store(g.handler(g.begun.Path))
	g.serve(g.at)
	g.say.listening(g)
	g.attend(ctx)
	select {
	case err = <-g.failed:
	case <-ctx.Done():
		g.say.line("rialto: stopping")
	}
	g.stop(end)
	return err
}

// stop drains and stops: no new requests, streams end, then the servers.
func (g *gateway) stop(end func()) {
	if g.unfollow != nil { // first, so that no bundle and no address comes or goes meanwhile
		g.unfollow()
		g.following.Wait()
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	ended := make(chan struct{})
	var closing sync.WaitGroup
	for _, f := range g.all() {
		closing.Go(func() { // waited for below
			if err := f.server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				g.say.line("rialto: while stopping: %v", err)
			}
		})
	}
	go func() { // likewise
		defer close(ended)
		closing.Wait()
	}()
	if g.at != nil {
		if err := g.at.web.Shutdown(ctx); err != nil {
			g.closeHTTP(g.at.web)
		}
		<-g.at.ended // a reload may have begun to serve it just now
	}
	select {
	case <-ended:
	case <-ctx.Done():
		select {
		case <-ended:
		case <-time.After(closeTime):
		}
	}
	g.halt()
	g.retiring.Wait()
	for _, f := range g.all() {
		f.close()
	}
	end()
}

// closeHTTP cuts the connections of clients that have not gone.
func (g *gateway) closeHTTP(h *http.Server) {
	if err := h.Close(); err != nil {
		g.say.line("rialto: while connections were closed: %v", err)
	}
}
