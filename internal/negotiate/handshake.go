package negotiate

import (
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Handshake checks an initialize request and picks the revision of the session: the one asked for where it is a legacy
// one that is served, and the first legacy one in order of preference otherwise. A modern revision is never picked, it
// has no sessions.
//
// It refuses with -32022 where no legacy revision is served, and with -32602 params whose protocolVersion is no string,
// or whose capabilities or clientInfo are there and no objects. A client that leaves these two out is served.
func (s *Set) Handshake(m *jsonrpc.Message) (era.Codec, *era.Refusal) {
	raw, named := m.Lifted(era.LiftProtocolVersion)
	asked, text := jsonrpc.Text(raw)
	switch {
	case len(s.legacy) == 0:
		return nil, s.unserved(asked, text)
	case !named:
		return nil, badHandshake("protocolVersion is missing; name the revision the client speaks")
	case !text:
		return nil, badHandshake("protocolVersion must be a string, got %.60s", raw)
	}
	for p := range jsonrpc.Fields(m.Params) {
		if (p.Is("capabilities") || p.Is("clientInfo")) && !jsonrpc.IsObject(p.Value) {
			return nil, badHandshake("%s must be an object, got %.60s", p.Name, p.Value)
		}
		if p.Is("clientInfo") && !namesProgram(p.Value) {
			return nil, badHandshake("clientInfo needs its name and version to be strings, got %.200s", p.Value)
		}
	}
	if codec, ok := s.legacyCodec(asked); ok {
		return codec, nil
	}
	return s.codecs[s.legacy[0]], nil
}

// namesProgram tells whether name and version are strings where they are there.
func namesProgram(info []byte) bool {
	for m := range jsonrpc.Fields(info) {
		if (m.Is("name") || m.Is("version")) && !jsonrpc.IsString(m.Value) {
			return false
		}
	}
	return true
}

func badHandshake(format string, args ...any) *era.Refusal {
	return era.Refuse(era.RowParams, mcp.InvalidParams("initialize: "+format, args...))
}
