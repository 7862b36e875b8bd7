package rows

import (
	"context"
	"errors"

	"github.com/rialto-mcp/rialto/bench/internal/child"
	"github.com/rialto-mcp/rialto/bench/internal/echo"
	"github.com/rialto-mcp/rialto/bench/internal/load"
)

// clientMeter runs one client, in this process, against a bare server of its own.
type clientMeter struct {
	lab    *Lab
	caller echo.Caller
	server *child.Process // nil on stdio, where the client owns the server
}

const bareServer = "server/bare"

func openHTTPClient(ctx context.Context, lab *Lab, p Peer) (meter, error) {
	if p.client == nil {
		return nil, nil
	}
	server, err := child.StartHTTP(lab.programs[bareServer], false)
	if err != nil {
		return nil, err
	}
	caller, err := p.client.HTTP(ctx, "http://"+server.Addr+"/mcp")
	if err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return &clientMeter{lab: lab, caller: caller, server: server}, nil
}

func openStdioClient(ctx context.Context, lab *Lab, p Peer) (meter, error) {
	if p.client == nil {
		return nil, nil
	}
	caller, err := p.client.Stdio(ctx, lab.programs[bareServer])
	if err != nil {
		return nil, err
	}
	return &clientMeter{lab: lab, caller: caller}, nil
}

func (m *clientMeter) measure(ctx context.Context) (float64, error) {
	return load.Client(ctx, m.caller, m.lab.Conns, m.lab.Duration)
}

func (m *clientMeter) close() error {
	err := m.caller.Close()
	if m.server != nil {
		err = errors.Join(err, m.server.Stop())
	}
	return err
}
