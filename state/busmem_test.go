package state_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/state/statetest"
)

func TestMemoryBus(t *testing.T) {
	statetest.Bus(t, bubble, func(t *testing.T, limits state.BusLimits) (a, b state.Bus) {
		m := state.NewMemoryBus(limits)
		t.Cleanup(func() { m.Close() })
		return m, m
	})
}
