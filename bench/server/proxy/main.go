// Command proxy is net/http's reverse proxy in front of a server: the limit of what stands between.
// Flags: -addr HOST:PORT, -upstream URL.
package main

import (
	"github.com/rialto-mcp/rialto/bench/internal/front"
	"github.com/rialto-mcp/rialto/bench/internal/serve"
)

func main() { serve.Between(front.Proxy) }
