package streamhttp

import (
	"context"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

var lift = negotiate.Lift

// arrival is one message from the server.
type arrival struct {
	message *jsonrpc.Message
	codec   era.Codec
	client  *Client
	related jsonrpc.ID
}

var _ transport.Exchange = (*arrival)(nil)

func (x *arrival) Message() *jsonrpc.Message    { return x.message }
func (x *arrival) Codec() era.Codec             { return x.codec }
func (x *arrival) Peer() transport.Peer         { return x.client.peer }
func (x *arrival) OverHTTP() bool               { return false } // the headers of a response belong to no message
func (x *arrival) Principal() *mcp.Principal    { return nil }
func (x *arrival) RemoteAddr() string           { return "" }
func (x *arrival) Related() jsonrpc.ID          { return x.related }
func (x *arrival) Header(string) (string, bool) { return "", false }
func (x *arrival) Drop()                        {}

// Send posts a message that goes ahead of the answer.
func (x *arrival) Send(ctx context.Context, frame []byte) error { return x.client.postBack(ctx, frame) }

// answerTime bounds how long a server may leave an answer unread.
const answerTime = 30 * time.Second

// Answer posts the answer to a request of the server's. Once it is on its way it does not end with ctx: the server may end
// the call that the request belongs to before it has told that it has the answer.
func (x *arrival) Answer(ctx context.Context, frame []byte, _ int, _ int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	ctx, end := x.client.within(ctx)
	return x.client.postUntil(ctx, frame, func() { end(); cancel() })
}

// messages reads a frame: a message, or an array of them. What is none is told to broken, and the rest goes on.
func (c *Client) messages(frame []byte, broken func(frame []byte, why error)) []*jsonrpc.Message {
	if !jsonrpc.IsBatch(frame) {
		m, err := jsonrpc.Decode(frame, lift)
		if err != nil {
			broken(frame, err)
			return nil
		}
		return []*jsonrpc.Message{m}
	}
	elements, err := jsonrpc.SplitBatch(frame, jsonrpc.MaxBatch)
	if err != nil {
		broken(frame, err)
		return nil
	}
	out := make([]*jsonrpc.Message, 0, len(elements))
	for _, raw := range elements {
		if m, err := jsonrpc.Decode(raw, lift); err != nil {
			broken(raw, err)
		} else {
			out = append(out, m)
		}
	}
	return out
}

// skipped reports what is no message. Where it is the answer to a call, that fails.
func (c *Client) skipped(frame []byte, why error) {
	transport.LoseBroken(c.peer, frame, why)
	c.opts.OnError(c.noMessage(frame, why))
}

// noMessage says what came in place of a message.
func (c *Client) noMessage(frame []byte, why error) *transport.FrameError {
	const most = 120
	return &transport.FrameError{Text: fmt.Sprintf("%s sent what is no JSON-RPC message (%v): %.*q", c.where, why, most, frame)}
}

// deliver hands a message to the receiver, unless its revision cannot be known or has no such messages.
func (c *Client) deliver(ctx context.Context, m *jsonrpc.Message, related jsonrpc.ID) {
	codec := c.peer.Codec()
	kind := m.Kind()
	switch {
	case codec == nil && (kind == jsonrpc.KindRequest || kind == jsonrpc.KindNotification):
		c.opts.OnError(fmt.Errorf("dropped %.100s, which came before the connection was open", m.Method))
		return
	case kind == jsonrpc.KindRequest && !codec.Traits().ServerMayCall:
		c.opts.OnError(fmt.Errorf("dropped the request %.100s: a server of revision %s sends none", m.Method, codec.Revision()))
		return
	}
	c.recv.Deliver(ctx, &arrival{message: m, codec: codec, client: c, related: related})
}
