package upstream

import (
	"github.com/rialto-mcp/rialto/manager"
)

// Status tells of one server.
type Status struct {
	manager.Status
	Counts Counts // what it lists
}

// Counts are the lengths of the lists.
type Counts struct{ Tools, Prompts, Resources, Templates int }

func countsOf(l *Lists) Counts {
	return Counts{len(l.Tools), len(l.Prompts), len(l.Resources), len(l.Templates)}
}
