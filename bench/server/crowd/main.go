// Command crowd is the echo server on Rialto for very many open streams: it can be told to change, and counts its goroutines.
// Flags as those of the other servers.
package main

import (
	"github.com/rialto-mcp/rialto/bench/internal/rialto"
	"github.com/rialto-mcp/rialto/bench/internal/serve"
)

func main() {
	serve.Main(serve.Server{HTTP: rialto.Crowd, Stdio: rialto.RunStdio})
}
