package era

import (
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/mcp"
)

// Outcome is what became of a request, in neutral form, on either end. One of Result, Input and Err is set.
type Outcome struct {
	// Result is the neutral result object.
	Result json.RawMessage

	// Input holds the questions of an input_required result.
	Input *InputRound

	// Err is the error; nil on success.
	Err *mcp.Error

	// Plain says that Result holds none of resultType, ttlMs, cacheScope, _meta, capabilities and structuredContent, so
	// that a codec may splice without looking. False is always right.
	Plain bool

	// Encoded says that Result has been through this codec's AppendResult already and goes out as it is.
	Encoded bool

	// WrapOutput says that the tool called advertises an output schema whose root is no object; see facts 1.9.
	WrapOutput bool

	// Cache is the hint for a cacheable method that the result itself does not give; on receipt, what came.
	Cache mcp.CacheHint

	// ResultType is set for results of extensions that are neither complete nor input_required.
	ResultType string

	// Row is the row of the table of refusals (design section 4) that Err comes from; 0 for what a handler returned.
	Row int
}

// InputRound is the content of an input_required result: raw values, passed on byte for byte.
type InputRound struct {
	Requests json.RawMessage // object of key to request; nil for none
	State    json.RawMessage // a JSON string; nil for none
}

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

// RowBusy is the row of a request that was refused because too many run; it stands outside the table of refusals, and
// over HTTP it is a 503 with Retry-After.
const RowBusy = -1

// RowNotAcceptable is the row of a request whose answer needs a stream the client does not take: over HTTP a 406.
const RowNotAcceptable = -2
