package legacy

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

var resultTypeMember = []int{era.LiftResultType}

// DecodeOutcome implements era.Codec. A resultType that a peer adds all the same is dropped unread: nothing in this era
// asks for input in a result.
//
// It fails with mcp.CodeInvalidResult when the result is no object, or when a tool call's has no content and is not the
// task that was asked for.
func (c *Codec) DecodeOutcome(out *era.Outgoing, m *jsonrpc.Message) (*era.Outcome, error) {
	if m.Error != nil {
		return &era.Outcome{Err: era.ReadError(m.Error)}, nil
	}
	if !jsonrpc.IsObject(m.Result) {
		return nil, invalidResult(out.Method, "the result must be a JSON object, got %.60s", m.Result)
	}
	result := m.LeanResult(resultTypeMember, nil)
	var err *mcp.Error
	switch out.Method {
	case mcp.MethodCallTool:
		if task, ok := jsonrpc.Member(result, "task"); ok && c.isTask(out, result, task) {
			return &era.Outcome{Result: readNewTask(result, task), ResultType: mcp.ResultTask}, nil
		}
		result, err = c.toolResult(out, result)
	case mcp.MethodGetTask, mcp.MethodCancelTask:
		result = readTask(result)
	case mcp.MethodListTasks:
		result = eachOf("tasks", nil, result, appendNeutral)
	case mcp.MethodElicit:
		if content, ok := jsonrpc.Member(result, "content"); ok && string(content) == "null" {
			result = jsonrpc.Without(result, "content")
		}
	}
	if err != nil {
		return nil, err
	}
	return &era.Outcome{Result: result}, nil
}

// isTask tells whether a result is the task that the call asked for.
func (c *Codec) isTask(out *era.Outgoing, result, task json.RawMessage) bool {
	_, asked := jsonrpc.Member(out.Params, "task")
	_, content := jsonrpc.Member(result, "content")
	return c.traits.Tasks && (asked || out.Task != nil) && !content && jsonrpc.IsObject(task)
}

// toolResult gives a result without content an empty one, since hosts index it. One that belongs to another family of
// results is refused.
func (c *Codec) toolResult(out *era.Outgoing, result json.RawMessage) (json.RawMessage, *mcp.Error) {
	for m := range jsonrpc.Fields(result) {
		if m.Is("content") {
			return result, nil
		}
	}
	for m := range jsonrpc.Fields(result) {
		if m.Is("task") || m.Is("inputRequests") || m.Is("requestState") {
			return nil, invalidResult(out.Method, "it has no content but a member %s, which nobody asked for", m.Name)
		}
	}
	return jsonrpc.AddMembers(nil, result, []byte(`"content":[]`)), nil
}
