// Command bare is the bare limit: net/http and JSON, and nothing that an SDK adds.
// Flags: -addr HOST:PORT (none: standard input and output), -stateful (legacy sessions).
package main

import (
	"github.com/rialto-mcp/rialto/bench/internal/bare"
	"github.com/rialto-mcp/rialto/bench/internal/serve"
)

func main() {
	serve.Main(serve.Server{HTTP: bare.Handler, Stdio: bare.RunStdio})
}
