package rows

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/child"
	"github.com/rialto-mcp/rialto/bench/internal/load"
)

// memoryMeter starts a fresh server for each measurement, since a used heap would hide what new streams take.
type memoryMeter struct {
	lab     *Lab
	program string
	legacy  bool
}

// memoryRow measures open streams: GET streams with the legacy session they belong to, or modern subscriptions.
func memoryRow(legacy bool) opener {
	return func(_ context.Context, lab *Lab, p Peer) (meter, error) {
		return &memoryMeter{lab: lab, program: lab.programs[p.server], legacy: legacy}, nil
	}
}

func (m *memoryMeter) close() error { return nil }

func (m *memoryMeter) measure(ctx context.Context) (perStream float64, err error) {
	server, err := child.StartHTTP(m.program, m.legacy)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := m.warm(ctx, server.Addr); err != nil {
		return 0, err
	}
	before, err := settledRSS(ctx, server.PID())
	if err != nil {
		return 0, err
	}
	streams, err := m.openStreams(ctx, server.Addr, m.lab.Streams)
	if err != nil {
		return 0, err
	}
	defer streams.Close()
	after, err := settledRSS(ctx, server.PID())
	return float64(after-before) / float64(m.lab.Streams), err
}

// warm opens and closes a few streams, so that what a server loads once is not counted.
func (m *memoryMeter) warm(ctx context.Context, addr string) error {
	streams, err := m.openStreams(ctx, addr, 10)
	if err != nil {
		return err
	}
	streams.Close()
	return nil
}

func (m *memoryMeter) openStreams(ctx context.Context, addr string, n int) (*load.Streams, error) {
	if !m.legacy {
		return load.OpenListens(ctx, addr, n)
	}
	sessions, err := load.OpenSessions(ctx, addr, n)
	if err != nil {
		return nil, err
	}
	return load.OpenGets(ctx, addr, sessions)
}

// settledRSS waits until two readings a quarter of a second apart agree within half a percent, three seconds at most.
func settledRSS(ctx context.Context, pid int) (int64, error) {
	last, err := child.RSS(pid)
	for range 12 {
		if err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
		var now int64
		now, err = child.RSS(pid)
		if math.Abs(float64(now-last)) <= 0.005*float64(last) {
			return now, err
		}
		last = now
	}
	return last, err
}
