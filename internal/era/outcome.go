package era

import (
	"context"
	"encoding/json"

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

	// WrapOutput says that the tool called advertises an output schema whose root is no object; its structured content is
	// then wrapped where the revision takes objects only. Spec 2025-11-25, server/tools, "Structured Content".
	WrapOutput bool

	// Cache is the hint for a cacheable method that the result itself does not give; on receipt, what came.
	Cache mcp.CacheHint

	// ResultType is set for results of extensions that are neither complete nor input_required.
	ResultType string

	// Row is the row of the table of refusals that Err comes from, as its constants say; 0 for what a handler returned.
	Row int
}

// InputRound is the content of an input_required result: raw values, passed on byte for byte.
type InputRound struct {
	Requests json.RawMessage // object of key to request; nil for none
	State    json.RawMessage // a JSON string; nil for none

	// Rerun is how the call goes on where the client's revision has no results that ask, and the engine asks by itself. Nil
	// means that it cannot.
	Rerun Rerun
}

// Rerun continues a call whose questions were asked on the way. Its methods are called one at a time, on the goroutine that
// serves the call.
type Rerun interface {
	// Again runs the handler again, as a retry with these answers and this state would; answers is an object of key to
	// answer, nil where nothing was asked.
	Again(ctx context.Context, answers, state json.RawMessage) *Outcome

	// Fail makes the answer of a call whose questions could not be asked.
	Fail(err error) *Outcome
}
