package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// Handler serves both eras on one address. Its methods may be called concurrently; it is made by New.
type Handler struct {
	recv      transport.Receiver
	set       *negotiate.Set
	opts      Options
	guard     *Guard
	methods   []string            // that are answered, for Allow
	log       state.EventLog      // nil where streams are not resumed
	ownLog    *state.MemoryLog    // nil where the log is the user's, or none
	sessions  web.Table[*session] // the legacy ones
	epoch     time.Time           // what uses of sessions are counted from
	streams   streams
	calls     callContexts
	bodies    Bodies
	shared    *replicas // nil where the sessions are those of this handler alone
	sessioned bool      // asked for with every request, so it is found out once
	alarms    alarms
	closed    atomic.Bool // to what is new
}

var (
	_ http.Handler         = (*Handler)(nil)
	_ transport.Gatekeeper = (*Handler)(nil)
)

// New makes a handler that feeds recv. Legacy sessions exist where set serves a legacy revision and Options.Sessionless
// is off. Close or Shutdown must be called in the end. It panics when Options.Sessions is set without what it needs.
func New(recv transport.Receiver, set *negotiate.Set, opts Options) *Handler {
	opts = opts.withDefaults()
	h := &Handler{
		recv: recv, set: set, opts: opts, guard: opts.Guard,
		methods: []string{http.MethodPost}, epoch: time.Now(), sessioned: !opts.Sessionless && len(set.Legacy()) > 0,
	}
	if h.sessionful() {
		if !opts.JSONOnly {
			h.methods = append(h.methods, http.MethodGet)
		}
		h.methods = append(h.methods, http.MethodDelete)
	}
	h.keepEvents()
	h.sessions.Most, h.sessions.Full = opts.MaxSessions, errSessions
	h.streams.init(opts.KeepAlive, opts.WriteTimeout, opts.NoHijack, opts.OnError)
	h.bodies = Bodies{Max: opts.MaxBodyBytes, Timeout: opts.BodyTimeout, OnError: opts.OnError}
	if opts.Sessions != nil && h.sessionful() {
		h.shared = newReplicas(h)
	}
	return h
}

// keepEvents sets the log of the sessions' events.
func (h *Handler) keepEvents() {
	switch {
	case h.opts.NoResume || !h.sessionful():
	case h.opts.EventLog != nil:
		h.log = h.opts.EventLog
	default:
		h.ownLog = state.NewMemoryLog(state.LogLimits{})
		h.log = h.ownLog
	}
}

// sessionful tells whether legacy clients get sessions.
func (h *Handler) sessionful() bool { return h.sessioned }

// ServeHTTP answers one request, whatever its path.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	limited, ok := h.admit(w, r)
	switch {
	case !ok:
		return
	case h.guard.IsPreflight(r):
		Preflight(w, r, h.methods)
		return
	case h.opts.SecurityValidator != nil && !web.Passes(w, h.opts.SecurityValidator(r)):
		return
	case h.isClosed() && (r.Method == http.MethodGet || h.sessions.Closed()):
		refuse(w, http.StatusServiceUnavailable, jsonrpc.ID{}, stopping())
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, limited)
	case http.MethodGet:
		h.get(w, r)
	case http.MethodDelete:
		h.delete(w, r)
	}
}

// stopping is what clients are told that ask, or still wait, while the handler stops.
func stopping() *mcp.Error { return mcp.Errorf(mcp.CodeInternal, "the server is shutting down") }

// Admit checks method, Host and Origin for a layer around the handler, so that they come before its own checks.
func (h *Handler) Admit(w http.ResponseWriter, r *http.Request) bool {
	_, ok := h.admit(w, r)
	return ok
}

// admit checks what can be seen of a request at once, or answers why it is refused. limited is as in Bodies.take.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (limited, ok bool) {
	h.guard.Share(w, r)
	limited = h.bodies.Limit(w, r)
	if !h.guard.IsPreflight(r) && !web.Answers(w, r, h.methods) {
		return limited, false
	}
	return limited, web.Passes(w, h.guard.Check(r))
}

func (h *Handler) isClosed() bool { return h.closed.Load() }

// Sessions returns how many legacy sessions are open here.
func (h *Handler) Sessions() int { return h.sessions.Len() }

// Streams returns how many event streams are open.
func (h *Handler) Streams() int { return h.streams.count() }

// Refuse takes no new requests and streams: they are answered with 503 from now on. What runs goes on, and what clients answer
// to it, or cancel of it, is still taken.
func (h *Handler) Refuse() { h.closed.Store(true) }

// Shutdown takes no new requests, waits until what runs has been answered or ctx ends, and closes the handler, which cancels
// the rest. It returns the context's error when that ended first. Of requests that stand alone it waits for those of all
// handlers of one server.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.Refuse()
	h.sessions.Each(func(s *session) { s.peer.Drain(ctx) })
	if counter, ok := h.recv.(transport.Counter); ok {
		transport.AwaitRunning(ctx, counter)
	}
	late := ctx.Err()
	done := make(chan error, 1)
	go func() { done <- h.Close() }() // ends by itself: a peer waits a bounded time for handlers that ignore their context
	select {
	case err := <-done:
		return errors.Join(late, err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Cancel cancels the requests that stand alone, and those to come. What runs in sessions goes on.
func (h *Handler) Cancel() { h.calls.endAll() }

// Close takes no new requests, ends all sessions and streams and cancels what runs; sessions that other handlers share live
// on there. It returns when what the sessions ran has ended, and may be called twice. For the others http.Server waits.
func (h *Handler) Close() error {
	h.Refuse()
	h.Cancel()
	h.streams.refuse()
	h.sessions.Close(func(s *session) { s.finish(errStopping, h.shared == nil) })
	h.streams.closeAll() // last, so that those of calls bring the answer
	h.streams.wait()
	if h.shared != nil {
		h.shared.close()
	}
	if h.ownLog != nil {
		return h.ownLog.Close()
	}
	return nil
}

// Headers whose values never change: net/http copies them before it writes, nobody writes to them.
var (
	jsonType   = []string{typeJSON}
	eventsType = []string{typeEvents}
	noCache    = []string{"no-cache, no-transform"}
	keepAlive  = []string{"keep-alive"}
	noBuffer   = []string{"no"}
)

// refuse answers with a JSON-RPC error; a zero id is left out.
func refuse(w http.ResponseWriter, code int, id jsonrpc.ID, err *mcp.Error) {
	if code == http.StatusServiceUnavailable {
		w.Header()["Retry-After"] = []string{"1"}
	}
	respond(w, code, jsonrpc.AppendError(nil, id, era.WriteError(err, err.Code)))
}

// respond writes a JSON body.
func respond(w http.ResponseWriter, code int, frame []byte) {
	header := w.Header()
	header["Content-Type"] = jsonType
	const short = 2 << 10 // below this net/http finds the length itself; above it the answer would be chunked
	if len(frame) >= short {
		header["Content-Length"] = []string{strconv.Itoa(len(frame))}
	}
	if code != http.StatusOK {
		w.WriteHeader(code)
	}
	w.Write(frame)
}
