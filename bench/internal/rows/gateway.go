package rows

import (
	"context"
	"errors"

	"github.com/rialto-mcp/rialto/bench/internal/child"
	"github.com/rialto-mcp/rialto/bench/internal/load"
	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

// gatewayMeter drives a server through what stands in front of it.
type gatewayMeter struct {
	httpMeter
	behind *child.Process
}

// gatewayRow makes a row of calls through a peer's front to a bare server of its own, which speaks both eras; a gateway speaks
// the modern one to it, whatever its clients do.
func gatewayRow(modern bool) opener {
	return func(_ context.Context, lab *Lab, p Peer) (meter, error) {
		if p.front == "" {
			return nil, nil
		}
		behind, err := child.StartHTTP(lab.programs[bareServer], false)
		if err != nil {
			return nil, err
		}
		front, err := child.StartHTTP(lab.programs[p.front], false, "-upstream", "http://"+behind.Addr+"/mcp")
		if err != nil {
			return nil, errors.Join(err, behind.Stop())
		}
		load := load.HTTP{Addr: front.Addr, Kind: wire.Call, Modern: modern, Conns: lab.Conns}
		return &gatewayMeter{httpMeter{lab: lab, server: front, load: load}, behind}, nil
	}
}

func (m *gatewayMeter) close() error { return errors.Join(m.httpMeter.close(), m.behind.Stop()) }
