package server

import "github.com/rialto-mcp/rialto/mcp"

// dismisser is a handler whose sessions belong to principals.
type dismisser interface {
	Dismiss(gone func(*mcp.Principal) bool)
}

// Dismiss ends what callers have open over HTTP that gone says yes to: legacy sessions with their streams and the calls in
// them, and subscriptions of the modern era. It is for programs that take somebody's access away while they run, once further
// requests of these are refused. What others have open is not touched, nor are pipes; a modern call that runs goes to its end.
// gone gets nil for nobody, may be called concurrently, and must not block. Dismiss returns when all has ended; handlers that
// ignore their context are waited for 5 s.
func (s *Server) Dismiss(gone func(*mcp.Principal) bool) {
	s.mu.Lock()
	handlers := s.handlers
	s.mu.Unlock()
	for _, h := range handlers {
		if d, ok := h.(dismisser); ok {
			d.Dismiss(gone)
		}
	}
	s.engine.Dismiss(gone)
}
