package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// clerk is a receiver that does with every request what a test says.
type clerk struct {
	receive func(ctx context.Context, x transport.Exchange)
	opened  int
	closed  int
}

func (c *clerk) Open(transport.PeerSpec) (transport.Peer, error) {
	if c.receive == nil {
		return nil, errors.New("closed for today")
	}
	c.opened++
	return c, nil
}
func (c *clerk) Receive(ctx context.Context, x transport.Exchange) { c.receive(ctx, x) }
func (c *clerk) Deliver(ctx context.Context, x transport.Exchange) { x.Drop() }
func (c *clerk) Close(error)                                       { c.closed++ }
func (c *clerk) Idle() bool                                        { return true }
func (c *clerk) Drain(context.Context)                             {}
func (c *clerk) Restore(transport.PeerState)                       {}
func (c *clerk) Codec() era.Codec                                  { return nil }

// TestOpening: only an initialize that is answered with a result leaves a session.
func TestOpening(t *testing.T) {
	good := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	bad := jsonrpc.AppendError(nil, jsonrpc.IntID(1), &jsonrpc.Error{Code: -32602, Message: "no"})
	answer := func(frame []byte, code int64) func(context.Context, transport.Exchange) {
		return func(ctx context.Context, x transport.Exchange) {
			if err := x.Answer(ctx, frame, 0, code); err != nil {
				t.Error(err)
			}
		}
	}
	cases := []struct {
		name, accept string
		receive      func(context.Context, transport.Exchange)
		status       int
		named, kept  bool
	}{
		{"result", "*/*", answer(good, 0), 200, true, true},
		{"result as event", typeEvents, answer(good, 0), 200, true, true},
		{"error", "*/*", answer(bad, -32602), 200, false, false},
		{"error as event", typeEvents, answer(bad, -32602), 200, false, false},
		{"dropped", "*/*", func(_ context.Context, x transport.Exchange) { x.Drop() }, 202, false, false},
		{"forgotten", "*/*", func(context.Context, transport.Exchange) {}, 200, false, false},
		{"notification first", "*/*", func(ctx context.Context, x transport.Exchange) {
			if err := x.Send(ctx, []byte(`{}`)); err != nil {
				t.Error(err)
			}
			answer(good, 0)(ctx, x)
		}, 200, true, true},
		{"no more taken", "*/*", nil, 503, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			recv := &clerk{receive: c.receive}
			h := New(recv, newHandler(t, Options{}).handler.set, Options{})
			defer h.Close()
			r := httptest.NewRequest("POST", "/", strings.NewReader(initialize))
			setHeaders(r, [][2]string{{"Accept", c.accept}})
			out := httptest.NewRecorder()
			h.ServeHTTP(out, r)
			if out.Code != c.status || (out.Header().Get(headerSession) != "") != c.named {
				t.Errorf("got %d %q %s", out.Code, out.Header(), out.Body)
			}
			kept := 0
			if c.kept {
				kept = 1
			}
			if h.Sessions() != kept || h.sessions.Places() != kept || recv.opened-recv.closed != kept {
				t.Errorf("%d sessions, %d places, %d peers", h.Sessions(), h.sessions.Places(), recv.opened-recv.closed)
			}
		})
	}
}

// TestReceiverPanics: the response is let go, whatever happens above.
func TestReceiverPanics(t *testing.T) {
	var kept transport.Exchange
	h := New(&clerk{receive: func(_ context.Context, x transport.Exchange) {
		kept = x
		panic("oh")
	}}, newHandler(t, Options{}).handler.set, Options{})
	defer h.Close()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		body, headers := modern("tools/list", "", "")
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		setHeaders(r, headers)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}()
	if err := kept.Send(t.Context(), []byte("{}")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestClientSends: what belongs to no call is posted too, under the session and its revision.
func TestClientSends(t *testing.T) {
	seen := make(chan http.Header, 3)
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Clone()
		w.WriteHeader(202)
	})
	c := dial(t, url, ClientOptions{NoStream: true}).use("2025-11-25")
	c.session = "s-1"
	if err := c.Send(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)); err != nil {
		t.Error(err)
	}
	header := <-seen
	if header.Get(headerSession) != "s-1" || header.Get("Mcp-Protocol-Version") != "2025-11-25" {
		t.Errorf("got %q", header)
	}
}

// TestClientBadSessionID: an id that no header can hold is left out.
func TestClientBadSessionID(t *testing.T) {
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		answerPost(w, r)
	})
	c := dial(t, url, ClientOptions{NoStream: true}).greet(t, "2025-06-18")
	if c.sessionID() != "s-1" {
		t.Errorf("session %q", c.sessionID())
	}
	c.keepSession(&http.Response{Header: http.Header{headerSession: {"a b"}}})
	if c.sessionID() != "" || len(c.faults) != 1 {
		t.Errorf("session %q, %q", c.sessionID(), c.faults)
	}
}

// TestClientStatus: a dead session is an error of its own kind, for whoever wants to open a new one.
func TestClientStatus(t *testing.T) {
	w := newWorld(t, Options{})
	c := dial(t, w.url, ClientOptions{NoStream: true}).greet(t, "2025-11-25")
	w.ask(t, "DELETE", "", [2]string{headerSession, c.sessionID()})
	_, err := c.Exchange(t.Context(), transport.Outbound{Frame: []byte(legacyList), Kind: jsonrpc.KindRequest, ID: jsonrpc.IntID(2), Method: "tools/list"})
	var status *transport.StatusError
	if !errors.As(err, &status) || status.Status != 404 || status.Message == nil || status.Header("Content-Type") != typeJSON {
		t.Errorf("got %v", err)
	}
	if _, err := c.call(t.Context(), "echo", engine.CallOptions{}); err == nil {
		t.Error("answered")
	}
}
