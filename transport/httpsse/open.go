package httpsse

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// open answers a GET with the event stream of a new session.
//
// Accept is not looked at: nothing else can be answered here, and the oldest clients are careless with it.
func (h *Handler) open(w http.ResponseWriter, r *http.Request) {
	s, err := h.newSession(h.opts.Principal(r))
	if err != nil {
		unavailable(w, err)
		return
	}
	to, err := h.streams.Open(w, r, h.greeting(r, s), s.attach)
	switch {
	case errors.Is(err, transport.ErrClosed):
		s.end(err)
		unavailable(w, errShutdown)
	case err != nil:
		s.end(err)
		h.opts.OnError(err)
	default:
		to.Follow(r, func() { s.end(errGone) })
	}
}

// greeting is what a stream begins with: where to post, and for those who look on that the stream is there.
func (h *Handler) greeting(r *http.Request, s *session) []byte {
	out := sse.AppendEvent(nil, sse.Event{Name: eventEndpoint, Data: []byte(h.endpoint(r, s.id))})
	if h.opts.Connected {
		// A notification, because the client of the official Go SDK reads every event as a message and ends on what is none.
		data := append(jsonrpc.AppendString([]byte(`{"jsonrpc":"2.0","method":"connected","params":{"sessionId":`), s.id), "}}"...)
		out = sse.AppendEvent(out, sse.Event{Name: "connected", Data: data})
	}
	return out
}

const (
	eventEndpoint = "endpoint"
	sessionParam  = "sessionId"
)

// endpoint is where a client posts: an absolute path without host, which it resolves against the address of the stream.
// So it never leaves the origin, whatever names the server goes by.
func (h *Handler) endpoint(r *http.Request, id string) string {
	return h.outside(r, h.opts.MessagePath) + "?" + sessionParam + "=" + id
}

// stream is where the client of a request can open the event stream.
func (h *Handler) stream(r *http.Request) string { return h.outside(r, h.opts.Path) }

// outside is a path of the handler as the client of a request knows it.
func (h *Handler) outside(r *http.Request, own string) string {
	prefix := h.opts.Prefix
	if prefix == "" {
		prefix = h.mount(r)
	}
	path := &url.URL{Path: own}
	return "/" + strings.TrimLeft(trimmed(prefix)+path.EscapedPath(), "/")
}

// mount is what stood before the path of a request as the client sent it: what http.StripPrefix has taken away.
func (h *Handler) mount(r *http.Request) string {
	sent, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return ""
	}
	whole := trimmed(sent.EscapedPath())
	prefix, cut := strings.CutSuffix(whole, trimmed(r.URL.EscapedPath()))
	if !cut || prefix == whole {
		return "" // the path was rewritten in another way: Options.Prefix says how
	}
	return prefix
}
