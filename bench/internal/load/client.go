package load

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

// Client calls the echo tool through a client from several goroutines at once, and returns the answers a second.
func Client(ctx context.Context, c echo.Caller, atOnce int, duration time.Duration) (float64, error) {
	start := time.Now()
	deadline := start.Add(duration)
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(Grace))
	defer cancel()
	var total atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for i := range atOnce {
		text := fmt.Sprintf("caller %d", i)
		group.Go(func() error {
			for first := true; first || time.Now().Before(deadline); first = false {
				got, err := c.Echo(ctx, text)
				if err != nil {
					return err
				}
				if got != text {
					return fmt.Errorf("the answer to %q was %q", text, got)
				}
				total.Add(1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return float64(total.Load()) / time.Since(start).Seconds(), nil
}
