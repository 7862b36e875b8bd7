package streamhttp

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// origin is what an exchange knows of where its message came from.
type origin struct {
	message   *jsonrpc.Message
	codec     era.Codec
	session   *session // nil for a stateless exchange
	principal *mcp.Principal
	remote    string
	request   atomic.Pointer[http.Request] // nil once the exchange is parked
}

func (o *origin) Message() *jsonrpc.Message { return o.message }
func (o *origin) Codec() era.Codec          { return o.codec }
func (o *origin) OverHTTP() bool            { return true }
func (o *origin) Principal() *mcp.Principal { return o.principal }
func (o *origin) RemoteAddr() string        { return o.remote }
func (o *origin) Related() jsonrpc.ID       { return jsonrpc.ID{} }

// Peer is the session the message belongs to.
func (o *origin) Peer() transport.Peer {
	if o.session == nil {
		return nil
	}
	return o.session.peer
}

// Header reads a header of the request. A parked exchange has let its request go.
func (o *origin) Header(name string) (string, bool) {
	r := o.request.Load()
	if r == nil {
		return "", false
	}
	values, ok := r.Header[name]
	if !ok {
		values, ok = r.Header[http.CanonicalHeaderKey(name)]
	}
	switch {
	case !ok || len(values) == 0:
		return "", false
	case len(values) == 1:
		return values[0], true
	}
	return strings.Join(values, ", "), true
}

// exchange is one posted message and the response it is answered in.
type exchange struct {
	origin
	reply
	ctx callContext
}

var (
	_ transport.Exchange = (*exchange)(nil)
	_ transport.Parker   = (*exchange)(nil)
	_ transport.Pauser   = (*exchange)(nil)
	_ transport.Reacher  = (*exchange)(nil)
)

// Send puts a message ahead of the answer, which makes the response an event stream.
func (x *exchange) Send(ctx context.Context, frame []byte) error { return x.send(ctx, frame) }

// Answer ends the response.
func (x *exchange) Answer(ctx context.Context, frame []byte, row int, code int64) error {
	return x.answer(ctx, frame, status(x.codec.Traits(), row, code), code == 0)
}

// Drop ends the response without an answer. A client whose call is dropped because the server stops is told so: it waits
// for one. That is no 503, which would say that the call has not begun and may be sent again.
func (x *exchange) Drop() {
	if x.h.isClosed() && x.message.Kind() == jsonrpc.KindRequest {
		_ = x.answer(context.Background(), givenUp(x.message.ID), http.StatusOK, false) // fails when there is an answer, or nobody to take it
	}
	x.drop()
}

// Park lets go of the request when the stream has taken its connection over.
func (x *exchange) Park(gone func()) bool {
	s := x.release()
	if s == nil {
		return false
	}
	x.request.Store(nil)
	s.onGone(gone)
	return true
}

// Reachable tells whether the client has a stream open: this one, or another of its session.
func (x *exchange) Reachable(ctx context.Context) bool {
	open, own := x.connected()
	return open || x.session != nil && x.session.reachable(ctx, own)
}

// Pause ends the connection before the answer.
func (x *exchange) Pause(retry time.Duration) bool { return x.closeStream(retry) }
