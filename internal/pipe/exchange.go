package pipe

import (
	"context"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// exchange is one message on the server's end.
type exchange struct {
	message *jsonrpc.Message
	codec   era.Codec
	server  *server
	to      back
}

// single is an exchange that came alone in its frame, so that the reader has nothing more to register before it may run
// the request. Those of an array are not: each must be known before the first one takes its time.
type single struct {
	exchange
	turn *turn
}

var (
	_ transport.Exchange = (*exchange)(nil)
	_ transport.Parker   = (*exchange)(nil)
	_ transport.Inline   = (*single)(nil)
)

func (x *exchange) Message() *jsonrpc.Message { return x.message }
func (x *exchange) Codec() era.Codec          { return x.codec }
func (x *exchange) Peer() transport.Peer      { return x.server.peer }
func (x *exchange) OverHTTP() bool            { return false }
func (x *exchange) Principal() *mcp.Principal { return nil }
func (x *exchange) RemoteAddr() string        { return "" }
func (x *exchange) Related() jsonrpc.ID       { return jsonrpc.ID{} }

// Header answers that there is none: a pipe has no headers.
func (x *exchange) Header(string) (string, bool) { return "", false }

// Send writes a message that goes ahead of the answer.
func (x *exchange) Send(ctx context.Context, frame []byte) error {
	return x.server.write(ctx, frame)
}

// Answer writes the answer, or puts it into the array it belongs to.
func (x *exchange) Answer(ctx context.Context, frame []byte, _ int, _ int64) error {
	return x.to.answer(ctx, frame)
}

// Drop ends the exchange without an answer.
func (x *exchange) Drop() { x.to.drop() }

// Park needs nothing: the pipe is open anyway, and a cancellation finds its request in the table of its peer.
func (x *exchange) Park(func()) bool { return true }

// Answer writes the answer, or holds it back while more requests have arrived. Where the reading goroutine could not be
// relieved by another one, nothing is held: nobody might come back for it.
func (x *single) Answer(ctx context.Context, frame []byte, _ int, _ int64) error {
	if x.turn.last {
		return x.server.write(ctx, frame)
	}
	return x.server.gather(ctx, frame)
}

// Inline lets the reading go on elsewhere if what follows takes long.
func (x *single) Inline() { x.turn.leave() }
