package examples

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/state"
)

// Two servers behind one address share what carries sessions. Here they stand in one process, so memory will do; in several
// processes give each the same store, log and bus of an engine that all of them reach.
func Example_replicas() {
	secret := bytes.Repeat([]byte("0123456789abcdef"), 2)
	sessions, events, bus := state.NewMemorySessions(state.SessionLimits{}), state.NewMemoryLog(state.LogLimits{}), state.NewMemoryBus(state.BusLimits{})
	defer sessions.Close()
	defer events.Close()
	defer bus.Close()
	newReplica := func(name string) *server.Server {
		// [options]
		s := server.New(mcp.Implementation{Name: "shop", Version: "1.0.0"}, server.Options{
			Bus:       bus,              // state.Bus: what changes on one is announced to the clients of all
			StateKeys: [][]byte{secret}, // a call that asked on one is gone on with on any
			HTTP: server.HTTPOptions{
				Sessions: sessions, // state.SessionStore: any replica serves any session
				EventLog: events,   // state.EventLog: any goes on with a stream that was cut
			},
		})
		// [end]
		server.AddTool(s, mcp.Tool{Name: "where"}, func(context.Context, *server.Request, struct{}) (string, error) { return name, nil })
		return s
	}
	var urls []string
	for _, name := range []string{"replica 1", "replica 2"} {
		s := newReplica(name)
		web := httptest.NewServer(s.Handler())
		defer web.Close()
		defer s.Shutdown(context.Background())
		urls = append(urls, web.URL)
	}

	session := send(urls[0], "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`).Header.Get("Mcp-Session-Id")
	fmt.Println(send(urls[1], session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"where"}}`).Status)
	fmt.Println(sessions.Len(), "session")
	// Output:
	// 200 OK
	// 1 session
}

// send posts one message of a session.
func send(url, session, body string) *http.Response {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	resp.Body.Close()
	return resp
}
