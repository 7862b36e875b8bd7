package streamhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

func TestClientHeaders(t *testing.T) {
	seen := make(chan *http.Request, 1)
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		say("application/json", answered)(w, r)
	})
	c := dial(t, url, ClientOptions{Headers: http.Header{
		"authorization": {"Bearer static"}, "X-Static": {"a", "b"}, "Mcp-Session-Id": {"forged"}, "Accept": {"image/png"}, "Host": {"named.example"},
	}}).use("2026-07-28")
	_, err := c.Exchange(t.Context(), transport.Outbound{
		Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`), Kind: jsonrpc.KindRequest, ID: jsonrpc.IntID(1), Method: "x",
		Headers: [][2]string{
			{"Mcp-Method", "x"}, {"mcp-protocol-version", "2026-07-28"}, {"Mcp-Param-City", "Oslo"}, {"X-Call", "1"},
			{"Mcp-Method", "forged"}, {"MCP-Protocol-Version", "forged"}, {"Authorization", "forged"}, {"Mcp-Session-Id", "forged"},
			{"Content-Type", "forged"}, {"Accept", "forged"}, {"host", "forged"}, {"Content-Length", "0"}, {"Cookie", "forged"}, {"Last-Event-ID", "forged"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := <-seen
	for name, want := range map[string]string{
		"Mcp-Method": "x", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Param-City": "Oslo", "X-Call": "1", "Authorization": "Bearer static",
		"X-Static": "a,b", "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": "",
		"Cookie": "", "Last-Event-Id": "", "Content-Length": "37",
	} {
		if got := strings.Join(r.Header[name], ","); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if r.Host != "named.example" {
		t.Errorf("Host %q", r.Host)
	}
}

// TestClientRedirects: what identifies the user stays with the origin it was meant for.
func TestClientRedirects(t *testing.T) {
	seen := make(chan http.Header, 1)
	other := script(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Clone()
		say("application/json", answered)(w, r)
	})
	for name, target := range map[string]string{"same origin": "/next", "other origin": other} {
		url := script(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/next" {
				seen <- r.Header.Clone()
				say("application/json", answered)(w, r)
				return
			}
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
		})
		hooked := false
		c := dial(t, url+"?key=secret", ClientOptions{
			Headers: http.Header{"Authorization": {"Bearer x"}, "X-Api-Key": {"k"}},
			HTTPClient: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
				hooked = true
				return nil
			}},
		}).use("2026-07-28")
		c.session = "s"
		if _, err := c.call(t.Context(), "echo", engine.CallOptions{Headers: [][2]string{{"X-Tenant-Key", "t"}}}); err != nil {
			t.Fatal(err)
		}
		header := <-seen
		for _, secret := range []string{"Authorization", "X-Api-Key", "X-Tenant-Key", "Mcp-Session-Id"} {
			if kept := header.Get(secret) != ""; kept != (name == "same origin") {
				t.Errorf("%s: %s kept is %v", name, secret, kept)
			}
		}
		if from := header.Get("Referer"); from != "" {
			t.Errorf("%s: the address is told: %s", name, from)
		}
		if header.Get("Mcp-Method") != "tools/call" || !hooked {
			t.Errorf("%s: %q, %v", name, header, hooked)
		}
		c.session = ""
	}
}

// TestClientStreamIsLost: the GET stream breaks again and again, and calls go on.
func TestClientStreamIsLost(t *testing.T) {
	checkLeaks(t)
	var opened atomic.Int32
	var mu sync.Mutex
	var resumedAfter []string
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case "GET":
			n := opened.Add(1)
			mu.Lock()
			resumedAfter = append(resumedAfter, r.Header.Get("Last-Event-ID"))
			mu.Unlock()
			w.Header().Set("Content-Type", typeEvents)
			fmt.Fprintf(w, "id: e-%d\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\ndata: cut", n)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "POST":
			answerPost(w, r)
		}
	})
	c := dial(t, url, ClientOptions{Reconnect: time.Millisecond, MaxReconnect: 5 * time.Millisecond}).greet(t, "2025-11-25")
	eventually(t, "ten streams", func() bool { return opened.Load() >= 10 })
	for range 10 {
		if _, err := c.call(t.Context(), "echo", engine.CallOptions{}); err != nil {
			t.Error(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if resumedAfter[0] != "" || resumedAfter[1] != "e-1" || resumedAfter[9] != "e-9" {
		t.Errorf("Last-Event-ID: %q", resumedAfter)
	}
	if n := len(c.desk.noticed()); n < 9 {
		t.Errorf("%d notifications", n)
	}
}

// answerPost answers the requests of greet and call, with the id they have.
func answerPost(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := jsonrpc.Decode(body, nil)
	if err != nil || m.ID.IsZero() {
		w.WriteHeader(202)
		return
	}
	w.Header().Set(headerSession, "s-1")
	say("application/json", `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{"protocolVersion":"2025-11-25","capabilities":{},"content":[]}}`)(w, r)
}

// TestClientNoGetStream: a server without one is asked once.
func TestClientNoGetStream(t *testing.T) {
	var asked atomic.Int32
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			asked.Add(1)
			w.WriteHeader(405)
			return
		}
		answerPost(w, r)
	})
	c := dial(t, url, ClientOptions{Reconnect: time.Millisecond}).greet(t, "2025-06-18")
	c.started.Wait()
	if asked.Load() != 1 || c.Listening() {
		t.Errorf("asked %d times, listening %v", asked.Load(), c.Listening())
	}
}

// Whoever depends on the stream hears when it is open, when something may have been missed, and that there is none.
func TestClientTellsOfItsStream(t *testing.T) {
	var asked atomic.Int32
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "GET" {
			answerPost(w, r)
			return
		}
		n := asked.Add(1)
		if n == 5 {
			w.WriteHeader(405)
			return
		}
		w.Header().Set("Content-Type", typeEvents)
		id := ""
		if n == 2 { // from here on the place is known, and nothing is missed
			id = "id: 7\n"
		}
		fmt.Fprint(w, id+"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
	})
	var heard []string
	c := dial(t, url, ClientOptions{Reconnect: time.Millisecond, OnStream: func(open, gap bool) {
		heard = append(heard, fmt.Sprint(open, gap))
	}}).greet(t, "2025-06-18")
	c.started.Wait()
	if got := strings.Join(heard, ", "); got != "true false, true true, true false, true false, false false" {
		t.Errorf("heard %s", got)
	}
}

// TestClientResumes: the stream of a call that breaks is opened again after its last event.
func TestClientResumes(t *testing.T) {
	var gets atomic.Int32
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", typeEvents)
		switch after := r.Header.Get("Last-Event-ID"); {
		case r.Method == "POST" && gets.Load() < 100:
			fmt.Fprint(w, "id: 1\nretry: 5\ndata: \n\n")
		case r.Method == "POST":
			fmt.Fprint(w, "data: {\n\n")
		case gets.Add(1) == 1: // ends at once, without anything new
		case after != "1" && after != "2":
			t.Errorf("Last-Event-ID %q", after)
		case after == "1":
			fmt.Fprint(w, "id: 2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n")
		default:
			fmt.Fprint(w, "id: 3\ndata: "+answered+"\n\n")
		}
	})
	c := dial(t, url, ClientOptions{NoStream: true, Reconnect: time.Millisecond}).use("2025-11-25")
	progress := 0
	_, err := c.call(t.Context(), "echo", engine.CallOptions{OnProgress: func(json.RawMessage) { progress++ }, Timeout: 5 * time.Second})
	if err != nil || progress != 1 || gets.Load() != 3 {
		t.Errorf("got %v, %d notices, %d streams", err, progress, gets.Load())
	}
	modern := dial(t, url, ClientOptions{}).use("2026-07-28")
	if _, err := modern.call(t.Context(), "echo", engine.CallOptions{}); !errors.Is(err, transport.ErrCut) || gets.Load() != 3 {
		t.Errorf("the modern era resumes nothing: %v, %d", err, gets.Load())
	}
}

func TestClientGivesUpResuming(t *testing.T) {
	for _, status := range []int{405, 404, 500} {
		var gets atomic.Int32
		url := script(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "GET" {
				gets.Add(1)
				w.WriteHeader(status)
				return
			}
			say(typeEvents, "id: 1\nretry: 1\ndata: \n\n")(w, r)
		})
		c := dial(t, url, ClientOptions{NoStream: true, Reconnect: time.Millisecond, MaxReconnect: time.Millisecond}).use("2025-11-25")
		want := int32(1)
		if status == 500 {
			want = 8
		}
		if _, err := c.call(t.Context(), "echo", engine.CallOptions{}); !errors.Is(err, transport.ErrCut) || gets.Load() != want {
			t.Errorf("%d: %v after %d streams", status, err, gets.Load())
		}
	}
}

// TestClientSilentServer: nothing outlasts the caller's deadline.
func TestClientSilentServer(t *testing.T) {
	checkLeaks(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	stream := script(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", typeEvents)
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	for name, url := range map[string]string{"never writes": "http://" + silent.Addr().String(), "no event": stream} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			c := dial(t, url, ClientOptions{CloseTimeout: 50 * time.Millisecond, NoStream: true}).use(revision)
			c.session = "s"
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			began := time.Now()
			_, err := c.call(ctx, "echo", engine.CallOptions{})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
			c.Close()
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%s: took %s", name, took)
			}
		}
	}
}

// TestClientClosesFromAnywhere closes inside a callback of a call, and from many sides at once.
func TestClientClosesFromAnywhere(t *testing.T) {
	checkLeaks(t)
	w := newWorld(t, Options{})
	c := dial(t, w.url, ClientOptions{}).greet(t, "2025-11-25")
	_, err := c.call(t.Context(), "progress", engine.CallOptions{OnProgress: func(json.RawMessage) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { c.Close() })
		}
		wg.Wait()
	}})
	if err != nil && !errors.Is(err, transport.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestClientDropsModernRequests: a modern server asks nothing, and gets no answer when it does.
func TestClientDropsModernRequests(t *testing.T) {
	var posts atomic.Int32
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		posts.Add(1)
		say(typeEvents, "data: {\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"ping\"}\n\ndata: "+answered+"\n\n")(w, r)
	})
	c := dial(t, url, ClientOptions{}).use("2026-07-28")
	if _, err := c.call(t.Context(), "echo", engine.CallOptions{}); err != nil {
		t.Error(err)
	}
	if posts.Load() != 1 || len(c.faults) != 1 {
		t.Errorf("%d posts, %q", posts.Load(), c.faults)
	}
}
