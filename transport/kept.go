package transport

import (
	"context"
	"encoding/json"

	"github.com/rialto-mcp/rialto/mcp"
)

// PeerState is what a client has said of itself and asked for: all that another process needs to go on with its session.
type PeerState struct {
	ClientInfo   json.RawMessage // of the handshake
	Capabilities json.RawMessage // of the handshake
	Ready        bool            // the handshake is complete
	Level        mcp.Level       // of the log messages it wants; "" when it has set none
	Resources    []string        // whose updates it wants, by URI
}

// Keeper is an Outlet of a peer that several processes serve, and whose state is kept where each of them reads and changes
// it. Its methods may be called concurrently.
type Keeper interface {
	// Keep changes the state: edit is called with the newest, perhaps several times. The peer has the new state when Keep
	// returns. It fails where the state cannot be kept; then nothing has changed.
	Keep(ctx context.Context, edit func(*PeerState)) error

	// Holds tells whether it is this process that sends what belongs to no exchange, as far as is known without asking
	// anybody: it may be two for a moment, rather than none.
	Holds() bool

	// Refresh gives the peer the newest state, and answers false when the session has ended.
	Refresh(ctx context.Context) (lives bool, err error)
}

// Reacher is an Exchange that knows whether its client can still be reached: by the stream of the exchange or by any other
// of the same session.
type Reacher interface {
	// Reachable tells whether a stream is open to the client. It may be called concurrently, and until the exchange is over.
	Reachable(ctx context.Context) bool
}
