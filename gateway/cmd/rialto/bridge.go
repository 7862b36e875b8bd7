package main

import (
	"context"

	"github.com/rialto-mcp/rialto/gateway/app"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/manager"
)

// bridgeCommand serves one server on the other kind of transport: a gateway with a single entry.
type bridgeCommand struct {
	targeted
	serving
}

func (c *bridgeCommand) do(ctx context.Context, e *environment) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Era != "auto" {
		return usage("a bridge speaks to its server in whatever era that has; leave --era out")
	}
	if c.Listen == "" { // standard input may be the client's, so nobody is asked there
		quiet := *e
		quiet.console = nil
		e = &quiet
	}
	s, err := c.resolve(ctx, e)
	if err != nil {
		return err
	}
	if c.command != nil || s.URL == c.Target { // no entry of a file: a name that can be shown, and stands in no address
		s.Name = "server"
	}
	if c.Listen == "" && s.Transport != manager.Stdio {
		c.Stdio = true // the other kind
	}
	conf := config.Default()
	conf.Policy.Ask.All = policy.Asking{} // one server alone asks as it would without the bridge
	conf.Naming.Mode = route.Never
	conf.Servers = []manager.Server{s}
	if c.Timeout > 0 {
		conf.ConnectTimeout, conf.ListTimeout, conf.CallTimeout = c.Timeout, c.Timeout, c.Timeout
	}
	return c.serve(ctx, app.Options{Config: conf, Stderr: e.stderr, Version: programVersion(), Tokens: e.kept()})
}
