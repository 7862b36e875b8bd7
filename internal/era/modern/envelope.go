package modern

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

type rawValue = json.RawMessage

// readEnvelope checks the members of _meta that a request needs: row 7. It reads what Decode has lifted.
//
// Shape: protocolVersion a string, clientCapabilities an object, both required; clientInfo an Implementation and logLevel
// one of the eight levels, where present. The first one that is missing or wrong is named. Spec 2026-07-28, basic.
func readEnvelope(m *jsonrpc.Message) (env era.Envelope, refusal *era.Refusal) {
	claim, ok := m.LiftedMeta(era.MetaClaim)
	switch {
	case !ok:
		return env, era.BadMeta(mcp.MetaProtocolVersion, "missing", "name the protocol version of the request there")
	case claim[0] != '"':
		return env, era.BadMeta(mcp.MetaProtocolVersion, "not a string", "name the protocol version of the request there")
	}
	env.ClientCapabilities, ok = m.LiftedMeta(era.MetaClientCapabilities)
	switch {
	case !ok:
		return env, era.BadMeta(mcp.MetaClientCapabilities, "missing", "send the client's capabilities, {} for none")
	case env.ClientCapabilities[0] != '{':
		return env, era.BadMeta(mcp.MetaClientCapabilities, "not an object", "send the client's capabilities, {} for none")
	}
	if env.ClientInfo, ok = m.LiftedMeta(era.MetaClientInfo); ok && !isImplementation(env.ClientInfo) {
		return env, era.BadMeta(mcp.MetaClientInfo, "not an object with the strings name and version", "mend it or leave it out")
	}
	if env.LogLevel, ok = m.LiftedMeta(era.MetaLogLevel); ok && !isLevel(env.LogLevel) {
		return env, era.BadMeta(mcp.MetaLogLevel, "not a log level", "send one of debug, info, notice, warning, error, critical, alert, emergency")
	}
	return env, nil
}

// isImplementation tells whether a raw value names a program: an object with a name and a version.
func isImplementation(raw []byte) bool {
	var name, version bool
	for m := range jsonrpc.Fields(raw) {
		switch {
		case m.Is("name"):
			name = m.Value[0] == '"'
		case m.Is("version"):
			version = m.Value[0] == '"'
		}
	}
	return name && version
}

func isLevel(raw []byte) bool {
	text, ok := jsonrpc.Text(raw)
	if !ok {
		return false
	}
	_, err := mcp.ParseLevel(text)
	return err == nil
}

// declares tells whether client capabilities name an extension.
func declares(capabilities []byte, extension string) bool {
	extensions, _ := jsonrpc.Member(capabilities, "extensions")
	settings, ok := jsonrpc.Member(extensions, extension)
	return ok && jsonrpc.IsObject(settings)
}

var (
	envelopeMembers = []int{era.MetaClaim, era.MetaClientInfo, era.MetaClientCapabilities, era.MetaLogLevel}
	retryMembers    = []int{era.LiftInputResponses, era.LiftRequestState}
)

// withoutEnvelope cuts the envelope out of params.
func withoutEnvelope(m *jsonrpc.Message) json.RawMessage { return m.LeanParams(nil, envelopeMembers) }

// withoutRetry cuts the envelope and the material of a retry out of params.
func withoutRetry(m *jsonrpc.Message) json.RawMessage {
	return m.LeanParams(retryMembers, envelopeMembers)
}

// envelope is what a client puts into the _meta of everything it sends, made once.
type envelope struct {
	own   era.Own // claim, clientInfo, clientCapabilities, and a place for the level
	pairs []byte  // the same without the level, as they are spliced in when the caller adds nothing of its own
}

func newEnvelope(revision string, info mcp.Implementation, capabilities mcp.ClientCapabilities) (envelope, error) {
	capabilities.Tasks = nil // a member of 2025-11-25; here tasks are an extension
	if capabilities.Roots != nil && capabilities.Roots.ListChanged {
		roots := *capabilities.Roots
		roots.ListChanged = false // there is no such notification
		capabilities.Roots = &roots
	}
	rawInfo, err := json.Marshal(info)
	if err != nil {
		return envelope{}, err
	}
	rawCapabilities, err := json.Marshal(capabilities)
	if err != nil {
		return envelope{}, err
	}
	if info.Name == "" { // nobody has said who we are, and a nameless Implementation is none
		rawInfo = nil
	}
	e := envelope{own: era.Own{
		{mcp.MetaProtocolVersion, []byte(`"` + revision + `"`)},
		{mcp.MetaClientInfo, rawInfo},
		{mcp.MetaClientCapabilities, rawCapabilities},
		{mcp.MetaLogLevel, nil},
	}}
	pairs := era.AppendMeta(nil, e.own, nil, nil, nil)
	e.pairs = pairs[1 : len(pairs)-1]
	return e, nil
}

// appendTo appends a _meta object: the envelope, and the members of base and over, which win.
func (e *envelope) appendTo(dst, base, over, token []byte, level string) []byte {
	if base == nil && over == nil {
		o := era.OpenObject(dst)
		o.Pairs(e.pairs)
		if level != "" {
			o.Resume(jsonrpc.AppendString(o.Key(mcp.MetaLogLevel), level))
		}
		if token != nil {
			o.Put(mcp.MetaProgressToken, token)
		}
		return o.Close()
	}
	own := e.own
	if level != "" {
		own = append(era.Own(nil), e.own...)
		own[len(own)-1].Value = jsonrpc.AppendString(nil, level)
	}
	return era.AppendMeta(dst, own, base, over, token)
}
