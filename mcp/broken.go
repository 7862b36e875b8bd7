package mcp

import (
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json"
)

// DropBroken takes out of a raw list result the elements that T cannot read, for callers whose first try failed: one
// tool with annotations of the wrong kind must not hide the others.
//
//	kept, broken := mcp.DropBroken[mcp.Tool](raw, "tools")
//
// member names the list. kept is the result without them, all other bytes as sent; broken says which went, and why.
// A result without such a list comes back unchanged.
func DropBroken[T any](result stdjson.RawMessage, member string) (kept stdjson.RawMessage, broken []error) {
	raw, ok := Member(result, member)
	if !ok {
		return result, nil
	}
	var elements []stdjson.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil {
		return result, nil
	}
	list := []byte{'['}
	for i, element := range elements {
		var item T
		if err := json.Unmarshal(element, &item, decodeOptions); err != nil {
			name, _ := Meta(element).Text("name")
			broken = append(broken, fmt.Errorf("%s[%d] %q: %w", member, i, name, err))
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, element...)
	}
	if broken == nil {
		return result, nil
	}
	return stdjson.RawMessage(Meta(result).Set(member, append(list, ']'))), broken
}
