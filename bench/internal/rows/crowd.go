package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/child"
	"github.com/rialto-mcp/rialto/bench/internal/rialto"
)

const crowdServer = "server/crowd"

// CrowdAim is how much memory an open stream may take, compared with the bare server's.
const CrowdAim = 0.3

// Crowd is what came of very many open streams on one server of Rialto's. This process holds the other end of each.
type Crowd struct {
	Streams int     `json:"streams"`
	Heard   int     `json:"heard"`  // streams that were told of a change
	Memory  float64 `json:"memory"` // of a stream, as a part of what the bare server takes

	// Goroutines of the server before there were streams, with all of them open, and after they were closed.
	Before int `json:"goroutinesBefore"`
	Open   int `json:"goroutinesOpen"`
	After  int `json:"goroutinesAfter"`
}

// Faults says what is not as it should be.
func (c Crowd) Faults() error {
	var err error
	if c.Heard != c.Streams {
		err = fmt.Errorf("%d of %d streams were told of the change", c.Heard, c.Streams)
	}
	if c.Memory > CrowdAim {
		err = errors.Join(err, fmt.Errorf("a stream takes %.2f of what it takes the bare server, more than %.2f", c.Memory, CrowdAim))
	}
	if c.After > c.Before+spare {
		err = errors.Join(err, fmt.Errorf("%d goroutines before the streams, %d after them", c.Before, c.After))
	}
	return err
}

// spare is how many goroutines may come and go whatever the streams do: those of net/http for the connections of the
// watcher, timers.
const spare = 8

// MeasureCrowd opens n streams, modern subscriptions or legacy GET streams, on a server of Rialto's and, for comparison,
// on the bare one. It needs Linux and about n descriptors in each process; see Descriptors.
func MeasureCrowd(ctx context.Context, legacy bool, n int, progress io.Writer) (crowd Crowd, err error) {
	dir, err := os.MkdirTemp("", "rialto-crowd-")
	if err != nil {
		return Crowd{}, err
	}
	lab := &Lab{Streams: n, dir: dir, programs: map[string]string{}}
	defer func() { err = errors.Join(err, lab.Close()) }()
	for _, pkg := range []string{bareServer, crowdServer} {
		fmt.Fprintf(progress, "building %s\n", pkg)
		if lab.programs[pkg], err = child.Build(ctx, dir, pkg); err != nil {
			return Crowd{}, err
		}
	}
	fmt.Fprintf(progress, "opening %d streams on the bare server\n", n)
	bare, err := (&memoryMeter{lab: lab, program: lab.programs[bareServer], legacy: legacy}).measure(ctx)
	if err != nil {
		return Crowd{}, fmt.Errorf("bare server: %w", err)
	}
	fmt.Fprintf(progress, "opening %d streams on Rialto\n", n)
	own := &memoryMeter{lab: lab, program: lab.programs[crowdServer], legacy: legacy}
	if crowd, err = own.crowd(ctx); err != nil {
		return Crowd{}, fmt.Errorf("rialto: %w", err)
	}
	crowd.Memory /= bare
	return crowd, nil
}

// crowd measures one server under watch; Memory is in bytes.
func (m *memoryMeter) crowd(ctx context.Context) (c Crowd, err error) {
	server, err := child.StartHTTP(m.program, m.legacy)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	watcher, err := rialto.Watch(ctx, "http://"+server.Addr+"/mcp")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()
	if err := m.warm(ctx, server.Addr); err != nil {
		return c, err
	}
	before, err := settledRSS(ctx, server.PID())
	if err != nil {
		return c, err
	}
	if c.Before, err = watcher.Goroutines(ctx); err != nil {
		return c, err
	}
	streams, err := m.openStreams(ctx, server.Addr, m.lab.Streams)
	if err != nil {
		return c, err
	}
	defer streams.Close()
	c.Streams = m.lab.Streams
	if c.Open, err = watcher.Goroutines(ctx); err != nil {
		return c, err
	}
	after, err := settledRSS(ctx, server.PID())
	if err != nil {
		return c, err
	}
	c.Memory = float64(after-before) / float64(m.lab.Streams)
	if err := watcher.Change(ctx); err != nil {
		return c, err
	}
	if c.Heard, err = streams.Hear(ctx, "notifications/tools/list_changed"); err != nil {
		return c, err
	}
	streams.Close()
	c.After, err = settledGoroutines(ctx, watcher, c.Before+spare)
	return c, err
}

// settledGoroutines waits until the server has no more than enough goroutines, ten seconds at most.
func settledGoroutines(ctx context.Context, watcher *rialto.Watcher, enough int) (int, error) {
	for end := time.Now().Add(10 * time.Second); ; {
		n, err := watcher.Goroutines(ctx)
		if err != nil || n <= enough || time.Now().After(end) {
			return n, err
		}
		select {
		case <-ctx.Done():
			return n, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
