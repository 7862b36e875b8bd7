// Command gosdk is the echo server on the official Go SDK.
// Flags: -addr HOST:PORT (none: standard input and output), -stateful (legacy sessions).
package main

import (
	"github.com/rialto-mcp/rialto/bench/internal/gosdk"
	"github.com/rialto-mcp/rialto/bench/internal/serve"
)

func main() {
	serve.Main(serve.Server{HTTP: gosdk.Handler, Stdio: gosdk.RunStdio})
}
