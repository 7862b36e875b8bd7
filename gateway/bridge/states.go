package bridge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// A server that asks by the result of a call gives a state along, which comes back with the answers. To that server all callers
// are the gateway, so it cannot see that somebody else goes on with a call; the gateway can. Where callers have names a state
// travels with a seal for who has got it.

const (
	boundKind = "state of a server"
	boundFor  = 24 * time.Hour // servers may end it earlier
)

// bind puts the seal for the caller of a request before a state of a server.
func bind(ctx context.Context, req *server.Request, to destination, state json.RawMessage) (json.RawMessage, error) {
	text, ok := jsonrpc.Text(state)
	if !ok || !named(req) {
		return state, nil
	}
	seal, err := server.NewHandle(ctx, req, boundKind+" "+to.Server, sumOf(text), boundFor)
	if err != nil {
		return nil, err
	}
	return jsonrpc.AppendString(nil, boundState+seal+"/"+text), nil
}

// unbind takes the seal off a state that a request brings back, and refuses one that was given to somebody else. A state without
// a seal is nobody's, so somebody may not use it.
func unbind(ctx context.Context, req *server.Request, to destination) (json.RawMessage, error) {
	_, raw := req.Retry()
	if raw == nil || !named(req) {
		return raw, nil
	}
	sealed, ok := ownState(req, boundState)
	seal, text, found := strings.Cut(sealed, "/")
	if ok && found {
		sum, err := server.OpenHandle[[]byte](ctx, req, boundKind+" "+to.Server, seal)
		if err == nil && bytes.Equal(sum, sumOf(text)) {
			return jsonrpc.AppendString(nil, text), nil
		}
	}
	return nil, mcp.InvalidParams("requestState: it was not given to this caller, for this server, or it is too old; call again without it")
}

// named tells whether a caller has a name.
func named(req *server.Request) bool { return req.Principal() != nil && !req.Principal().IsZero() }

func sumOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
