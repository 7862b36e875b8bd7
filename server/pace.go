package server

import (
	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
)

var _ engine.Pacer = (*dispatcher)(nil)

// Pace tells how long a request is likely to take: what the server answers by itself is short, a tool is what it has shown
// to be, and of all other user code nothing is known.
func (d *dispatcher) Pace(in *engine.Incoming) *engine.Pace {
	s := (*Server)(d)
	switch in.Method() {
	case methodCallTool:
		if raw, ok := in.Param(era.LiftName); ok && era.IsString(raw) {
			if t := s.findTool(raw); t != nil {
				return t.pace
			}
		}
		return nil
	case methodListTools, methodListPrompts, methodListResources, methodListTemplates:
		if s.opts.Catalogue != nil {
			return nil
		}
		return &s.own
	case methodInitialize, methodDiscover, methodSubscribe, methodUnsubscribe:
		if _, ok := s.opts.Catalogue.(Describer); ok {
			return nil
		}
		return &s.own
	case methodPing, methodSetLevel:
		return &s.own
	}
	return nil
}
