package cases

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

const changesWanted = `"notifications":{"toolsListChanged":true,"promptsListChanged":true},`

func nothing(context.Context, *server.Request) (*mcp.CallToolResult, error) { return nil, nil }

// bothWays runs a test with streams on connections taken over from net/http, and with streams that net/http writes.
func bothWays(t *testing.T, run func(t *testing.T, opts server.Options)) {
	for _, noHijack := range []bool{false, true} {
		t.Run(fmt.Sprintf("NoHijack=%v", noHijack), func(t *testing.T) {
			run(t, server.Options{HTTP: server.HTTPOptions{NoHijack: noHijack}})
		})
	}
}

// Subscriptions were answered with a bare result, or with a change before the acknowledgement.
func TestC015AcknowledgementComesFirst(t *testing.T) {
	bothWays(t, func(t *testing.T, opts server.Options) {
		w := start(t, opts)
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { // ends with the test
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					w.tool(t, "comes", nothing)
					w.RemoveTool("comes")
				}
			}
		}()
		defer func() { close(stop); <-done }()
		var last *events
		for range 100 {
			last = w.stream(t, modern("subscriptions/listen", "", changesWanted))
			last.wants(t, "notifications/subscriptions/acknowledged")
		}
		last.wants(t, "notifications/tools/list_changed")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := w.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		rest := last.over(t)
		if n := len(rest); n == 0 || !strings.Contains(rest[n-1].data, `"id":1`) || !strings.Contains(rest[n-1].data, `"result":{`) {
			t.Errorf("the subscription ends with %v", rest)
		}
	})
}

// The loss of the stream, again and again, took the calls of the session with it.
func TestC018LostStreams(t *testing.T) {
	bothWays(t, func(t *testing.T, opts server.Options) {
		w := start(t, opts)
		c := w.dial(t)
		id := c.session(t)
		for i := range 10 {
			stream := w.get(t, id)
			c.do(t, legacy(id, "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello")
			stream.vanish()
			c.do(t, legacy(id, "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello")
			eventually(t, "the stream is gone", func() bool { return w.handler.Streams() == 0 })
			c.do(t, legacy(id, "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello")
			again := w.get(t, id)
			w.tool(t, fmt.Sprint("tool", i), nothing)
			again.wants(t, "tools/list_changed")
			again.vanish()
		}
	})
}

// A second stream for a session ended the whole process, or each message went to both.
func TestC031TwoStreams(t *testing.T) {
	bothWays(t, func(t *testing.T, opts server.Options) {
		opts.HTTP.MaxStreams = 2
		w := start(t, opts)
		w.prompt("p")
		c := w.dial(t)
		id := c.session(t)
		older, newer := w.get(t, id), w.get(t, id)
		if got := w.do(t, ask{method: "GET", head: []string{sessionHeader + ": " + id}}); got.status != 409 {
			t.Errorf("one too many: %s", got)
		}
		w.tool(t, "t", nothing)
		newer.wants(t, "tools/list_changed")
		c.do(t, legacy(id, "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello")
		newer.vanish()
		eventually(t, "the server has seen it", func() bool { return w.handler.Streams() == 1 })
		w.prompt("q")
		older.wants(t, "prompts/list_changed") // and nothing of what went to the other
		newest := w.get(t, id)
		w.RemoveTool("t")
		newest.wants(t, "tools/list_changed")
	})
}

// A client that went on after an unknown event got an empty stream that closed at once, and came back every second for ever.
func TestC032UnknownEvent(t *testing.T) {
	w := start(t, server.Options{})
	c := w.dial(t)
	id, other := c.session(t), c.session(t)
	stream := w.get(t, other)
	begin, err := stream.read()
	if err != nil || begin.id == "" {
		t.Fatalf("the stream begins with %+v, %v", begin, err)
	}
	for what, last := range map[string]string{
		"made up": "unknown-1", "of another session": begin.id, "long": strings.Repeat("9", 4000), "number": "18446744073709551616", "negative": "-1",
	} {
		got := w.do(t, ask{method: "GET", head: []string{sessionHeader + ": " + id, "Last-Event-ID: " + last}})
		if got.status != 400 || !strings.Contains(got.body, "Last-Event-ID") {
			t.Errorf("an event that is %s: %s", what, got)
		}
	}
	w.get(t, id) // without an event it works
	c.do(t, legacy(id, "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello")
}

// Streams that were quiet were closed by the server, and clients came back every second for ever. A stream here stays open,
// past the idle limit too; one that a handler closes says when to come back and from where.
func TestC034QuietStreams(t *testing.T) {
	bothWays(t, func(t *testing.T, opts server.Options) {
		synctest.Test(t, func(t *testing.T) {
			w := startInBubble(t, opts)
			id := w.dial(t).session(t)
			stream := w.get(t, id)
			time.Sleep(5 * time.Hour) // ten times the idle limit
			w.tool(t, "t", nothing)
			if e := stream.wants(t, "tools/list_changed"); e.comments < 1000 || e.id == "" {
				t.Errorf("an event after a quiet time has %d comments before it and the id %q", e.comments, e.id)
			}
		})
	})
	w := start(t, server.Options{})
	w.tool(t, "polled", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		return mcp.TextResult(fmt.Sprint("closed ", req.CloseStream(5*time.Second))), nil
	})
	id := w.dial(t).session(t)
	stream := w.stream(t, legacy(id, "tools/call", `{"name":"polled"}`))
	var last, retry string
	for {
		e, err := stream.read()
		if err != nil {
			break
		}
		if e.data != "" {
			t.Fatalf("the stream was not closed: %s", e.data)
		}
		last, retry = last+e.id, retry+e.retry
	}
	if last == "" || retry != "5000" {
		t.Fatalf("a stream that is closed early has the id %q and retry %q", last, retry)
	}
	again := w.get(t, id, "Last-Event-ID: "+last)
	again.wants(t, "closed true")
	if rest := again.over(t); len(rest) > 0 {
		t.Errorf("after the answer comes %v", rest)
	}
}

// What came before the answer to a handshake was taken for it. Here nothing comes before it, and it is a whole event.
func TestC058HandshakeAsAStream(t *testing.T) {
	w := start(t, server.Options{})
	w.tool(t, "loud", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		req.Progress(ctx, 1, 2, "half")
		return mcp.TextResult("done"), nil
	})
	stream := w.stream(t, initialize("2025-11-25", "Accept: text/event-stream"))
	if e, err := stream.read(); err != nil || !strings.Contains(e.data, `"protocolVersion":"2025-11-25"`) || e.name != "message" {
		t.Errorf("the first event is %+v, %v", e, err)
	}
	if rest := stream.over(t); len(rest) > 0 {
		t.Errorf("after the answer comes %v", rest)
	}
	id := stream.resp.Header.Get(sessionHeader)
	call := w.stream(t, legacy(id, "tools/call", `{"name":"loud","_meta":{"progressToken":0}}`))
	call.wants(t, `"progressToken":0`)
	call.wants(t, "done")
	if rest := call.over(t); len(rest) > 0 {
		t.Errorf("after the answer comes %v", rest)
	}
}

// The head of a stream came with its first event, and clients gave up waiting.
//
// Seen to fail: without the Flush in stream.begin, where net/http writes, "no response: i/o timeout".
func TestC061HeadComesAtOnce(t *testing.T) {
	bothWays(t, func(t *testing.T, opts server.Options) {
		synctest.Test(t, func(t *testing.T) {
			opts.HTTP.KeepAlive = time.Hour
			w := startInBubble(t, opts)
			c := w.dial(t)
			a := c.do(t, initialize("2025-03-26")) // whose streams begin without an event
			id := a.header.Get(sessionHeader)
			for what, one := range map[string]ask{
				"GET":               {method: "GET", head: []string{sessionHeader + ": " + id}},
				"listen":            modern("subscriptions/listen", "", changesWanted),
				"listen to nothing": modern("subscriptions/listen", "", `"notifications":{},`),
			} {
				began := time.Now()
				stream := w.stream(t, one)
				if took := time.Since(began); took != 0 { // nothing else comes within the hour
					t.Errorf("%s: the head took %s", what, took)
				}
				if stream.resp.Header.Get("Cache-Control") == "" || stream.resp.ContentLength > 0 {
					t.Errorf("%s: %v", what, stream.resp.Header)
				}
			}
		})
	})
}
