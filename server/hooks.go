package server

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/mcp"
)

// Hooks hear of what lasts longer than a request. They may be called concurrently, and hold up the session while they run.
// A modern client over HTTP has nothing that lasts.
type Hooks struct {
	// SessionOpened is called when a legacy session over HTTP, or a connection on a pipe, begins: before its first request is
	// served, and again on each replica that comes to serve the session. Nil means no interest.
	SessionOpened func(Session)

	// SessionClosed is called for each of those when it has ended on this server, and its requests too. Nil means no
	// interest.
	SessionClosed func(Session)

	// Subscriptions is called when [Server.Subscriptions] or [Server.TasksFollowed] may have another answer. It must not block.
	// Nil means no interest.
	Subscriptions func()
}

// Session is what a hook is told.
type Session struct {
	ID         string             // of a session over HTTP; "" on a pipe
	Principal  *mcp.Principal     // who opened it; nil when nobody is known
	ClientInfo mcp.Implementation // what a legacy client says it is; zero before its handshake
}

// onPeer calls a hook for peers of the engine.
func onPeer(hook func(Session)) func(*engine.Peer) {
	if hook == nil {
		return nil
	}
	return func(p *engine.Peer) {
		about := Session{ID: p.SessionID, Principal: p.Principal}
		if raw := p.Envelope().ClientInfo; raw != nil {
			_ = json.Unmarshal(raw, &about.ClientInfo) // on an error it stays zero
		}
		hook(about)
	}
}
