package client

import (
	"context"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/negotiate"
)

// askSibling finds out the era of a server from a process that is started for that alone, so that the one which is to
// serve sees nothing that it might not understand.
func (o *opener) askSibling(ctx context.Context) (negotiate.Verdict, error) {
	if err := o.open(ctx); err != nil {
		return negotiate.Verdict{}, err
	}
	sibling := *o
	sibling.to.restart = false // one that ends on the probe has said enough
	verdict, _, err := sibling.discover(ctx, "")
	o.phase = sibling.phase
	if err != nil && !sibling.ended {
		return verdict, err
	}
	if ending := o.abort(); ending != nil {
		o.c.faults.report(fmt.Errorf("end the process that was started to find out the era: %w", ending))
	}
	o.wire = nil
	if sibling.ended {
		return negotiate.Verdict{Finding: negotiate.FoundLegacy}, nil
	}
	return verdict, nil
}
