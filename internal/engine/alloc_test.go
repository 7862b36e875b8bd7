//go:build !race

package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// mirror answers every request at once with the same result.
type mirror struct {
	engine *engine.Engine
	x      related
}

func (*mirror) Shared() bool { return false }
func (*mirror) Close() error { return nil }

func (m *mirror) Exchange(ctx context.Context, out transport.Outbound) (bool, error) {
	m.x.message.ID = out.ID
	m.engine.Deliver(ctx, &m.x)
	return false, nil
}

// TestCallAllocations holds what a call costs in this package and the codec, with two to spare for what else runs: progress costs
// nothing where nobody wants any.
func TestCallAllocations(t *testing.T) {
	p, via := clientOn(t, mcp.Version20260728, call(empty))
	answer, err := jsonrpc.Decode([]byte(done), negotiate.Lift)
	if err != nil {
		t.Fatal(err)
	}
	back := &mirror{engine: via.engine, x: related{exchange: exchange{message: answer, codec: via.codec, peer: p}}}
	params := json.RawMessage(`{"name":"x"}`)
	for name, c := range map[string]struct {
		opts engine.CallOptions
		most float64
	}{
		"plain":    {engine.CallOptions{}, 14},
		"progress": {engine.CallOptions{OnProgress: func(json.RawMessage) {}}, 19},
	} {
		got := testing.AllocsPerRun(500, func() {
			if _, err := p.Call(t.Context(), back, &era.Outgoing{Method: mcp.MethodCallTool, Params: params}, c.opts); err != nil {
				t.Fatal(err)
			}
		})
		if got > c.most {
			t.Errorf("%s: %v allocations a call, want at most %v", name, got, c.most)
		}
	}
}
