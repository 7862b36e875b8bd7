package pieces

import (
	"encoding/json"
	"slices"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// fixed are strings that name something: a further piece repeats them and does not add to them.
var fixed = []string{"id", "type", "role", "name", "object", "model", "format", "status", "signature", "encrypted_content"}

// Merge joins the members of a further piece. Strings are added to, save for those that name something; objects are joined,
// items of lists that have the same "index" too, other items follow. Null changes nothing that is there, and of numbers and
// flags the last counts. So members that nobody here has heard of come out whole as well.
func (o *Object) Merge(piece []byte) {
	for name, v := range jsonrpc.Members(piece) {
		o.join(name, v)
	}
}

func (o *Object) join(name string, v json.RawMessage) {
	said, isText := jsonrpc.Text(v)
	switch {
	case string(v) == "null":
		if !o.Has(name) {
			o.Set(name, v)
		}
	case isText && slices.Contains(fixed, name):
		if said != "" || !o.Has(name) {
			o.Set(name, v)
		}
	case isText:
		o.Add(name, said)
	case jsonrpc.IsObject(v):
		o.Object(name).Merge(v)
	case jsonrpc.IsArray(v):
		o.List(name).merge(v)
	default:
		o.Set(name, v)
	}
}

func (l *List) merge(piece []byte) {
	for item := range jsonrpc.Elements(piece) {
		at, known := l.indexed[Index(item, "index")]
		if known {
			l.At(at).Merge(item)
		} else {
			l.Append(item)
		}
	}
}
