package pieces

import (
	"encoding/json"
	"slices"
	"strconv"

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
		if had := l.at(Index(item, "index")); had != nil {
			had.Merge(item)
		} else {
			l.Append(item)
		}
	}
}

// at is the object with an index; nil where there is none.
func (l *List) at(index int) *Object {
	if index < 0 {
		return nil
	}
	for i, item := range l.items {
		switch v := item.(type) {
		case *Object:
			if n, ok := v.find("index").(raw); ok && string(n) == strconv.Itoa(index) {
				return v
			}
		case raw:
			if Index(v, "index") == index {
				return l.At(i)
			}
		}
	}
	return nil
}
