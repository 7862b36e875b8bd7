package bridge

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Pages of apps (io.modelcontextprotocol/ui) are resources, which need nothing of their own; what a tool says of its page is an
// address in its `_meta`, and has to lead to the page of its own server.

// pageMembers are where it stands: as the extension has it, as hosts read it before the extension was settled, and as one host
// has it for itself.
var pageMembers = [][]string{{"ui", "resourceUri"}, {"ui/resourceUri"}, {"openai/outputTemplate"}}

// pageBack puts the address that clients know into what a tool, or the result of one, says of its page. All else stays token for
// token.
func pageBack(v *view, server string, obj json.RawMessage) json.RawMessage {
	return inside(obj, "_meta", func(meta json.RawMessage) json.RawMessage {
		for _, path := range pageMembers {
			meta = at(meta, path, func(value json.RawMessage) json.RawMessage { return addressed(v, server, value) })
		}
		return meta
	})
}

// at edits what stands at the end of a path.
func at(obj json.RawMessage, path []string, edit func(json.RawMessage) json.RawMessage) json.RawMessage {
	if len(path) == 0 {
		return edit(obj)
	}
	return inside(obj, path[0], func(inner json.RawMessage) json.RawMessage { return at(inner, path[1:], edit) })
}

// addressed is a text with an address, under which clients reach it; anything else as it is.
func addressed(v *view, server string, value json.RawMessage) json.RawMessage {
	uri, ok := jsonrpc.Text(value)
	if !ok || uri == "" {
		return value
	}
	if exposed := v.exposed(server, uri); exposed != uri {
		return jsonrpc.AppendString(nil, exposed)
	}
	return value
}
