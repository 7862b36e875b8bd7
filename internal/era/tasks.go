package era

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/mcp"
)

// TaskTerms says on which terms one call may go on as a task after its answer.
type TaskTerms struct {
	May    bool            // the answer may be a task
	Asked  bool            // and the client has asked for one: another answer is none
	TTL    json.RawMessage // the life in milliseconds that the client asks for; nil for none
	Refuse func() *Refusal // makes the refusal of a tool that runs in no other way, which few do, where the answer may not be a task
}

// RefuseTask makes the refusal of a call by what its revision has to say about tasks.
func RefuseTask(row int, code mcp.Code, format string, args ...any) *Refusal {
	return Refuse(row, mcp.Errorf(code, format, args...))
}
