package era

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// NameOf returns what a message is about: the name of a tool or prompt, the URI of a resource, for a method of an
// extension the parameter that the header Mcp-Name repeats; else "". row is that of its method, nil for vendor methods.
func NameOf(m *jsonrpc.Message, row *Row) string {
	var raw json.RawMessage
	switch {
	case m.Method == mcp.MethodSubscribeResource || m.Method == mcp.MethodUnsubscribeResource:
		raw, _ = m.Lifted(LiftURI)
	case row == nil || row.NameParam == "":
		return ""
	case row.NameParam == BodyNames[LiftName]:
		raw, _ = m.Lifted(LiftName)
	case row.NameParam == BodyNames[LiftURI]:
		raw, _ = m.Lifted(LiftURI)
	default:
		raw, _ = jsonrpc.Member(m.Params, row.NameParam)
	}
	name, _ := jsonrpc.Text(raw) // what is no string is no name
	return name
}
