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

// Refuse makes the refusal of one row.
func Refuse(row int, err *mcp.Error) *Refusal { return &Refusal{Row: row, Err: err} }

// RefuseMethod refuses a method that does not exist: row 6.
func RefuseMethod(method, revision string, s Standing) *Refusal {
	if s == Vendor {
		return Refuse(RowMethod, mcp.Errorf(mcp.CodeMethodNotFound,
			"Method not found: nothing here answers %q; check the spelling", method))
	}
	return Refuse(RowMethod, mcp.Errorf(mcp.CodeMethodNotFound,
		"Method not found: revision %s has no request %q in this direction", revision, method))
}

// Mismatch refuses a header that is missing or does not say what the body says: row 3, 5 or 8. The data shows both; a
// missing header is left out of it. name is in the form net/http keeps.
func Mismatch(row int, name, header string, present bool, body string) *Refusal {
	type both struct {
		Header *string `json:"header,omitzero"`
		Body   string  `json:"body"`
	}
	if !present {
		err := mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is missing; send it with the value %q", name, body)
		return Refuse(row, err.WithData(map[string]both{"mismatch": {nil, body}}))
	}
	err := mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is %q but the body says %q; send the same value in both", name, header, body)
	return Refuse(row, err.WithData(map[string]both{"mismatch": {&header, body}}))
}

// BadMeta refuses a member of _meta that is missing or has the wrong type: row 7. The data shows which and how.
func BadMeta(key, problem, remedy string) *Refusal {
	err := mcp.InvalidParams("params._meta member %q is %s; %s", key, problem, remedy)
	return Refuse(RowMeta, err.WithData(map[string]any{"envelope": map[string]string{"key": key, "problem": problem}}))
}

// Rows of the table of refusals, in its order.
const (
	RowRequest  = 1 // the request line, size, JSON
	RowShape    = 2 // JSON-RPC, arrays
	RowHeader   = 3 // MCP-Protocol-Version against the claim
	RowVersion  = 4 // version not served
	RowMethodHd = 5 // Mcp-Method
	RowMethod   = 6 // method not in the era
	RowMeta     = 7 // required members of _meta, extension declared
	RowName     = 8 // Mcp-Name
	RowTarget   = 9 // unknown tool, prompt, resource, task
	RowParamHd  = 10
	RowCapable  = 11 // capability the request did not declare
	RowParams   = 12 // requestState, then parameters
)
