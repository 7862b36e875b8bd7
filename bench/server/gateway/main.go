// Command gateway is Rialto's gateway in front of a server.
// Flags: -addr HOST:PORT, -upstream URL.
package main

import (
	"github.com/rialto-mcp/rialto/bench/internal/front"
	"github.com/rialto-mcp/rialto/bench/internal/serve"
)

func main() { serve.Between(front.Gateway) }
