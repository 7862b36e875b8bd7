package policy

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// question masks the parameters of a question. What a program goes by stays: the address of a page, what a form or a tool lets one
// choose from, names of tools and models.
func (w *redaction) question(params json.RawMessage) json.RawMessage {
	return w.members(params, func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "_meta":
			return w.values(value, ofMeta)
		case "mode", "url", "elicitationId", "includeContext", "toolChoice", "modelPreferences":
			return value
		case "requestedSchema":
			return w.form(value)
		case "messages":
			return w.values(value, ofBlocks)
		case "metadata":
			return w.values(value, texts{})
		}
		return w.values(value, ofDefinition)
	})
}

// form masks the schema of a form. What a field begins with goes away where something is found in it, since a user who leaves it as
// it is would answer with the mask.
func (w *redaction) form(schema json.RawMessage) json.RawMessage {
	properties, _ := jsonrpc.Member(schema, "properties")
	now := w.members(properties, func(_ string, field json.RawMessage) json.RawMessage {
		begins, ok := jsonrpc.Member(field, "default")
		if !ok || string(w.values(begins, texts{})) == string(begins) {
			return field
		}
		return jsonrpc.Without(field, "default")
	})
	if string(now) != string(properties) {
		schema = jsonrpc.With(nil, schema, "properties", now)
	}
	return w.values(schema, ofDefinition)
}

// answer masks what a user, a model or a client says to a question. Which one it is, the members tell: a result names the place it
// is for, and not what was asked.
func (w *redaction) answer(answer json.RawMessage) json.RawMessage {
	_, ofModel := jsonrpc.Member(answer, "role")
	return w.members(answer, func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "action", "role", "model", "stopReason":
			return value
		case "_meta":
			return w.values(value, ofMeta)
		case "roots":
			return w.values(value, texts{but: []string{"uri"}})
		case "content":
			if ofModel {
				return w.values(value, ofBlocks)
			}
		}
		return w.values(value, texts{})
	})
}
