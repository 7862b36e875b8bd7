package streamhttp

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/transport"
)

// TestPause: longer with each failure, never beyond the limit, and as the server wants within reason.
func TestPause(t *testing.T) {
	cases := []struct {
		retry       time.Duration
		failed      int
		least, most time.Duration
	}{
		{0, 0, time.Second, 1250 * time.Millisecond},
		{0, 1, 1500 * time.Millisecond, 1880 * time.Millisecond},
		{0, 1 << 40, 30 * time.Second, 38 * time.Second},
		{time.Millisecond, 0, 100 * time.Millisecond, 104 * time.Millisecond},
		{3 * time.Second, 0, 3 * time.Second, 3100 * time.Millisecond},
		{3 * time.Second, 1, 3 * time.Second, 4 * time.Second},
		{24 * time.Hour, 0, 5 * time.Minute, 310 * time.Second},
	}
	synctest.Test(t, func(t *testing.T) {
		for _, c := range cases {
			client, _, err := NewClient("http://x/", engine.New(&desk{}, engine.Options{}), ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := client.pause(t.Context(), c.retry, c.failed); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took < c.least || took > c.most {
				t.Errorf("retry %s, failure %d: waited %s", c.retry, c.failed, took)
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			if err := client.pause(client.ctx, 0, 0); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		}
	})
}
