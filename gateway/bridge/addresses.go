package bridge

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// The addresses of resources in results become those under which clients reach them: links and embedded resources of
// tools and prompts, and what a read answers. Everything else stays token for token.

func toolBack(v *view, to destination, result json.RawMessage) json.RawMessage {
	name := to.Server
	return eachOf(pageBack(v, name, result), "content", func(block json.RawMessage) json.RawMessage { return blockBack(v, name, block) })
}

func promptBack(v *view, to destination, result json.RawMessage) json.RawMessage {
	return eachOf(result, "messages", func(message json.RawMessage) json.RawMessage {
		return inside(message, "content", func(block json.RawMessage) json.RawMessage { return blockBack(v, to.Server, block) })
	})
}

// readBack gives what was read the address that it was asked for by, which may be one of before a reload.
func readBack(v *view, to destination, result json.RawMessage) json.RawMessage {
	return eachOf(result, "contents", func(c json.RawMessage) json.RawMessage {
		if uri := member(c, "uri"); uri != "" && uri == to.Name {
			return exchange(c, "uri", to.Name, to.asked)
		}
		return addressBack(v, to.Server, c)
	})
}

func blockBack(v *view, server string, block json.RawMessage) json.RawMessage {
	switch member(block, "type") {
	case "resource_link":
		return addressBack(v, server, block)
	case "resource":
		return inside(block, "resource", func(r json.RawMessage) json.RawMessage { return addressBack(v, server, r) })
	}
	return block
}

func addressBack(v *view, server string, obj json.RawMessage) json.RawMessage {
	uri := member(obj, "uri")
	if uri == "" {
		return obj
	}
	return exchange(obj, "uri", uri, v.exposed(server, uri))
}

// inside edits one member of an object.
func inside(obj json.RawMessage, name string, edit func(json.RawMessage) json.RawMessage) json.RawMessage {
	old, ok := jsonrpc.Member(obj, name)
	if !ok {
		return obj
	}
	if edited := edit(old); string(edited) != string(old) {
		return jsonrpc.With(nil, obj, name, edited)
	}
	return obj
}

// eachOf edits the elements of a list in an object, each once and in order.
func eachOf(obj json.RawMessage, name string, edit func(json.RawMessage) json.RawMessage) json.RawMessage {
	return inside(obj, name, func(list json.RawMessage) json.RawMessage {
		var all [][]byte
		changed := false
		for e := range jsonrpc.Elements(list) {
			edited := edit(e)
			changed = changed || string(edited) != string(e)
			all = append(all, edited)
		}
		if !changed {
			return list
		}
		return slices.Concat([]byte{'['}, bytes.Join(all, []byte{','}), []byte{']'})
	})
}
