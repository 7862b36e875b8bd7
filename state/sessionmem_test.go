package state_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/state/statetest"
)

// bubble is the world of what lives in memory: time stands still until everybody waits.
var bubble = statetest.World{Run: synctest.Test, Tick: time.Minute}

func TestMemorySessions(t *testing.T) {
	statetest.Sessions(t, bubble, func(t *testing.T, limits state.SessionLimits) (a, b state.SessionStore) {
		m := state.NewMemorySessions(limits)
		t.Cleanup(func() { m.Close() })
		return m, m
	})
}
