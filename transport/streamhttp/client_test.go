package streamhttp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// caller is a client with an engine behind it.
type caller struct {
	*Client
	desk *desk
	peer *engine.Peer
	set  *negotiate.Set

	mu     sync.Mutex
	faults []string
}

func dial(t *testing.T, url string, opts ClientOptions) *caller {
	t.Helper()
	c := &caller{desk: &desk{}}
	var err error
	if c.set, err = negotiate.New(era.Config{Side: era.ClientSide, Info: mcp.Implementation{Name: "caller", Version: "1"}}); err != nil {
		t.Fatal(err)
	}
	if opts.OnError == nil {
		opts.OnError = c.fault
	}
	client, peer, err := NewClient(url, engine.New(c.desk, engine.Options{OnError: c.fault}), opts)
	if err != nil {
		t.Fatal(err)
	}
	c.Client, c.peer = client, peer.(*engine.Peer)
	t.Cleanup(func() { c.Close() })
	return c
}

func (c *caller) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, err.Error())
}

func (c *caller) use(revision string) *caller {
	codec, _ := c.set.Codec(revision)
	c.peer.SetCodec(codec)
	return c
}

// call makes a call of a tool and returns the text of its result.
func (c *caller) call(ctx context.Context, tool string, o engine.CallOptions) (string, error) {
	params := json.RawMessage(`{"name":"` + tool + `"}`)
	outcome, err := c.peer.Call(ctx, c.Client, &era.Outgoing{Method: "tools/call", Params: params}, o)
	switch {
	case err != nil:
		return "", err
	case outcome.Err != nil:
		return "", outcome.Err
	}
	return string(outcome.Result), nil
}

// greet opens a legacy session.
func (c *caller) greet(t *testing.T, revision string) *caller {
	t.Helper()
	codec, _ := c.set.Codec(revision)
	params := json.RawMessage(`{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	outcome, err := c.peer.Call(t.Context(), c.Client, &era.Outgoing{Method: "initialize", Params: params}, engine.CallOptions{Codec: codec, Opening: true})
	if err != nil || outcome.Err != nil {
		t.Fatal(err, outcome)
	}
	c.peer.SetCodec(codec)
	if err := c.peer.Send(t.Context(), c.Client, codec, &era.Notice{Method: "notifications/initialized"}); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClientModern(t *testing.T) {
	checkLeaks(t)
	w := newWorld(t, Options{})
	c := dial(t, w.url, ClientOptions{}).use("2026-07-28")
	if got, err := c.call(t.Context(), "echo", engine.CallOptions{}); err != nil || !strings.Contains(got, "hello") {
		t.Errorf("got %s, %v", got, err)
	}
	var progress []string
	got, err := c.call(t.Context(), "progress", engine.CallOptions{OnProgress: func(p json.RawMessage) { progress = append(progress, string(p)) }})
	if err != nil || !strings.Contains(got, "sent: <nil>") || len(progress) != 1 {
		t.Errorf("got %s, %v, %q", got, err, progress)
	}
	var wrong *mcp.Error
	if _, err := c.call(t.Context(), "refuse", engine.CallOptions{}); !errors.As(err, &wrong) || wrong.Code != mcp.CodeMissingCapability {
		t.Errorf("the error of a 400: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-w.desk.waiting; cancel() }()
	if _, err := c.call(ctx, "wait", engine.CallOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	<-w.desk.ended // by the end of the connection
	if c.Shared() || c.Listening() {
		t.Error("each exchange has its own stream, and the modern era no other")
	}
}

// A call that the server drops because Close has ended its session has ended with the client.
//
// Seen to fail: the call said that the stream had ended without an answer.
func TestCallDroppedByClose(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x := &call{client: &Client{ctx: ctx}}
	if _, err := x.later(200); !errors.Is(err, transport.ErrCut) {
		t.Errorf("before: %v", err)
	}
	cancel()
	if _, err := x.later(202); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("after: %v", err)
	}
}

func TestClientLegacy(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			w := newWorld(t, opts)
			c := dial(t, w.url, ClientOptions{}).greet(t, "2025-11-25")
			if got, err := c.call(t.Context(), "ask", engine.CallOptions{}); err != nil || !strings.Contains(got, "asked: true") {
				t.Errorf("got %s, %v", got, err)
			}
			eventually(t, "the GET stream is open", c.Listening)
			eventually(t, "the server knows", func() bool { return w.engine.Peers()[0].Ready() && w.handler.Streams() == 1 })
			w.engine.Announce(engine.ToolsChanged, "")
			eventually(t, "the change arrives", func() bool { return slices.Contains(c.desk.noticed(), "notifications/tools/list_changed") })
			done := make(chan error)
			go func() {
				_, err := c.call(t.Context(), "wait", engine.CallOptions{})
				done <- err
			}()
			<-w.desk.waiting
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := <-done; !errors.Is(err, transport.ErrClosed) {
				t.Errorf("a call under way: %v", err)
			}
			if w.handler.Sessions() != 0 {
				t.Error("Close ends the session")
			}
			if _, err := c.Exchange(t.Context(), transport.Outbound{Frame: []byte("{}")}); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
			if c.Listening() {
				t.Error("still listening")
			}
		})
	}
}

// script is a server that answers each request as a test says.
func script(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL
}

func say(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		w.Write([]byte(body))
	}
}

const answered = `{"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete"}}`

// TestClientReads is what a client makes of the answer to a request.
func TestClientReads(t *testing.T) {
	plainStatus := func(code int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(code)
			w.Write([]byte(body))
		}
	}
	cases := []struct {
		name   string
		answer http.HandlerFunc
		want   string // in the error; empty for a result
		status int    // of a StatusError
	}{
		{"JSON", say("application/json", answered), "", 0},
		{"JSON with parameters", say("Application/JSON; charset=utf-8", answered), "", 0},
		{"array", say("application/json", "["+answered+"]"), "", 0},
		{"stream", say("text/event-stream;charset=utf-8", "data: "+answered+"\n\n"), "", 0},
		{"stream goes on", func(w http.ResponseWriter, r *http.Request) {
			say("text/event-stream", "data: "+answered+"\n\n")(w, r)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "", 0},
		{"error with id", plainStatus(404, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"gone"}}`), "gone", 0},
		{"error without id", plainStatus(400, "application/json", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"bad"}}`), "bad", 0},
		{"error of another request", plainStatus(400, "application/json", `{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"bad"}}`), "HTTP status 400", 400},
		{"plain status", plainStatus(502, "text/html", "<h1>Bad Gateway</h1>"), "Bad Gateway", 502},
		{"status with long body", plainStatus(500, "text/plain", strings.Repeat("x", 9000)), "HTTP status 500", 500},
		{"page", say("text/html", "<html>"), "is the address right", 0},
		{"no type", plainStatus(200, "", "hm"), "is the address right", 0},
		{"accepted", plainStatus(202, "", ""), "without an answer", 0},
		{"empty stream", say("text/event-stream", ""), "without an answer", 0},
		{"cut stream", say("text/event-stream", "data: "+answered+"\n"), "without an answer", 0},
		{"other answer", say("application/json", strings.Replace(answered, `"id":1`, `"id":"1"`, 1)), `the answer to request "1" in place of that to request 1`, 0},
		{"no JSON", say("application/json", "hello"), "what is no JSON-RPC message (not valid JSON", 0},
		{"large", say("application/json", `{"a":"`+strings.Repeat("x", 5000)+`"}`), "larger than 4096", 0},
		{"large event", say("text/event-stream", "data: "+strings.Repeat("x", 5000)+"\n\ndata: "+answered+"\n\n"), "", 0},
		{"large answer on a stream that stays open", func(w http.ResponseWriter, r *http.Request) {
			say("text/event-stream", `data: {"id":1,"jsonrpc":"2.0","result":{"a":"`+strings.Repeat("x", 5000)+"\"}}\n\n")(w, r)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "larger than 4096", 0},
		{"ends too early", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			say("application/json", answered)(w, r)
		}, "without an answer", 0},
		{"other protocol", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "other")
			w.WriteHeader(http.StatusSwitchingProtocols)
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond) // silence, which must not hold the caller
		}, "another protocol", 0},
		{"moved by GET", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, "HTTP status 302", 302},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			checkLeaks(t)
			client := dial(t, script(t, c.answer), ClientOptions{MaxBodyBytes: 4096, MaxEventBytes: 4096}).use("2026-07-28")
			_, err := client.call(t.Context(), "echo", engine.CallOptions{Timeout: 5 * time.Second})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			var status *transport.StatusError
			if errors.As(err, &status) != (c.status != 0) || status != nil && (status.Status != c.status || len(status.Body) > 4096) {
				t.Errorf("got %#v", status)
			}
		})
	}
}

// TestC057OddAnswersToNotifications: what servers in use answer to a notification, and none of it is a fault.
func TestC057OddAnswersToNotifications(t *testing.T) {
	type reply struct {
		status      int
		media, body string
	}
	for _, r := range []reply{
		{202, "text/plain", "Accepted"}, {200, "", ""}, {204, "", ""}, {202, "application/json", "null"}, {200, "text/event-stream", "data: \n\n"},
	} {
		var addresses []string
		url := script(t, func(w http.ResponseWriter, req *http.Request) {
			addresses = append(addresses, req.RemoteAddr)
			w.Header().Set("Content-Type", r.media)
			w.WriteHeader(r.status)
			w.Write([]byte(r.body))
		})
		c := dial(t, url, ClientOptions{NoStream: true}).use("2025-11-25")
		for range 2 {
			if err := c.peer.Send(t.Context(), c.Client, c.peer.Codec(), &era.Notice{Method: "notifications/initialized"}); err != nil {
				t.Errorf("%v: %v", r, err)
			}
			c.started.Wait() // until the body has been discarded
		}
		if len(addresses) != 2 || addresses[0] != addresses[1] {
			t.Errorf("%v: the connection is used again: %q", r, addresses)
		}
	}
}

// TestC058WhatComesBeforeTheResult: what comes before the result is not the result.
func TestC058WhatComesBeforeTheResult(t *testing.T) {
	stream := "\ufeff: hello\n\nid: p-0\ndata: \n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\ndata: \"params\":{}}\n\n" +
		"x: y\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}\n\n"
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		for _, piece := range []int{1, 1 << 20} {
			url := script(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != "POST" {
					w.WriteHeader(405)
					return
				}
				w.Header().Set("Content-Type", typeEvents)
				w.Header().Set(headerSession, "abc")
				for part := range slices.Chunk([]byte(strings.ReplaceAll(stream, "\n", end)), piece) {
					w.Write(part)
					w.(http.Flusher).Flush()
				}
			})
			c := dial(t, url, ClientOptions{NoStream: true}).greet(t, "2025-11-25")
			if c.sessionID() != "abc" {
				t.Errorf("%s, %d: session %q", name, piece, c.sessionID())
			}
			if len(c.faults) != 1 || !strings.Contains(c.faults[0], "notifications/message") {
				t.Errorf("%s, %d: %q", name, piece, c.faults)
			}
		}
	}
}

func TestNewClientRefusesAddresses(t *testing.T) {
	for _, address := range []string{"", "localhost:1", "/mcp", "ftp://x/", "http://", "http://[", "mailto:x"} {
		if _, _, err := NewClient(address, engine.New(&desk{}, engine.Options{}), ClientOptions{}); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
	_, _, err := NewClient("ftp://user:secret@x/", engine.New(&desk{}, engine.Options{}), ClientOptions{})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	shut := engine.New(&desk{}, engine.Options{})
	if err := shut.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := NewClient("http://x/", shut, ClientOptions{}); !errors.Is(err, engine.ErrShutdown) {
		t.Errorf("a receiver that takes no more: %v", err)
	}
}
