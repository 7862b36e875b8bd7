package state_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/state/statetest"
)

func TestMemoryLog(t *testing.T) {
	statetest.Log(t, bubble, func(t *testing.T, limits state.LogLimits) (a, b state.EventLog) {
		m := state.NewMemoryLog(limits)
		t.Cleanup(func() { m.Close() })
		return m, m
	})
}
