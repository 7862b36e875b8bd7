package upstream

import (
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

// Status tells of one server.
type Status struct {
	manager.Status
	Counts Counts // what it lists
}

// Counts are the lengths of the lists.
type Counts struct{ Tools, Prompts, Resources, Templates int }

// String is "4 tools, 1 prompt", without what there is none of.
func (c Counts) String() string {
	var parts []string
	for _, one := range []struct {
		n         int
		one, many string
	}{
		{c.Tools, "tool", "tools"}, {c.Resources, "resource", "resources"}, {c.Templates, "template", "templates"}, {c.Prompts, "prompt", "prompts"},
	} {
		switch one.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+one.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.many))
		}
	}
	if parts == nil {
		return "it lists nothing"
	}
	return strings.Join(parts, ", ")
}

func countsOf(l *Lists) Counts {
	return Counts{len(l.Tools), len(l.Prompts), len(l.Resources), len(l.Templates)}
}
