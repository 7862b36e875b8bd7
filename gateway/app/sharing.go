package app

import (
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/upstream"
)

func poolOf(c *config.Config) upstream.PoolLimits {
	return upstream.PoolLimits{Most: c.Pool.Most, Each: c.Pool.Each, Share: c.Pool.Share, Idle: c.Pool.Idle}
}
