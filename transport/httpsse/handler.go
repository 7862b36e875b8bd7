package httpsse

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// Handler serves legacy clients over HTTP+SSE. Its methods may be called concurrently; it is made by New.
type Handler struct {
	recv     transport.Receiver
	set      *negotiate.Set
	opts     Options
	guard    *streamhttp.Guard
	bodies   streamhttp.Bodies
	streams  *streamhttp.Streams
	sessions web.Table[*session]
	paths    map[string][]string // methods by path
	closed   chan struct{}
	once     sync.Once
}

var (
	_ http.Handler         = (*Handler)(nil)
	_ transport.Gatekeeper = (*Handler)(nil)
)

// New makes a handler that feeds recv. Of set only the legacy revisions are served. Close or Shutdown must be called in
// the end.
func New(recv transport.Receiver, set *negotiate.Set, opts Options) *Handler {
	opts = opts.withDefaults()
	h := &Handler{
		recv: recv, set: set.LegacyOnly(), opts: opts,
		guard:  opts.Guard,
		bodies: streamhttp.Bodies{Max: opts.MaxBodyBytes, Timeout: opts.BodyTimeout, OnError: opts.OnError},
		streams: streamhttp.NewStreams(streamhttp.StreamOptions{
			KeepAlive: opts.KeepAlive, WriteTimeout: opts.WriteTimeout, NoHijack: opts.NoHijack, OnError: opts.OnError,
		}),
		paths:  make(map[string][]string),
		closed: make(chan struct{}),
	}
	h.sessions.Most, h.sessions.Full = opts.MaxSessions, errSessions
	h.answers(opts.Path, http.MethodGet)
	h.answers(opts.MessagePath, http.MethodPost)
	return h
}

func (h *Handler) answers(path, method string) {
	path = trimmed(path)
	h.paths[path] = append(h.paths[path], method)
}

// trimmed makes a path with a slash at its end the one without: nobody should have to know which it is.
func trimmed(path string) string { return strings.TrimSuffix(path, "/") }

// ServeHTTP answers the two paths, and 404 on others.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !h.Admit(w, r):
	case h.guard.IsPreflight(r):
		streamhttp.Preflight(w, r, h.paths[trimmed(r.URL.Path)])
	case h.opts.SecurityValidator != nil && !web.Passes(w, h.opts.SecurityValidator(r)):
	case r.Method == http.MethodPost:
		h.post(w, r)
	case h.isClosed():
		unavailable(w, errShutdown)
	default:
		h.open(w, r)
	}
}

var errShutdown = errors.New("the server is shutting down")

// Admit checks path, method, Host and Origin, also for a layer around the handler, so that they come before its own checks.
func (h *Handler) Admit(w http.ResponseWriter, r *http.Request) bool {
	methods := h.paths[trimmed(r.URL.Path)]
	if methods == nil {
		web.Plain(w, http.StatusNotFound, "there is nothing here; the event stream is at "+h.stream(r))
		return false
	}
	h.guard.Share(w, r)
	h.bodies.Limit(w, r)
	if !h.guard.IsPreflight(r) && !web.Answers(w, r, methods) {
		return false
	}
	return web.Passes(w, h.guard.Check(r))
}

func (h *Handler) isClosed() bool {
	select {
	case <-h.closed:
		return true
	default:
		return false
	}
}

// Sessions returns how many streams are open, each of which is a session.
func (h *Handler) Sessions() int { return h.sessions.Len() }

// Refuse takes no new streams and requests, which are told so. What runs goes on, and may still be answered and cancelled.
func (h *Handler) Refuse() { h.once.Do(func() { close(h.closed) }) }

// Shutdown takes no new streams and requests, waits until the calls of all sessions have been answered or ctx ends, and closes the
// handler. It returns the context's error when that ended first, and may be called twice.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.Refuse()
	h.sessions.Each(func(s *session) { s.peer.Drain(ctx) })
	err := ctx.Err()
	return errors.Join(err, h.Close())
}

// Close takes no new streams, cancels what runs and ends every stream. It returns when all that has ended, and may be
// called twice.
func (h *Handler) Close() error {
	h.Refuse()
	h.sessions.Close(func(s *session) { s.dismiss(errStopping) })
	h.streams.Close()
	return nil
}

// unavailable answers 503.
func unavailable(w http.ResponseWriter, why error) {
	w.Header().Set("Retry-After", "1")
	web.Plain(w, http.StatusServiceUnavailable, "no stream can be served now: "+why.Error())
}

// refuse answers 400 with a JSON-RPC error; a zero id is left out.
func refuse(w http.ResponseWriter, id jsonrpc.ID, err *mcp.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	w.Write(jsonrpc.AppendError(nil, id, era.WriteError(err, err.Code)))
}
