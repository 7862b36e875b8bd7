package era

import (
	"fmt"

	"github.com/rialto-mcp/rialto/mcp"
)

// Rows of the table of refusals, in the order in which a request is judged; the order is part of the contract with peers
// (docs/refusals.md). A binding turns the row into an HTTP status.
const (
	RowRequest      = 1  // HTTP method, Host and Origin, authorization, media types, size, JSON
	RowShape        = 2  // JSON-RPC, arrays
	RowHeader       = 3  // MCP-Protocol-Version against the claim in the body
	RowVersion      = 4  // version not served
	RowMethodHeader = 5  // Mcp-Method
	RowMethod       = 6  // method not in the era or its enabled extensions
	RowMeta         = 7  // required members of _meta, extension declared
	RowName         = 8  // Mcp-Name
	RowTarget       = 9  // unknown tool, prompt, resource, task
	RowParamHeader  = 10 // Mcp-Param-*
	RowCapable      = 11 // capability the request did not declare
	RowParams       = 12 // requestState, then parameters

	// These two stand outside the order: they can come at any time.

	RowBusy          = -1 // too many requests run; over HTTP a 503 with Retry-After
	RowNotAcceptable = -2 // the answer needs a stream that the client does not take; over HTTP a 406
)

// Refusal is a request that was refused before a handler ran. Row is its row in the table of refusals.
type Refusal struct {
	Row int
	Err *mcp.Error
}

func (r *Refusal) Error() string { return fmt.Sprintf("refused (row %d): %s", r.Row, r.Err.Message) }

// Unwrap gives the error meant for the peer.
func (r *Refusal) Unwrap() error { return r.Err }

// Outcome turns the refusal into what a codec encodes.
func (r *Refusal) Outcome() *Outcome { return &Outcome{Err: r.Err, Row: r.Row} }

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
