package legacy

import (
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// WireError gives the two era-bound codes their number: a missing resource is -32002 in every revision; the demand for a
// visit to a page is -32042 where URL elicitation exists and an internal error before. Other codes stay.
func (c *Codec) WireError(e *mcp.Error) *jsonrpc.Error {
	code := e.Code
	switch {
	case code == mcp.CodeResourceNotFound:
		code = era.WireResourceNotFound
	case code == mcp.CodeURLElicitationRequired && c.traits.URLElicitation:
		code = era.WireURLElicitationRequired
	}
	return era.WriteError(e, code)
}

func invalidResult(method, format string, args ...any) *mcp.Error {
	return mcp.Errorf(mcp.CodeInvalidResult, "the answer to %q cannot be read: "+format, append([]any{method}, args...)...)
}
