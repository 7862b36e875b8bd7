package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// What a hostile server may do with a call over HTTP costs no more than the call's own limit, ends in an error of readable
// length, and leaves no goroutine behind.
func TestHostileAnswersOverHTTP(t *testing.T) {
	noLeak(t)
	const huge = 5 << 20
	endless := func(media, chunk string) func(http.ResponseWriter, *http.Request, *jsonrpc.Message) {
		return func(w http.ResponseWriter, r *http.Request, _ *jsonrpc.Message) {
			w.Header().Set("Content-Type", media)
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, chunk); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		}
	}
	moved := func(to string) func(http.ResponseWriter, *http.Request, *jsonrpc.Message) {
		return func(w http.ResponseWriter, r *http.Request, _ *jsonrpc.Message) {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}
	}
	long := strings.Repeat("x", huge)
	for name, tc := range map[string]struct {
		react func(http.ResponseWriter, *http.Request, *jsonrpc.Message)
		code  mcp.Code // 0 for any
		want  string
	}{
		"comments without end":      {endless("text/event-stream", ": still here\n\n"), mcp.CodeRequestTimeout, "no answer"},
		"one comment without end":   {endless("text/event-stream", ":"+strings.Repeat("x", 1<<16)), mcp.CodeRequestTimeout, "no answer"},
		"events without end":        {endless("text/event-stream", "event: other\ndata: x\n\n"), mcp.CodeRequestTimeout, "no answer"},
		"notifications without end": {endless("text/event-stream", `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`+"\n\n"), mcp.CodeRequestTimeout, "no answer"},
		"answers to others":         {endless("text/event-stream", `data: {"jsonrpc":"2.0","id":4711,"result":{}}`+"\n\n"), mcp.CodeRequestTimeout, "no answer"},
		"JSON without end":          {endless("application/json", strings.Repeat(" ", 1<<16)), mcp.CodeMessageTooLarge, "larger than"},
		"an event without end":      {endless("text/event-stream", "data: "+strings.Repeat("x", 1<<16)+"\n"), mcp.CodeRequestTimeout, "no answer"},
		"a redirect to itself":      {moved("/"), 0, "HTTP status 307"},
		"redirects without end": {func(w http.ResponseWriter, r *http.Request, _ *jsonrpc.Message) {
			http.Redirect(w, r, "/x"+r.URL.Path, http.StatusPermanentRedirect)
		}, 0, "HTTP status 308"},
		"a huge error message":      {answer(200, jsonType, `{"jsonrpc":"2.0","id":{id},"error":{"code":-32000,"message":"`+long+`"}}`), -32000, "xxx"},
		"a huge error of a refusal": {answer(400, jsonType, `{"jsonrpc":"2.0","id":{id},"error":{"code":-32000,"message":"`+long+`"}}`), -32000, "xxx"},
		"a huge page":               {answer(500, "text/plain", long), 0, "HTTP status 500"},
		"a huge type":               {answer(200, "text/"+strings.Repeat("x", 1<<18), "x"), 0, "is the address right"},
		"a huge result type":        {answer(200, jsonType, `{"jsonrpc":"2.0","id":{id},"result":{"resultType":"`+long+`"}}`), 0, ""},
		"a huge challenge": {func(w http.ResponseWriter, _ *http.Request, _ *jsonrpc.Message) {
			w.Header().Set("WWW-Authenticate", "Bearer "+strings.Repeat("x", 1<<18))
			w.WriteHeader(401)
		}, 0, "wants authorization"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, reactions{"server/discover": answer(200, jsonType, discoverOK), "tools/call": tc.react})
			c, err := client.DialHTTP(t.Context(), s.URL, client.Options{MaxBodyBytes: 2 * huge})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			limit := 9 * time.Second // of a machine that is busy
			if tc.code == mcp.CodeRequestTimeout {
				limit = 700 * time.Millisecond
			}
			began := time.Now()
			_, err = c.CallTool(t.Context(), "x", nil, client.CallOptions{Timeout: limit})
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); len(text) > 5000 || !strings.Contains(text, tc.want) {
				t.Errorf("%d bytes: %.200s", len(text), text)
			}
			if tc.code != 0 && !errors.Is(err, tc.code) {
				t.Errorf("got %.200v", err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// 100,000 notifications beside a hook that hangs: what waits is bounded, the rest is dropped and reported, and calls go on.
func TestFloodOfNotifications(t *testing.T) {
	eras(t, script{"tools/call": func(p *peer, m *jsonrpc.Message) {
		for range 100_000 {
			p.write(m, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
		}
		p.write(m, fine)
	}}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		release, heard := make(chan struct{}), 0
		var dropped atomic.Int32
		c := connect(t, conn, client.Options{
			OnNotification: func(context.Context, string, json.RawMessage) { <-release; heard++ },
			OnError: func(err error) {
				if !strings.Contains(err.Error(), "10000 notifications wait for their handler") {
					t.Errorf("reported %v", err)
				}
				dropped.Add(1)
			},
		})
		if out, err := c.CallTool(t.Context(), "x", nil); err != nil || text(out) != "fine" {
			t.Errorf("got %q, %v", text(out), err)
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
		if heard > 10_001 || heard < 10_000 || dropped.Load() == 0 {
			t.Errorf("%d notifications were kept, %d reports", heard, dropped.Load())
		}
	})
}
