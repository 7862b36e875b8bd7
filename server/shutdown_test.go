package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// takes adds a tool that works for a time, unless it is cancelled before.
func takes(t *testing.T, s *server.Server, name string, running chan<- struct{}, d time.Duration) {
	t.Helper()
	rawTool(t, s, name, func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
		running <- struct{}{}
		select {
		case <-time.After(d):
			return mcp.TextResult("done"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
}

const shutdownHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`

// Over HTTP calls of both eras have the same time at the end, whether they belong to a session or not. What does not end is
// cancelled, in time for its client to hear of it and for the web server to stop.
//
// Seen to fail: when sessions were closed first, their calls were cancelled at once; when calls without one were cancelled by the
// end of the context alone, Shutdown failed and so did that of the web server; when what had begun was answered with 503 and
// Retry-After, clients sent it again.
func TestShutdownIsTheSameInBothEras(t *testing.T) {
	for _, c := range []struct {
		name string
		time time.Duration
		want []string
	}{
		{"in time", 50 * time.Millisecond, []string{"200", "done"}},
		{"never", time.Hour, []string{"200", `"error":{"code":-32603,"message":"the server is shutting down, so the call was given up; whether it was done is not known"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const url = "http://127.0.0.1/mcp"
				s := newServer(server.Options{})
				running := make(chan struct{}, 2)
				takes(t, s, "works", running, c.time)
				web, road := webInBubble(t, s.Handler())
				opened, _ := postBy(t, road, url, shutdownHello, nil)
				answered := make(chan string, 2)
				call := func(meta string, headers http.Header) {
					res, body := postBy(t, road, url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"works"`+meta+`}}`, headers)
					answered <- fmt.Sprint(res.StatusCode, body)
				}
				go call(`,"_meta":{"`+mcp.MetaProtocolVersion+`":"`+modern+`","`+mcp.MetaClientCapabilities+`":{}}`,
					http.Header{"Mcp-Protocol-Version": {modern}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"works"}})
				go call("", http.Header{"Mcp-Session-Id": {opened.Header.Get("Mcp-Session-Id")}})
				<-running
				<-running
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				if err := errors.Join(s.Shutdown(ctx), web.Shutdown(ctx)); err != nil {
					t.Errorf("Shutdown: %v", err)
				}
				for range 2 {
					got := <-answered
					for _, want := range c.want {
						if !strings.Contains(got, want) {
							t.Errorf("want %s in %s", want, got)
						}
					}
				}
			})
		})
	}
}

// stream posts a message and returns the events of its answer.
func stream(t *testing.T, url, body string, headers http.Header) *sseClient {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = headers.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return &sseClient{lines: bufio.NewScanner(res.Body)}
}

// A call of a session that asks its client is still answered while the server stops; new requests and streams are refused.
//
// Seen to fail: when everything was refused, the answer got 503 and the call was cancelled.
func TestShutdownTakesAnswers(t *testing.T) {
	s := newServer(server.Options{})
	asks := make(chan struct{}, 1)
	rawTool(t, s, "asks", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		asks <- struct{}{}
		roots, err := req.ListRoots(ctx)
		if err != nil {
			return nil, err
		}
		return mcp.TextResult("roots: " + roots.Roots[0].URI), nil
	})
	url := serve(t, s.Handler())
	opened, _ := postRaw(t, url, shutdownHello, nil)
	session := http.Header{"Mcp-Session-Id": {opened.Header.Get("Mcp-Session-Id")}}
	postRaw(t, url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	stream := stream(t, url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"asks"}}`, session)
	<-asks
	_, question := stream.next()
	m, err := jsonrpc.Decode([]byte(question), nil)
	if err != nil || m.Method != mcp.MethodListRoots {
		t.Fatalf("the question: %s", question)
	}
	id := string(m.ID.Raw())

	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		stopped <- s.Shutdown(ctx)
	}()
	for {
		if res, _ := postRaw(t, url, shutdownHello, nil); res.StatusCode == http.StatusServiceUnavailable {
			break
		}
	}
	if res, body := postRaw(t, url, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, session); res.StatusCode != 503 || !strings.Contains(body, `"id":3`) {
		t.Errorf("a new request: %s %s", res.Status, body)
	}
	if res, body := postRaw(t, url, `{"jsonrpc":"2.0","id":`+id+`,"result":{"roots":[{"uri":"file:///a"}]}}`, session); res.StatusCode != 202 {
		t.Errorf("the answer: %s %s", res.Status, body)
	}
	if _, got := stream.next(); !strings.Contains(got, "roots: file:///a") {
		t.Errorf("the call: %s", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if res, _ := postRaw(t, url, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`, session); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("an answer after the end: %s", res.Status)
	}
}

// On a pipe what runs is answered too, in either era, and what comes meanwhile is refused.
func TestShutdownOnAPipe(t *testing.T) {
	for _, era := range bothEras {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(server.Options{})
			running := make(chan struct{}, 1)
			takes(t, s, "works", running, time.Minute)
			w := dial(t, s, era)
			w.start("tools/call", `"name":"works"`)
			<-running
			stopped := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
				defer cancel()
				stopped <- s.Shutdown(ctx)
			}()
			synctest.Wait()
			w.want("tools/list", "", "error -32603")
			began := time.Now()
			if err := <-stopped; err != nil || time.Since(began) != time.Minute {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
		})
	}
}
