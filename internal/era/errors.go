package era

import (
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Numbers whose meaning depends on the era. Only codecs write them.
const (
	WireResourceNotFound       = -32002 // 2025-11-25, server/resources, "Error Handling"
	WireURLElicitationRequired = -32042 // 2025-11-25, client/elicitation, "URL Mode With Elicitation Required Error"
)

// ReadError turns the error member of an answer into a neutral error of the peer. Servers of both eras are known to
// use each other's numbers, so all forms are understood everywhere: -32002 with a uri and -32602 with nothing but a uri
// are a missing resource, -32042 with elicitations asks for a visit to a page. Everything else keeps its number.
func ReadError(e *jsonrpc.Error) *mcp.Error {
	out := &mcp.Error{Code: mcp.Code(e.Code), Message: e.Message, Data: e.Data, Remote: true}
	switch e.Code {
	case WireResourceNotFound:
		if _, ok := out.ResourceData(); ok {
			out.Code = mcp.CodeResourceNotFound
		}
	case int64(mcp.CodeInvalidParams):
		if out.HasOnlyURI() {
			out.Code = mcp.CodeResourceNotFound
		}
	case WireURLElicitationRequired:
		if _, ok := out.URLElicitationData(); ok {
			out.Code = mcp.CodeURLElicitationRequired
		}
	default:
		if out.Code.IsSymbolic() { // a number of ours that never stands on a wire
			out.Code = mcp.CodeInternal
		}
	}
	return out
}

// WriteError gives an error its wire form under a number that the codec has chosen for the era-bound codes. Failures
// of this side have no number and become internal errors. An empty message gets the name of the code.
func WriteError(e *mcp.Error, code mcp.Code) *jsonrpc.Error {
	if code.IsSymbolic() {
		code = mcp.CodeInternal
	}
	message := e.Message
	switch {
	case message != "":
	case code == mcp.CodeInternal:
		message = "Internal error"
	default:
		message = e.Code.String()
	}
	return &jsonrpc.Error{Code: int64(code), Message: message, Data: e.Data}
}
