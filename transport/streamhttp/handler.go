package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
)

// Handler serves both eras on one address. Its methods may be called concurrently; it is made by New.
type Handler struct {
	recv      transport.Receiver
	set       *negotiate.Set
	opts      Options
	guard     *Guard
	methods   []string         // that are answered, for Allow
	log       state.EventLog   // nil where streams are not resumed
	ownLog    *state.MemoryLog // nil where the log is the user's, or none
	sessions  sessions
	streams   streams
	calls     callContexts
	bodies    Bodies
	shared    *replicas // nil where the sessions are those of this handler alone
	sessioned bool      // asked for with every request, so it is found out once
	alarms    alarms
	closed    chan struct{}
	once      sync.Once
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
		recv: recv, set: set, opts: opts, guard: NewGuard(opts.AllowedHosts, opts.AllowedOrigins),
		closed: make(chan struct{}), methods: []string{http.MethodPost},
		sessioned: !opts.Sessionless && len(set.Legacy()) > 0,
	}
	if h.sessionful() {
		if !opts.JSONOnly {
			h.methods = append(h.methods, http.MethodGet)
		}
		h.methods = append(h.methods, http.MethodDelete)
	}
	h.keepEvents()
	h.sessions.byID, h.sessions.epoch = make(map[string]*session), time.Now()
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
	case h.opts.SecurityValidator != nil && !h.valid(w, r):
		return
	case h.isClosed() && (r.Method == http.MethodGet || h.sessions.isClosed()):
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
	if !slices.Contains(h.methods, r.Method) && !h.guard.IsPreflight(r) {
		w.Header()["Allow"] = []string{strings.Join(h.methods, ", ")}
		plain(w, http.StatusMethodNotAllowed, "this address answers "+strings.Join(h.methods, ", ")+" only")
		return limited, false
	}
	if err := h.guard.Check(r); err != nil {
		plain(w, http.StatusForbidden, err.Error())
		return limited, false
	}
	return limited, true
}

// valid checks what the user has added.
func (h *Handler) valid(w http.ResponseWriter, r *http.Request) bool {
	err := h.opts.SecurityValidator(r)
	if err != nil {
		plain(w, http.StatusForbidden, err.Error())
	}
	return err == nil
}

func (h *Handler) isClosed() bool {
	select {
	case <-h.closed:
		return true
	default:
		return false
	}
}

// Sessions returns how many legacy sessions are open here.
func (h *Handler) Sessions() int { return h.sessions.count() }

// Streams returns how many event streams are open.
func (h *Handler) Streams() int { return h.streams.count() }

// Refuse takes no new requests and streams: they are answered with 503 from now on. What runs goes on, and what clients answer
// to it, or cancel of it, is still taken.
func (h *Handler) Refuse() { h.once.Do(func() { close(h.closed) }) }

// Shutdown takes no new requests, waits until what runs has been answered or ctx ends, and closes the handler, which cancels
// the rest. It returns the context's error when that ended first. Of requests that stand alone it waits for those of all
// handlers of one server.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.Refuse()
	var wg sync.WaitGroup
	for _, s := range h.sessions.all() {
		wg.Go(func() { s.peer.Drain(ctx) })
	}
	wg.Wait()
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
	h.streams.closeAll()
	var wg sync.WaitGroup
	for _, s := range h.sessions.close() {
		wg.Go(func() { s.finish(transport.ErrClosed, h.shared == nil) })
	}
	wg.Wait()
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
	textType   = []string{"text/plain; charset=utf-8"}
	noCache    = []string{"no-cache, no-transform"}
	keepAlive  = []string{"keep-alive"}
	noBuffer   = []string{"no"}
)

// plain answers with a line of text: for what is refused before there is JSON-RPC.
func plain(w http.ResponseWriter, code int, text string) {
	w.Header()["Content-Type"] = textType
	w.WriteHeader(code)
	w.Write([]byte(text + "\n"))
}

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
