package skills

import (
	"encoding/base64"
	"encoding/json"
	"sort"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

const maxPage = 1 << 20 // bytes of entries on one page, unless a single one is larger

// page encodes a part of a list: what shows lets pass, behind the place that the cursor names. The cursor is the key of the
// last entry, so that it stays good when entries come and go, and on another replica.
func page(name string, items []item, cursor *mcp.Cursor, size int, shows func(item) bool) (json.RawMessage, error) {
	from := 0
	if cursor != nil && *cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(*cursor)
		if err != nil {
			return nil, mcp.InvalidParams("the cursor is not one this server has given out; list again from the start")
		}
		from = sort.Search(len(items), func(i int) bool { return items[i].key > string(last) })
	}
	out := append([]byte(`{"`), name...)
	out = append(out, `":[`...)
	start, last := len(out), ""
	for n := 0; from < len(items); from++ {
		it := items[from]
		if !shows(it) {
			continue
		}
		if n == size || n > 0 && len(out)-start+len(it.raw) > maxPage {
			break
		}
		if n++; n > 1 {
			out = append(out, ',')
		}
		out, last = jsonrpc.AppendRaw(out, it.raw), it.key
	}
	out = append(out, ']')
	if from < len(items) {
		out = append(out, `,"nextCursor":`...)
		out = jsonrpc.AppendString(out, base64.RawURLEncoding.EncodeToString([]byte(last)))
	}
	return append(out, '}'), nil
}
