package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/app"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/manager"
)

// source lets the gateway read its file anew: when it changes, unless that is not wanted, and at SIGHUP. The context that comes
// back ends when the terminal that the program was started on has gone. stop ends all of that.
func (g *gatewayCommand) source(ctx context.Context, e *environment, in *inputs) (source *app.Source, until context.Context, stop func()) {
	again := make(chan struct{}, 1)
	source = &app.Source{
		File: g.Config, Again: again,
		Read: func(ctx context.Context) (*config.Config, error, error) { return g.again(ctx, in) },
	}
	if g.NoWatch {
		source.Watch = -1
	}
	until, cancel := context.WithCancel(ctx)
	heard, deaf := (<-chan os.Signal)(nil), func() {}
	if e.hangups != nil {
		heard, deaf = e.hangups()
	}
	done := make(chan struct{})
	go func() { // ends with until; stop waits
		defer close(done)
		for {
			select {
			case <-until.Done():
				return
			case <-heard:
			}
			if e.deserted() { // the same signal says that a terminal was closed
				cancel()
				return
			}
			select {
			case again <- struct{}{}:
			default: // one is due already
			}
		}
	}()
	return source, until, func() {
		deaf()
		cancel()
		<-done
	}
}

// again reads the file while the gateway runs. Nobody is asked, but what was answered before still counts. Entries that want
// something else, or that a store has nothing for, are left out; any other mistake refuses the file.
func (g *gatewayCommand) again(ctx context.Context, in *inputs) (conf *config.Config, left, err error) {
	in.console, in.missing = nil, nil
	conf, err = g.readWith(ctx, in, g.Config, nil)
	var mistakes *manager.ConfigErrors
	switch {
	case err == nil:
		return conf, nil, nil
	case conf == nil, conf.RequireAll, !errors.As(err, &mistakes), mistakes.More > 0:
		return nil, nil, err
	}
	for _, m := range mistakes.List {
		if m.Store == "" && !slices.ContainsFunc(in.missing, func(text string) bool { return strings.HasSuffix(m.Text, text) }) {
			return nil, nil, err
		}
	}
	return conf, err, nil
}

// terminals are those of some files that are terminals now.
func terminals(files ...*os.File) (out []*os.File) {
	for _, f := range files {
		if isTerminal(f) {
			out = append(out, f)
		}
	}
	return out
}
