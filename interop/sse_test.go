package interop

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

// startOwnSSE serves our own memo server over HTTP+SSE until the test ends. Where events are asked for it sends them
// among the messages all the time.
func startOwnSSE(t testing.TB, options server.Options, events ...string) Target {
	t.Helper()
	s := ownMemo(options)
	if len(events) > 0 {
		broadcast(t, s, events)
	}
	web := httptest.NewServer(s.SSEHandler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shut our server down: %v", err)
		}
		web.Close()
	})
	return Target{SSE: true, URL: web.URL + "/sse"}
}

func broadcast(t testing.TB, s *server.Server, events []string) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { // until the test ends
		defer close(done)
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			for _, event := range events {
				if _, err := s.Broadcast(event, []byte("of no\nconcern")); err != nil {
					t.Errorf("broadcast %s: %v", event, err)
					return
				}
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
}

// TestOwnServerSSE drives our own server with the clients of others for HTTP+SSE: lists, calls with progress, reads,
// prompts and completions. The connected event disturbs none of them, and neither do broadcasts, but for the one that
// reads every event as a message.
func TestOwnServerSSE(t *testing.T) {
	onePath := server.SSEOptions{Connected: true, Path: "/sse", MessagePath: "/sse"}
	for _, front := range []struct {
		Front
		events []string
	}{
		{Front{Name: "plain"}, nil},
		{Front{Name: "legacy", Era: "legacy"}, nil},
		{Front{Name: "connected"}, nil},
		{Front{Name: "broadcasts"}, []string{"news", "score"}},
	} {
		front.Cases = memoCases()
		t.Run(front.Name, func(t *testing.T) {
			options := server.Options{}
			if front.Name == "connected" {
				options = server.Options{SSE: onePath, PageSize: 1}
			}
			target := startOwnSSE(t, options, front.events...)
			for _, driver := range SSEDrivers() {
				if driver.Name == "go-sdk-sse" && front.events != nil {
					continue // it ends on the first event that is no message
				}
				t.Run(driver.Name, func(t *testing.T) { front.run(t, driver, target) })
			}
		})
	}
}
