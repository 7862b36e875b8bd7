package app

import (
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// sharing is how the connections to a server are shared.
func (g *gateway) sharing(server string) upstream.Sharing {
	return upstream.Sharing{Share: g.conf.Load().PerServer[server].Share}
}

func poolOf(c *config.Config) upstream.PoolLimits {
	return upstream.PoolLimits{Most: c.Pool.Most, Each: c.Pool.Each, Idle: c.Pool.Idle}
}
