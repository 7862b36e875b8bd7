package server

import (
	"errors"

	"github.com/rialto-mcp/rialto/transport/httpsse"
)

// SSEOptions configures SSEHandler. The zero value is ready to use. Hosts, origins, principal, limits and times are those
// of HTTPOptions.
type SSEOptions struct {
	// Path is where clients open the event stream, and MessagePath where they post. Empty means /sse and /message. Both may
	// be the same.
	Path, MessagePath string

	// Prefix stands before MessagePath in what clients are told, for a server behind a proxy that takes a part of the path
	// away. What http.StripPrefix takes away is found without it.
	Prefix string

	// Connected sends an event of the name "connected" as the second of each stream, for pages that look on. Its data names
	// the session: {"jsonrpc": "2.0", "method": "connected", "params": {"sessionId": string}}. MCP clients pass it over.
	Connected bool
}

// SSEHandler returns the handler for clients that know HTTP+SSE alone, the transport of 2024-11-05. It answers two paths,
// those of Options.SSE, and serves the legacy revisions only; other clients use Handler, which may stand beside it.
//
// Mount it, or let its ListenAndServe listen by itself, on a loopback address where nothing else is said. Each call makes
// a handler with streams of its own. Its Close or Shutdown ends those, and Server.Shutdown ends all.
func (s *Server) SSEHandler() *httpsse.Handler {
	o, own := s.opts.HTTP, s.opts.SSE
	s.engine.Begin()
	h := httpsse.New(s.engine, s.set, httpsse.Options{
		Path: own.Path, MessagePath: own.MessagePath, Prefix: own.Prefix, Connected: own.Connected,
		AllowedHosts: o.AllowedHosts, AllowedOrigins: o.AllowedOrigins, Guard: o.Guard, SecurityValidator: o.SecurityValidator,
		Principal: o.Principal, NoHijack: o.NoHijack, MaxBodyBytes: o.MaxBodyBytes, MaxBatch: s.opts.MaxBatch,
		MaxSessions: o.MaxSessions, KeepAlive: o.KeepAlive, BodyTimeout: o.BodyTimeout, WriteTimeout: o.WriteTimeout,
		OnError: s.report,
	})
	s.mu.Lock()
	s.handlers = append(s.handlers, h)
	s.mu.Unlock()
	return h
}

// Broadcast sends one event, of any name, to every open stream of every SSEHandler, and returns how many have taken it. No
// other wire has such events: pages that look on listen to them by name, and MCP clients should ignore them; see
// [httpsse.Handler.Broadcast] for one that does not, and for when it fails. It may be called concurrently.
func (s *Server) Broadcast(event string, data []byte) (viewers int, err error) {
	s.mu.Lock()
	handlers := s.handlers
	s.mu.Unlock()
	for _, one := range handlers {
		h, ok := one.(*httpsse.Handler)
		if !ok {
			continue
		}
		n, failed := h.Broadcast(event, data)
		viewers, err = viewers+n, errors.Join(err, failed)
	}
	return viewers, err
}
