package server

import (
	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

var _ engine.Pacer = (*dispatcher)(nil)

// Pace tells how long a request is likely to take: what the server answers by itself is short, a tool is what it has shown
// to be, and of all other user code nothing is known.
func (d *dispatcher) Pace(in *engine.Incoming) *engine.Pace {
	s := (*Server)(d)
	if s.around != nil || s.opts.Visible != nil {
		return nil // either may wait for something that only the reader can bring
	}
	switch in.Method() {
	case mcp.MethodCallTool:
		if raw, ok := in.Param(era.LiftName); ok && jsonrpc.IsString(raw) {
			if t := s.findTool(raw); t != nil {
				return t.pace
			}
		}
		return nil
	case mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListResourceTemplates:
		if s.opts.Catalogue != nil {
			return nil
		}
		return &s.own
	case mcp.MethodInitialize, mcp.MethodDiscover, mcp.MethodSubscribeResource, mcp.MethodUnsubscribeResource:
		if _, ok := s.opts.Catalogue.(Describer); ok {
			return nil
		}
		return &s.own
	case mcp.MethodPing, mcp.MethodSetLevel:
		return &s.own
	}
	return nil
}
