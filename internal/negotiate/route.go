package negotiate

import (
	"bytes"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/era/modern"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Kind says where a message goes.
type Kind uint8

// The kinds of routes.
const (
	Modern  Kind = iota + 1 // to the engine, stateless
	Legacy                  // to a session, or as an opening
	Refused                 // nowhere: the peer is told why, if it has asked
	Drop                    // nowhere, without a word
)

// Route is the answer of a classification.
type Route struct {
	Kind    Kind
	Codec   era.Codec    // of Modern and Legacy; for an opening, the one that was picked
	Refusal *era.Refusal // of Refused

	// Opening marks an initialize request that was accepted. The session begins with its answer.
	Opening bool
}

func refuse(r *era.Refusal) Route { return Route{Kind: Refused, Refusal: r} }

// version reads the version header. Blanks around it go; an empty one names nothing.
func version(h era.Headers) (value string, named bool) {
	if h == nil {
		return "", false
	}
	value, _ = h.Header(era.HeaderVersion)
	value = strings.Trim(value, " \t")
	return value, value != ""
}

// claim is what a message says of its own version, as a raw value; nil for nothing.
type claim []byte

func claimOf(m *jsonrpc.Message) claim {
	raw, ok := m.LiftedMeta(era.MetaClaim)
	if !ok || m.Method == "" {
		return nil
	}
	return claim(raw)
}

// read tells whether the claim is a string.
func (c claim) read() bool { return jsonrpc.IsString(c) }

// text returns the claim where it is a string.
func (c claim) text() string {
	text, _ := jsonrpc.Text(c)
	return text
}

// is compares the claim with a revision. It allocates nothing for a claim that is written without escapes.
func (c claim) is(revision string) bool {
	if bytes.IndexByte(c, '\\') < 0 && c.read() {
		return string(c[1:len(c)-1]) == revision
	}
	return c.read() && c.text() == revision
}

// IsModern tells whether a posted message belongs to the modern era, so that no session has to be looked up for it: it
// carries a claim, or beside a header of a modern date it opens no session.
func IsModern(m *jsonrpc.Message, h era.Headers) bool {
	if m.Method == "" {
		return false
	}
	value, _ := version(h)
	return claimOf(m) != nil || mcp.IsModernDate(value) && m.Method != mcp.MethodInitialize
}

// Classify says where a message goes that came in a POST: rows 2 to 4 of the table of refusals, and for notifications
// what there is of rows 5 and 7. session is the codec of the live session that the request names, nil for none; it is not
// looked at for what IsModern tells. The body decides, headers only cross-check. Spec 2026-07-28, basic/transports,
// streamable-http; TestClassify lists every case.
func (s *Set) Classify(m *jsonrpc.Message, h era.Headers, session era.Codec) Route {
	kind := m.Kind()
	if kind != jsonrpc.KindRequest && kind != jsonrpc.KindNotification {
		if session != nil {
			return Route{Kind: Legacy, Codec: session}
		}
		return refuse(invalid(era.RowShape, "a response can only be posted inside a session; send requests and notifications here"))
	}
	says := claimOf(m)
	value, named := version(h)
	late := mcp.IsModernDate(value)
	if kind == jsonrpc.KindRequest && m.Method == mcp.MethodInitialize && says == nil {
		if late {
			return refuse(headerBesideInitialize(m, value))
		}
		return s.open(m, session)
	}
	switch {
	case says == nil && !late:
		return s.classifyLegacy(kind, value, named, session)
	case kind == jsonrpc.KindRequest:
		return s.modernCall(says, value, named)
	}
	return s.modernNotice(m, h, says, value, named)
}

// headerBesideInitialize refuses a handshake that is posted under a modern header: row 3.
func headerBesideInitialize(m *jsonrpc.Message, value string) *era.Refusal {
	raw, _ := m.Lifted(era.LiftProtocolVersion)
	asked, _ := jsonrpc.Text(raw)
	r := era.Mismatch(era.RowHeader, era.HeaderVersion, value, true, asked)
	r.Err.Message = "the header MCP-Protocol-Version names " + value +
		", which has no initialize; leave the header out to open a session, or leave initialize out"
	return r
}

// modernCall judges the version of a request: rows 3 and 4.
func (s *Set) modernCall(says claim, value string, named bool) Route {
	switch {
	case says != nil && !named && !says.read():
		return refuse(era.Mismatch(era.RowHeader, era.HeaderVersion, "", false, s.preferred()))
	case says != nil && !named:
		return refuse(era.Mismatch(era.RowHeader, era.HeaderVersion, "", false, says.text()))
	case says.read() && !says.is(value):
		return refuse(era.Mismatch(era.RowHeader, era.HeaderVersion, value, true, says.text()))
	}
	codec, ok := s.modernCodec(value)
	if !ok {
		return refuse(s.unserved(value, true))
	}
	return Route{Kind: Modern, Codec: codec}
}

// preferred is the revision to tell a peer of that has claimed none that can be read.
func (s *Set) preferred() string {
	if len(s.modern) == 0 {
		return mcp.LatestModern
	}
	return s.modern[0]
}

// modernNotice judges a notification: the headers may be missing, and what is wrong is told without an id.
func (s *Set) modernNotice(m *jsonrpc.Message, h era.Headers, says claim, value string, named bool) Route {
	if named && says.read() && !says.is(value) {
		return refuse(era.Mismatch(era.RowHeader, era.HeaderVersion, value, true, says.text()))
	}
	if says.read() {
		value, named = says.text(), true
	}
	codec, ok := s.modernCodec(value)
	if !ok && (named || len(s.modern) == 0) {
		return refuse(s.unserved(value, named))
	}
	if h != nil {
		if refusal := modern.CheckNoticeMethod(h, m.Method); refusal != nil {
			return refuse(refusal)
		}
	}
	if says != nil && !says.read() {
		return refuse(era.BadMeta(mcp.MetaProtocolVersion, "not a string", "name the protocol version of the message there"))
	}
	return Route{Kind: Modern, Codec: codec}
}

// classifyLegacy judges a message without a claim and without a modern header: the version is judged
// by sessionCodec.
func (s *Set) classifyLegacy(kind jsonrpc.Kind, value string, named bool, session era.Codec) Route {
	if len(s.legacy) == 0 {
		if kind == jsonrpc.KindNotification {
			return Route{Kind: Drop}
		}
		return refuse(s.unserved(value, named))
	}
	codec, refusal := s.sessionCodec(value, named, session)
	if refusal != nil {
		return refuse(refusal)
	}
	return Route{Kind: Legacy, Codec: codec}
}

// sessionCodec picks the revision of a legacy message over HTTP: the session's; without a session the header's; without
// both 2025-03-26, the last revision whose clients need not send the header.
func (s *Set) sessionCodec(value string, named bool, session era.Codec) (era.Codec, *era.Refusal) {
	if session != nil {
		if named && value != session.Revision() {
			return nil, invalid(era.RowVersion, "the header MCP-Protocol-Version names %q but this session speaks %s; send that", value, session.Revision())
		}
		return session, nil
	}
	if !named {
		value = mcp.VersionWithoutHeader
	}
	codec, ok := s.legacyCodec(value)
	switch {
	case !ok && !named:
		return nil, invalid(era.RowVersion, "the header MCP-Protocol-Version is missing; %s", s.waysIn())
	case !ok:
		return nil, s.badHeader(value)
	}
	return codec, nil
}

// open judges an initialize request.
func (s *Set) open(m *jsonrpc.Message, session era.Codec) Route {
	if session != nil {
		return refuse(invalid(era.RowShape, "this session speaks %s already; open a new one to begin again", session.Revision()))
	}
	codec, refusal := s.Handshake(m)
	if refusal != nil {
		return refuse(refusal)
	}
	return Route{Kind: Legacy, Codec: codec, Opening: true}
}
