package rows

import (
	"context"
	"errors"

	"github.com/rialto-mcp/rialto/bench/internal/child"
	"github.com/rialto-mcp/rialto/bench/internal/load"
	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

// httpMeter drives one server over HTTP.
type httpMeter struct {
	lab    *Lab
	server *child.Process
	load   load.HTTP
}

// httpRow makes a row of one kind of request. Stateful servers get a legacy session for each connection.
func httpRow(kind wire.Kind, modern, stateful bool) opener {
	return func(ctx context.Context, lab *Lab, p Peer) (meter, error) {
		server, err := child.StartHTTP(lab.programs[p.server], stateful)
		if err != nil {
			return nil, err
		}
		m := &httpMeter{lab: lab, server: server, load: load.HTTP{Addr: server.Addr, Kind: kind, Modern: modern, Conns: lab.Conns}}
		if stateful {
			if m.load.Sessions, err = load.OpenSessions(ctx, server.Addr, lab.Conns); err != nil {
				return nil, errors.Join(err, server.Stop())
			}
		}
		return m, nil
	}
}

func (m *httpMeter) measure(ctx context.Context) (float64, error) {
	if m.lab.Wrk != "" {
		return load.Wrk(ctx, m.lab.Wrk, m.lab.dir, m.load, m.lab.Duration)
	}
	return m.load.Run(ctx, m.lab.Duration)
}

func (m *httpMeter) close() error { return m.server.Stop() }
