package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// A single call may ask for a list to be kept although the client keeps none by itself.
func TestCacheFloorOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(legacy(hinted("")))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		list := func(floor time.Duration, want int) {
			t.Helper()
			_, err := c.ListTools(t.Context(), nil, client.CallOptions{CacheFloor: floor})
			must(t, err)
			if got := p.asked("tools/list"); got != want {
				t.Errorf("asked %d times, want %d", got, want)
			}
		}
		list(0, 1)
		list(30*time.Second, 2)
		time.Sleep(30*time.Second - 1)
		list(30*time.Second, 2)
		list(0, 3)
		time.Sleep(time.Nanosecond)
		list(30*time.Second, 4)
	})
}
