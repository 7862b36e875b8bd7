// Command server is the echo server on Rialto.
// Flags: -addr HOST:PORT (none: standard input and output), -stateful (legacy sessions).
package main

import (
	"github.com/rialto-mcp/rialto/bench/internal/rialto"
	"github.com/rialto-mcp/rialto/bench/internal/serve"
)

func main() {
	serve.Main(serve.Server{HTTP: rialto.Handler, Stdio: rialto.RunStdio})
}
