package client_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	rialto "github.com/rialto-mcp/rialto/server"
)

// TestStateful holds that a connection says whether its server keeps what the client has told it.
func TestStateful(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			c := wire.Dial(t, rialto.New(mcp.Implementation{Name: "s", Version: "1"}, rialto.Options{}))
			stateful := c.Stateful()
			if stateful == wire.Modern {
				t.Errorf("stateful: %v", stateful)
			}
		})
	}
}
