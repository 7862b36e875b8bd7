package modern

import (
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// WireError maps the codes that this era forbids, whether a handler means them or a relay brings them: a missing resource
// is -32602, by its data.uri; the demand for a visit to a page is an internal error, since here it is asked in an
// input_required result. Other codes stay.
func (c *Codec) WireError(e *mcp.Error) *jsonrpc.Error {
	code := e.Code
	switch code {
	case mcp.CodeResourceNotFound, era.WireResourceNotFound:
		code = mcp.CodeInvalidParams
	case mcp.CodeURLElicitationRequired, era.WireURLElicitationRequired:
		code = mcp.CodeInternal
	}
	return era.WriteError(e, code)
}

// undeclared refuses a method of an extension that the request does not declare.
func undeclared(method, extension string) *era.Refusal {
	need := mcp.ClientCapabilities{Extensions: map[string]rawValue{extension: rawValue("{}")}}
	err := mcp.MissingCapability(need)
	err.Message = "method \"" + method + "\" belongs to the extension " + extension +
		"; declare it in the clientCapabilities of this request"
	return era.Refuse(era.RowMeta, err)
}

func invalidResult(method, format string, args ...any) *mcp.Error {
	return mcp.Errorf(mcp.CodeInvalidResult, "the answer to %q cannot be read: "+format, append([]any{method}, args...)...)
}
