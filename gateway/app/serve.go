package app

import (
	"context"
	"errors"
	"fmt"
	"net"
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
	err = g.find(g.opts.Bundle).server.Serve(ctx, g.opts.Stdio)
	if ctx.Err() != nil {
		err = nil
	}
	g.stop(nil, end)
	return err
}

// serveHTTP listens and serves until ctx ends.
func (g *gateway) serveHTTP(ctx context.Context) error {
	listener, err := net.Listen("tcp", g.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; is it in use already? choose another with --listen", g.listen, err)
	}
	g.public = !isLoopback(listener.Addr())
	g.address.Store(listener.Addr())
	if err := g.unguarded(g.begun); err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w", g.listen, err), listener.Close())
	}
	end, err := g.begin(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	h := g.web()
	g.say.listening(g, listener.Addr())
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }() // ends with stop, which closes the listener
	select {
	case err = <-served:
	case <-ctx.Done():
		g.say.line("rialto: stopping")
	}
	g.stop(h, end)
	return err
}

// stop drains and stops: no new requests, streams end, then the servers.
func (g *gateway) stop(h *http.Server, end func()) {
	if g.unfollow != nil { // first, so that no bundle comes or goes meanwhile
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
	if h != nil {
		if err := h.Shutdown(ctx); err != nil {
			g.closeHTTP(h)
		}
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
		g.say.line("rialto: while stopping: %v", err)
	}
}
