package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// batchOf is an array of pings.
func batchOf(n int) string {
	pings := make([]string, n)
	for i := range pings {
		pings[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`, i)
	}
	return "[" + strings.Join(pings, ",") + "]"
}

// overPipe sends a batch in a session of the one revision that has them, and returns the frame that comes back.
func overPipe(t *testing.T, s *server.Server, batch string) string {
	t.Helper()
	near, far := transport.Pair(0)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), far) }() // ends with near
	var frame []byte
	for _, sent := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		batch,
	} {
		if err := near.Write(t.Context(), []byte(sent)); err != nil {
			t.Fatal(err)
		}
		var err error
		if frame, err = near.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(near.Close(), <-ended); err != nil {
		t.Error(err)
	}
	return string(frame)
}

// Arrays are bounded, and the option changes or lifts that, on both kinds of wire.
func TestMaxBatch(t *testing.T) {
	for _, tc := range []struct {
		limit, messages int
		fits            bool
	}{
		{0, 100, true}, {0, 101, false}, {2, 3, false}, {2, 2, true}, {-1, 101, true},
	} {
		s := newServer(server.Options{MaxBatch: tc.limit, HTTP: server.HTTPOptions{Sessionless: true}})
		res, err := http.Post(serve(t, s.Handler()), "application/json", strings.NewReader(batchOf(tc.messages)))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.Body.Close() != nil {
			t.Fatal(err)
		}
		if fits := res.StatusCode == http.StatusOK; fits != tc.fits {
			t.Errorf("%d of %d over HTTP: %d %.200s", tc.messages, tc.limit, res.StatusCode, body)
		}
		if frame := overPipe(t, s, batchOf(tc.messages)); (frame[0] == '[') != tc.fits {
			t.Errorf("%d of %d on a pipe: %.200s", tc.messages, tc.limit, frame)
		}
	}
}

// What one pipe may have waiting is an option.
func TestMaxQueued(t *testing.T) {
	s := newServer(server.Options{MaxInFlight: 1, MaxQueued: 1})
	block, running := make(chan struct{}), make(chan struct{}, 3)
	rawTool(t, s, "wait", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		running <- struct{}{}
		<-block
		return nil, nil
	})
	w := dial(t, s, modern)
	w.start("tools/call", `"name":"wait"`)
	<-running
	w.start("tools/call", `"name":"wait"`)
	w.want("tools/call", `"name":"wait"`, "error -32603")
	close(block)
	w.Next()
	w.Next()
}

// Senders that nobody knows share one limit over HTTP.
func TestMaxAnonymous(t *testing.T) {
	s := newServer(server.Options{MaxAnonymous: 1})
	block, running := make(chan struct{}), make(chan struct{}, 1)
	rawTool(t, s, "wait", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		running <- struct{}{}
		<-block
		return nil, nil
	})
	url := serve(t, s.Handler())
	var first atomic.Int32
	done := make(chan struct{})
	go func() { // ends with the first call; waited for below
		defer close(done)
		status, _ := post(t, url, "tools/call", "wait", `"name":"wait",`, nil)
		first.Store(int32(status))
	}()
	<-running
	if status, body := post(t, url, "tools/list", "", "", nil); status != http.StatusServiceUnavailable || !strings.Contains(body, "-32603") {
		t.Errorf("the second: %d %s", status, body)
	}
	close(block)
	if <-done; first.Load() != http.StatusOK {
		t.Errorf("the first: %d", first.Load())
	}
}

// Schemas of tools are bounded, and the options change or lift that.
func TestSchemaLimits(t *testing.T) {
	deep := func(levels int) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{"a":` + strings.Repeat(`{"items":`, levels) + `{}` + strings.Repeat(`}`, levels) + `}}`)
	}
	wide := func(n int) json.RawMessage {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"p%d":{}`, i))
		}
		return json.RawMessage(`{"type":"object","properties":{` + strings.Join(all, ",") + `}}`)
	}
	for name, tc := range map[string]struct {
		opts   server.Options
		schema json.RawMessage
		fits   bool
	}{
		"as deep as may be": {server.Options{}, deep(60), true},
		"too deep":          {server.Options{}, deep(65), false},
		"depth by option":   {server.Options{MaxSchemaDepth: 3}, deep(5), false},
		"depth lifted":      {server.Options{MaxSchemaDepth: -1}, deep(100), true},
		"too many":          {server.Options{}, wide(10_001), false},
		"number by option":  {server.Options{MaxSubschemas: 5}, wide(6), false},
		"number lifted":     {server.Options{MaxSubschemas: -1}, wide(10_001), true},
	} {
		err := newServer(tc.opts).AddRawTool(mcp.Tool{Name: "x", InputSchema: tc.schema}, nothing)
		if (err == nil) != tc.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}
