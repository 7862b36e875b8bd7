package server_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// openedStream is an event stream that a caller has open.
type openedStream struct {
	body io.ReadCloser
	read *bufio.Scanner
}

// openStream sends a request as somebody and returns the stream of its answer.
func openStream(t *testing.T, method, url, who, body string, headers map[string]string) *openedStream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("X-Who", who)
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s answers %d", method, url, res.StatusCode)
	}
	return &openedStream{res.Body, bufio.NewScanner(res.Body)}
}

// next returns the data of the next event, "" at the end.
func (s *openedStream) next() string {
	for s.read.Scan() {
		if data, ok := strings.CutPrefix(s.read.Text(), "data: "); ok && data != "" {
			return data
		}
	}
	return ""
}

// Somebody whose access is taken away loses what is open over HTTP, on every wire; nobody else does.
func TestDismiss(t *testing.T) {
	closed := make(chan string, 10)
	s := newServer(server.Options{
		Hooks: server.Hooks{SessionClosed: func(about server.Session) { closed <- about.Principal.Subject }},
		HTTP: server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal {
			return &mcp.Principal{Subject: r.Header.Get("X-Who")}
		}},
	})
	running := make(chan struct{}, 10)
	cancelled := make(chan string, 10)
	rawTool(t, s, "wait", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		running <- struct{}{}
		<-ctx.Done()
		cancelled <- req.Principal().Subject
		return nil, context.Cause(ctx)
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	mux.Handle("/", s.SSEHandler())
	web := httptest.NewServer(mux)
	defer web.Close()
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	}()

	open := make(map[string][]*openedStream)
	sessions := make(map[string]http.Header)
	for _, who := range []string{"ann", "bob"} {
		hello, _ := postRaw(t, web.URL+"/mcp", shutdownHello, http.Header{"X-Who": {who}})
		id := hello.Header.Get("Mcp-Session-Id")
		sessions[who] = http.Header{"X-Who": {who}, "Mcp-Session-Id": {id}}
		postRaw(t, web.URL+"/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, sessions[who])
		listen := openStream(t, "POST", web.URL+"/mcp", who,
			`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"`+mcp.MetaProtocolVersion+`":"`+modern+`","`+mcp.MetaClientCapabilities+`":{}}}}`,
			map[string]string{"MCP-Protocol-Version": modern, "Mcp-Method": "subscriptions/listen"})
		if first := listen.next(); !strings.Contains(first, "acknowledged") {
			t.Fatalf("the listen of %s begins with %s", who, first)
		}
		old := openStream(t, "GET", web.URL+"/sse", who, "", nil)
		old.next() // where to post
		session := openStream(t, "GET", web.URL+"/mcp", who, "", map[string]string{"Mcp-Session-Id": id})
		open[who] = []*openedStream{listen, old, session}
	}
	var call sync.WaitGroup
	defer call.Wait()
	call.Go(func() { // ends with the session
		postRaw(t, web.URL+"/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}`, sessions["ann"])
	})
	<-running

	s.Dismiss(func(who *mcp.Principal) bool { return who.Subject == "ann" })
	if last := open["ann"][0].next(); !strings.Contains(last, `"result"`) {
		t.Errorf("the listen of ann ends with %q", last)
	}
	for i, one := range open["ann"] {
		if more := one.next(); more != "" {
			t.Errorf("stream %d of ann goes on with %s", i, more)
		}
	}
	if who := <-cancelled; who != "ann" {
		t.Errorf("a call of %s was cancelled", who)
	}
	for range 2 {
		if who := <-closed; who != "ann" {
			t.Errorf("a session of %s was ended", who)
		}
	}
	const list = `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`
	if res, body := postRaw(t, web.URL+"/mcp", list, sessions["ann"]); res.StatusCode != http.StatusNotFound {
		t.Errorf("the session of ann answers %d %s", res.StatusCode, body)
	}
	if res, body := postRaw(t, web.URL+"/mcp", list, sessions["bob"]); res.StatusCode != http.StatusOK {
		t.Errorf("the session of bob answers %d %s", res.StatusCode, body)
	}
	s.Changed(server.Tools)
	for i, one := range open["bob"] {
		if i != 1 && !strings.Contains(one.next(), "tools/list_changed") { // the oldest client has not said hello
			t.Errorf("stream %d of bob brings no news", i)
		}
	}
	if got := s.Stats(); got.Listens != 1 || got.Peers != 2 {
		t.Errorf("left are %+v", got)
	}
}
