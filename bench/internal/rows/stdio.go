package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/bench/internal/child"
	"github.com/rialto-mcp/rialto/bench/internal/load"
)

// stdioMeter drives one server over its standard input and output.
type stdioMeter struct {
	lab    *Lab
	server *child.Process
	load   *load.Stdio
}

func stdioRow(modern bool, inFlight int) opener {
	return func(ctx context.Context, lab *Lab, p Peer) (meter, error) {
		server, err := child.StartStdio(lab.programs[p.server])
		if err != nil {
			return nil, err
		}
		defer server.Guard(ctx, load.Grace)()
		sender, err := load.NewStdio(server.In, server.Out, modern, inFlight)
		if err != nil {
			return nil, errors.Join(err, server.Stop())
		}
		return &stdioMeter{lab: lab, server: server, load: sender}, nil
	}
}

func (m *stdioMeter) measure(ctx context.Context) (float64, error) {
	defer m.server.Guard(ctx, m.lab.Duration+load.Grace)()
	rate, err := m.load.Run(ctx, m.lab.Duration)
	if err != nil {
		return 0, fmt.Errorf("%w; the server said: %s", err, m.server.Stderr())
	}
	return rate, nil
}

func (m *stdioMeter) close() error { return m.server.Stop() }
