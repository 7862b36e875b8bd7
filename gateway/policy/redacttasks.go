package policy

import (
	"encoding/json"
	"strconv"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// task masks what a server says of a task. Where that is refused the task goes on without words: with its state and its times.
func (m *midst) task(method string, state json.RawMessage) json.RawMessage {
	shown := state
	refusal := m.look(m.says, method, "state of a task holds", func(w *redaction) {
		shown = w.members(state, func(name string, value json.RawMessage) json.RawMessage {
			switch {
			case isOfTask(name, value):
				return value
			case name == "_meta":
				return w.values(value, ofMeta)
			}
			return w.values(value, texts{})
		})
	})
	if refusal == nil {
		return shown
	}
	var words []string
	for name, value := range jsonrpc.Members(state) {
		if !isOfTask(name, value) {
			words = append(words, name)
		}
	}
	return jsonrpc.Without(state, words...)
}

// isOfTask tells of a member of a task whether it goes on as it is. Its result and its error take the steps, its questions are
// questions, and a program goes by its state and its times.
func isOfTask(name string, value json.RawMessage) bool {
	switch name {
	case "result":
		return true
	case "error":
		return isPlainError(value)
	case "inputRequests":
		return jsonrpc.IsObject(value)
	case "taskId", "status", "createdAt", "lastUpdatedAt":
		return jsonrpc.IsString(value)
	case "ttlMs", "pollIntervalMs":
		return isNumber(value) || string(value) == "null"
	}
	return false
}

// isPlainError tells whether the error of a task is one that the steps look at, and see all of. One that demands pages they take for
// looked at.
func isPlainError(raw json.RawMessage) bool {
	for name, value := range jsonrpc.Members(raw) {
		switch name {
		case "code":
			code, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil || mcp.Code(code) == mcp.CodeURLElicitationRequired {
				return false
			}
		case "message":
			if !jsonrpc.IsString(value) {
				return false
			}
		case "data":
		default:
			return false
		}
	}
	return jsonrpc.IsObject(raw)
}
