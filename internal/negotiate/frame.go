package negotiate

import (
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ClassifyFrame says where a message goes that came over a pipe. Each is judged by itself: a claim makes it modern, and
// what has none belongs to the handshake of the pipe. settled is the codec that the handshake has settled on, nil before.
// TestClassifyFrame lists every case.
func (s *Set) ClassifyFrame(m *jsonrpc.Message, settled era.Codec) Route {
	switch m.Kind() {
	case jsonrpc.KindRequest:
		if says := claimOf(m); says != nil {
			return s.claimedCall(says)
		}
		return s.bareCall(m, settled)
	case jsonrpc.KindNotification:
		return s.frameNotice(m, settled)
	case jsonrpc.KindResult, jsonrpc.KindError:
		return legacyOrDrop(settled) // only a legacy server asks
	}
	return refuse(invalid(era.RowShape, "this is no JSON-RPC message"))
}

func legacyOrDrop(settled era.Codec) Route {
	if settled == nil {
		return Route{Kind: Drop}
	}
	return Route{Kind: Legacy, Codec: settled}
}

// claimedCall judges a request with a claim. One that is no string goes on to the codec, which names it.
func (s *Set) claimedCall(says claim) Route {
	codec, ok := s.claimed(says)
	if !ok {
		return refuse(s.unserved(says.text(), says.read()))
	}
	return Route{Kind: Modern, Codec: codec}
}

func (s *Set) claimed(says claim) (era.Codec, bool) {
	if !says.read() && len(s.modern) > 0 {
		return s.codecs[s.modern[0]], true
	}
	for _, revision := range s.modern {
		if says.is(revision) {
			return s.codecs[revision], true
		}
	}
	return nil, false
}

// bareCall judges a request without a claim.
func (s *Set) bareCall(m *jsonrpc.Message, settled era.Codec) Route {
	switch {
	case m.Method == mcp.MethodInitialize:
		return s.open(m, settled)
	case len(s.legacy) == 0:
		return refuse(s.unserved("", false))
	case settled != nil:
		return Route{Kind: Legacy, Codec: settled}
	case m.Method == mcp.MethodPing: // every legacy revision lets a client ping before the handshake has ended
		return Route{Kind: Legacy, Codec: s.codecs[s.legacy[0]]}
	}
	return refuse(invalid(era.RowShape, "%q came before a handshake and without a protocol version; %s", m.Method, s.waysIn()))
}

// frameNotice judges a notification. A cancellation is looked up in the one table of what is in flight, whatever era it
// is of, so it is never dropped while anything can be in flight.
func (s *Set) frameNotice(m *jsonrpc.Message, settled era.Codec) Route {
	says := claimOf(m)
	if says != nil {
		if codec, ok := s.claimed(says); ok && says.read() {
			return Route{Kind: Modern, Codec: codec}
		}
	}
	if m.Method != mcp.NotifyCancelled {
		if says != nil {
			return Route{Kind: Drop}
		}
		return legacyOrDrop(settled)
	}
	if settled == nil && len(s.modern) > 0 {
		return Route{Kind: Modern, Codec: s.codecs[s.modern[0]]}
	}
	return legacyOrDrop(settled)
}
