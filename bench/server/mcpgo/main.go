// Command mcpgo is the echo server on mcp-go.
// Flags: -addr HOST:PORT (none: standard input and output), -stateful (legacy sessions).
package main

import (
	"github.com/rialto-mcp/rialto/bench/internal/mcpgo"
	"github.com/rialto-mcp/rialto/bench/internal/serve"
)

func main() {
	serve.Main(serve.Server{HTTP: mcpgo.Handler, Stdio: mcpgo.RunStdio})
}
