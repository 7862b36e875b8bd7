package llm

import (
	"github.com/rialto-mcp/rialto/mcp"
)

// Message is one message of a conversation, in parts; the packages of the vendors write it in their shapes.
type Message struct {
	Role  mcp.Role
	Parts []Part
}

// ResourceParts makes context of a resource that was read: text under its address, pictures and files as such. The limits
// of Options hold.
func ResourceParts(r *mcp.ReadResourceResult, o Options) []Part {
	o = o.withDefaults()
	var out []Part
	for i := range r.Contents {
		out = append(out, contents(&r.Contents[i])...)
	}
	return o.bounded(out)
}

// PromptMessages makes messages of a prompt that was filled in. Blocks of one role that follow each other become one
// message, as some APIs want roles to alternate.
func PromptMessages(r *mcp.GetPromptResult, o Options) []Message {
	o = o.withDefaults()
	var out []Message
	for _, m := range r.Messages {
		if m.Content == nil {
			continue
		}
		parts := o.block(m.Content)
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = append(out[n-1].Parts, parts...)
		} else {
			out = append(out, Message{m.Role, parts})
		}
	}
	for i := range out {
		out[i].Parts = o.bounded(out[i].Parts)
	}
	return out
}

// ContentParts makes parts of blocks, for callers that have content from elsewhere: the messages of a sampling request, say.
func ContentParts(content []mcp.Content, structured []byte, o Options) []Part {
	o = o.withDefaults()
	return o.parts(content, structured)
}
