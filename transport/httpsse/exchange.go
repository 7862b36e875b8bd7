package httpsse

import (
	"context"
	"net/http"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// origin is what an exchange knows of where its message came from.
type origin struct {
	message   *jsonrpc.Message
	codec     era.Codec
	session   *session
	principal *mcp.Principal
	remote    string
	header    http.Header // of the POST
}

func (o *origin) Message() *jsonrpc.Message { return o.message }
func (o *origin) Codec() era.Codec          { return o.codec }
func (o *origin) Peer() transport.Peer      { return o.session.peer }
func (o *origin) OverHTTP() bool            { return true }
func (o *origin) Principal() *mcp.Principal { return o.principal }
func (o *origin) RemoteAddr() string        { return o.remote }
func (o *origin) Related() jsonrpc.ID       { return jsonrpc.ID{} }

// Header reads a header of the POST.
func (o *origin) Header(name string) (string, bool) {
	values := o.header[http.CanonicalHeaderKey(name)]
	return strings.Join(values, ", "), len(values) > 0
}

// back is where the answer of a message goes: the stream itself, or the array it came in.
type back interface {
	answer(ctx context.Context, frame []byte) error
	drop()
}

// exchange is one message and the stream it is answered on.
type exchange struct {
	origin
	to back
}

var _ transport.Exchange = (*exchange)(nil)

// Send writes a message that goes ahead of the answer.
func (x *exchange) Send(ctx context.Context, frame []byte) error { return x.session.Send(ctx, frame) }

// Answer writes the answer, or puts it into the array it belongs to.
func (x *exchange) Answer(ctx context.Context, frame []byte, _ int, _ int64) error {
	return x.to.answer(ctx, frame)
}

// Drop ends the exchange without an answer.
func (x *exchange) Drop() { x.to.drop() }

// batch is one array, whose answers leave as one event.
type batch struct {
	session *session
	answers *jsonrpc.Answers
}

func (b *batch) answer(ctx context.Context, frame []byte) error { return b.settle(ctx, frame) }
func (b *batch) drop()                                          { b.session.h.report(b.settle(context.Background(), nil)) }

// settle takes the end of one element, with its answer if it has one, and sends the array after the last.
func (b *batch) settle(ctx context.Context, frame []byte) error {
	if array, _ := b.answers.End(frame); array != nil {
		return b.session.Send(ctx, array)
	}
	return nil
}
