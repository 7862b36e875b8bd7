package era

import (
	"fmt"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Own are the members a codec adds to the _meta of what it sends, in order. A raw value of nil is left out.
type Own []struct {
	Name  string
	Value []byte
}

// AppendMeta appends a _meta object: the codec's own members that neither base nor over has, those of base in their
// order, those of over. What over names stands in place of base's; token, where set, is the progress token whatever the
// others say. base and over are objects or nil.
func AppendMeta(dst []byte, own Own, base, over, token []byte) []byte {
	const progress = mcp.MetaProgressToken
	o := OpenObject(dst)
	for _, m := range own {
		if m.Value != nil && !has(base, m.Name) && !has(over, m.Name) {
			o.Put(m.Name, m.Value)
		}
	}
	for m := range jsonrpc.Fields(base) {
		switch {
		case token != nil && m.Is(progress):
		case over != nil && hasRaw(over, m):
		default:
			o.Keep(m)
		}
	}
	for m := range jsonrpc.Fields(over) {
		if token == nil || !m.Is(progress) {
			o.Keep(m)
		}
	}
	if token != nil {
		o.Put(progress, token)
	}
	return o.Close()
}

func has(obj []byte, name string) bool {
	_, ok := jsonrpc.Member(obj, name)
	return ok
}

func hasRaw(obj []byte, m jsonrpc.Field) bool {
	name, ok := jsonrpc.Text(m.Name)
	return ok && has(obj, name)
}

// OpenCall appends the head of a request frame, or of a notification for a zero id, up to where the params go.
// The caller appends them and a closing brace.
func OpenCall(dst []byte, id jsonrpc.ID, method string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if !id.IsZero() {
		dst = append(id.Append(append(dst, `"id":`...)), ',')
	}
	dst = jsonrpc.AppendString(append(dst, `"method":`...), method)
	return append(dst, `,"params":`...)
}

// NotInRevision says that a method was not sent because the revision does not have it.
func NotInRevision(method, revision string) *mcp.Error {
	return mcp.Errorf(mcp.CodeMethodNotSupported,
		"%q was not sent: revision %s does not have it in this direction", method, revision).
		WithData(map[string]string{"method": method, "revision": revision})
}

// CheckParams says why params cannot be sent: they are an object, and their _meta is one.
func CheckParams(method string, params []byte) error {
	if params == nil {
		return nil
	}
	if !jsonrpc.IsObject(params) {
		return fmt.Errorf("params of %q must be a JSON object, got %.60s", method, params)
	}
	if meta, ok := jsonrpc.Member(params, "_meta"); ok && !jsonrpc.IsObject(meta) {
		return fmt.Errorf("params._meta of %q must be a JSON object, got %.60s", method, meta)
	}
	return nil
}
