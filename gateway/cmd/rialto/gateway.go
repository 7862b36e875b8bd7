package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"

	"github.com/rialto-mcp/rialto/gateway/app"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// gatewayCommand runs the gateway.
type gatewayCommand struct {
	Config string `placeholder:"FILE" help:"Configuration with \"mcpServers\" (or \"servers\"). Without it the built-in demonstration server is served."`

	serving
	Bundle  string `placeholder:"NAME" help:"With --stdio, serve this bundle of the configuration instead of everything."`
	NoWatch bool   `help:"Do not read the file anew when it changes while the gateway runs."`
	fileFlags
}

// serving are the flags that say where to serve.
type serving struct {
	Listen   string `placeholder:"HOST:PORT" help:"Address for HTTP, instead of the configured one or 127.0.0.1:8421."`
	Insecure bool   `help:"Let everybody call who can reach the address, also from other machines. Who may call is better said in the configuration, with gateway.auth."`
	Stdio    bool   `help:"Serve standard input and output instead of HTTP."`

	LogLevel  string `enum:"debug,info,warn,error" default:"warn" placeholder:"LEVEL" help:"The least that is logged on standard error: debug, info, warn or error. Debug has a record for each request."`
	LogFormat string `enum:"text,json" default:"text" placeholder:"FORMAT" help:"How: text, or json for one object a line."`
}

func (g *gatewayCommand) target() *targeted { return nil }
func (g *gatewayCommand) shift()            {}

func (g *gatewayCommand) do(ctx context.Context, e *environment) error {
	opts := app.Options{Stderr: e.stderr, Version: programVersion(), Tokens: e.kept()}
	if err := g.check(); err != nil {
		return err
	}
	switch opts.Bundle = g.Bundle; {
	case g.Bundle != "" && !g.Stdio:
		return usage("--bundle is for --stdio; over HTTP every bundle has an address of its own, such as http://127.0.0.1:8421/mcp/%s", g.Bundle)
	case g.Bundle != "" && g.Config == "":
		return usage("--bundle %s names a part of a configuration; give that with --config", g.Bundle)
	}
	if g.Config != "" {
		in, err := g.inputs(e, g.console(e))
		if err != nil {
			return err
		}
		if opts.Config, err = g.config(ctx, e, in); err != nil {
			return err
		}
		var stop func()
		opts.Source, ctx, stop = g.source(ctx, e, in)
		defer stop()
	}
	return g.serve(ctx, opts)
}

// check refuses flags that make no sense.
func (l *serving) check() error {
	if l.Listen == "" {
		return nil
	}
	if l.Stdio {
		return usage("--listen and --stdio exclude each other")
	}
	_, port, err := net.SplitHostPort(l.Listen)
	if err != nil {
		return usage("--listen %q is not of the form HOST:PORT, such as 127.0.0.1:8421", l.Listen)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return usage("--listen %q: the port must be a number from 0 to 65535", l.Listen)
	}
	return nil
}

// serve runs a gateway until it is stopped.
func (l *serving) serve(ctx context.Context, opts app.Options) error {
	opts.Listen, opts.Insecure = l.Listen, l.Insecure
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.LogLevel)); err != nil {
		return usage("--log-level %q is not known; write debug, info, warn or error", l.LogLevel)
	}
	opts.Log = app.Log{Level: level, JSON: l.LogFormat == "json"}
	err := l.run(ctx, opts)
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	f := &failure{exit: exitUsage, step: "run the gateway", kind: "gateway", seen: err.Error()}
	var unreachable *app.UnreachableError
	if errors.As(err, &unreachable) {
		f.exit, f.kind = exitUnreachable, "unreachable"
	}
	return f
}

// config reads the file. Entries that are wrong are told of, and the others are served, unless all of them must.
func (g *gatewayCommand) config(ctx context.Context, e *environment, in *inputs) (*config.Config, error) {
	conf, err := g.readFirst(ctx, in, g.Config, nil)
	var known *failure
	switch {
	case err == nil:
		return conf, nil
	case ctx.Err() != nil:
		return nil, interrupted(ctx, err)
	case errors.As(err, &known):
		return nil, err
	case conf == nil, len(conf.Servers) == 0, conf.RequireAll:
		return nil, &failure{exit: exitUsage, step: "read the configuration", kind: "config", seen: err.Error()}
	}
	_, _ = fmt.Fprintln(e.stderr, err) // there is nobody else to tell
	return conf, nil
}

// console is who may be asked; with --stdio nobody, since standard input is the client's.
func (l *serving) console(e *environment) *console {
	if l.Stdio {
		return nil
	}
	return e.console
}

// run serves. On standard output stands nothing but the protocol, whatever else writes there.
func (l *serving) run(ctx context.Context, opts app.Options) error {
	if !l.Stdio {
		return app.Run(ctx, opts)
	}
	out, restore, err := stdio.GuardStdout()
	if err != nil {
		return err
	}
	opts.Stdio = stdio.Open(os.Stdin, out, stdio.Options{})
	return errors.Join(app.Run(ctx, opts), restore())
}
