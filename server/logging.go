package server

import (
	"context"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// LogLevel returns the least level of log messages the client wants for this request, and false when it wants none. A
// legacy client that has set no level wants all.
func (r *Request) LogLevel() (mcp.Level, bool) {
	if r.in.Codec.Traits().PerRequestLevel {
		text, ok := jsonrpc.Text(r.in.Envelope.LogLevel)
		return mcp.Level(text), ok
	}
	if r.in.Peer != nil {
		if level, ok := r.in.Peer.Level(); ok {
			return level, true
		}
	}
	return mcp.LevelDebug, true
}

// Log sends a log message to the client if it wants messages of that level. logger may be empty; data is any value that
// has a JSON form. Errors of the connection are not reported: the context tells.
func (r *Request) Log(ctx context.Context, level mcp.Level, logger string, data any) {
	threshold, ok := r.LogLevel()
	if !ok || !level.Enabled(threshold) || r.quiet("a log message") {
		return
	}
	message, err := mcp.NewLoggingMessage(level, logger, data)
	if err != nil {
		r.server.report(err)
		return
	}
	params, err := message.MarshalJSON()
	if err != nil {
		r.server.report(err)
		return
	}
	r.notify(ctx, &era.Notice{Method: mcp.NotifyMessage, Params: params})
}

// setLevel serves logging/setLevel.
func (s *Server) setLevel(ctx context.Context, r *Request) *era.Outcome {
	raw, _ := jsonrpc.Member(r.Params(), "level")
	text, ok := jsonrpc.Text(raw)
	if !ok {
		return invalid(mcp.InvalidParams("logging/setLevel needs a level, such as %q", mcp.LevelInfo))
	}
	level, err := mcp.ParseLevel(text)
	if err != nil {
		return s.failure(r, err)
	}
	if r.in.Peer != nil {
		if err := r.in.Peer.SetLevel(ctx, level); err != nil {
			return s.notKept(err)
		}
	}
	return empty()
}
