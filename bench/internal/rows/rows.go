// Package rows knows the rows of the table: what each measures, against whom, and how its rounds are run.
package rows

import (
	"context"
	"runtime"

	"github.com/rialto-mcp/rialto/bench/internal/ratio"
	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

// Row is one line of the table.
type Row struct {
	Name string    // what -only selects by
	Work string    // what is measured, for people
	Base string    // the peer that counts as 1.00; empty where the row shows counts
	Aim  ratio.Aim // what Rialto is to reach

	rounds int // at most so many rounds; 0 is as many as asked for
	open   opener
}

// opener brings one peer to the start of a row. It returns nil where the peer takes no part.
type opener func(ctx context.Context, lab *Lab, p Peer) (meter, error)

// meter is one peer, ready to be measured again and again.
type meter interface {
	// measure takes one measurement: answers a second, bytes a stream or allocations a call.
	measure(ctx context.Context) (float64, error)
	close() error
}

// All lists the rows in the order of the table.
func All() []Row {
	rows := []Row{
		{Name: "http-modern", Work: "modern tools/call over HTTP", Base: bareName, Aim: ratio.Aim{Value: 0.9},
			open: httpRow(wire.Call, true, false)},
		{Name: "http-legacy", Work: "legacy tools/call, sessionless", Base: bareName, Aim: ratio.Aim{Value: 0.9},
			open: httpRow(wire.Call, false, false)},
		{Name: "http-session", Work: "legacy tools/call in a session", Base: bareName, Aim: ratio.Aim{Value: 0.85},
			open: httpRow(wire.Call, false, true)},
		{Name: "http-list", Work: "modern tools/list of 51 tools", Base: mcpgoName, Aim: ratio.Aim{Value: 12},
			open: httpRow(wire.List, true, false)},
		{Name: "stdio-1-modern", Work: "stdio, one at a time, modern", Base: bareName, Aim: ratio.Aim{Value: 0.9}, open: stdioRow(true, 1)},
		{Name: "stdio-1-legacy", Work: "stdio, one at a time, legacy", Base: bareName, Aim: ratio.Aim{Value: 0.9}, open: stdioRow(false, 1)},
		{Name: "stdio-64-modern", Work: "stdio, 64 in flight, modern", Base: bareName, Aim: ratio.Aim{Value: 0.75}, open: stdioRow(true, 64)},
		{Name: "stdio-64-legacy", Work: "stdio, 64 in flight, legacy", Base: bareName, Aim: ratio.Aim{Value: 0.75}, open: stdioRow(false, 64)},
		{Name: "client-http", Work: "client, 16 at once, bare server, HTTP", Base: mcpgoName, Aim: ratio.Aim{Value: 2}, open: openHTTPClient},
		{Name: "gateway-modern", Work: "modern tools/call through a proxy or the gateway", Base: bareName, Aim: ratio.Aim{Value: 0.9}, open: gatewayRow(true)},
		{Name: "gateway-across", Work: "legacy tools/call through a proxy or the gateway", Base: bareName, Aim: ratio.Aim{Value: 0.9}, open: gatewayRow(false)},
		{Name: "client-stdio", Work: "client, 16 at once, bare server, stdio", Base: mcpgoName, Aim: ratio.Aim{Value: 2}, open: openStdioClient},
	}
	if runtime.GOOS == "linux" { // elsewhere there is no /proc to read the memory from
		rows = append(rows,
			Row{Name: "memory-listen", Work: "memory per open listen stream", Base: bareName, Aim: ratio.Aim{Value: 0.3, Most: true}, rounds: 3, open: memoryRow(false)},
			Row{Name: "memory-get", Work: "memory per legacy session with GET", Base: bareName, Aim: ratio.Aim{Value: 0.3, Most: true}, rounds: 3, open: memoryRow(true)})
	}
	return append(rows,
		Row{Name: "allocs", Work: "allocations of a modern call, in process", Aim: ratio.Aim{Value: 12, Most: true}, rounds: 1, open: openAllocs})
}
