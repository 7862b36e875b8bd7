package modern

import (
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// TaskTerms implements era.Codec: the server decides, for clients that declare the extension in this very request. What
// an earlier revision had for it, the parameter "task", means nothing.
func (c *Codec) TaskTerms(call *era.Call) era.TaskTerms {
	if c.table.Has(mcp.ExtensionTasks) && declares(call.Envelope.ClientCapabilities, mcp.ExtensionTasks) {
		return era.TaskTerms{May: true}
	}
	return era.TaskTerms{Refuse: refuseUndeclared}
}

func refuseUndeclared() *era.Refusal {
	err := mcp.MissingCapability(mcp.ClientCapabilities{Extensions: map[string]rawValue{mcp.ExtensionTasks: rawValue("{}")}})
	err.Message = "this tool runs as a task only; declare the extension " + mcp.ExtensionTasks + " in the clientCapabilities of this request"
	return era.Refuse(era.RowCapable, err)
}

// appendAck appends a result that only says that the request has arrived.
func (c *Codec) appendAck(dst []byte, o *era.Outcome) ([]byte, error) {
	ack := &era.Outcome{Result: rawValue("{}"), Plain: true}
	if meta, ok := jsonrpc.Member(o.Result, "_meta"); ok {
		ack.Result, ack.Plain = jsonrpc.With(nil, ack.Result, "_meta", meta), false
		return c.appendStamped(dst, nil, ack)
	}
	return c.appendPlain(dst, nil, ack)
}
