package httpsse

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// latePeer ends its handshake between the first look at it and the second.
type latePeer struct {
	transport.Peer
	looks int
	codec era.Codec
}

func (p *latePeer) Codec() era.Codec {
	if p.looks++; p.looks == 1 {
		return nil
	}
	return p.codec
}

// counter counts what is delivered.
type counter struct {
	transport.Receiver
	delivered int
}

func (c *counter) Deliver(context.Context, transport.Exchange) { c.delivered++ }

// What an authorization layer is asked about is what is delivered: a message that comes while a handshake is under way is
// judged as one before it or as one after it, and not as the one here and the other there.
func TestAllowedIsDelivered(t *testing.T) {
	set, err := negotiate.New(era.Config{Side: era.ServerSide, Info: mcp.Implementation{Name: "desk", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	codec, ok := set.Codec("2025-03-26")
	if !ok {
		t.Fatal("the revision is not served")
	}
	for _, first := range []int{0, 1} { // looks that have been taken before
		recv := &counter{}
		h := New(recv, set, Options{})
		asked := 0
		r := httptest.NewRequest(http.MethodPost, "/message", http.NoBody)
		r = r.WithContext(transport.WithGrant(r.Context(), &transport.Grant{Allow: func(_ http.ResponseWriter, ops []transport.Operation) bool {
			asked = len(ops)
			return true
		}}))
		from := origin{session: &session{h: h, peer: &latePeer{looks: first, codec: codec}}}
		h.take(r.Context(), httptest.NewRecorder(), r, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write"}}`), from)
		if asked != recv.delivered || asked != first {
			t.Errorf("from look %d: asked about %d, delivered %d", first, asked, recv.delivered)
		}
	}
}
