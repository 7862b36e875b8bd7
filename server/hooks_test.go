package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// Hooks hear of each session and each pipe once when it begins and once when it has ended. Modern HTTP has neither.
func TestHooks(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			var mu sync.Mutex
			var heard []string
			hear := func(what string) func(server.Session) {
				return func(about server.Session) {
					mu.Lock()
					defer mu.Unlock()
					heard = append(heard, fmt.Sprintf("%s %v %s", what, about.ID != "", about.ClientInfo.Name))
				}
			}
			s := newServer(server.Options{Hooks: server.Hooks{SessionOpened: hear("opened"), SessionClosed: hear("closed")}})
			t.Run("client", func(t *testing.T) { // its end ends the connection
				c := wire.Dial(t, s, client.Options{Info: mcp.Implementation{Name: "me", Version: "1"}})
				if err := c.Ping(t.Context()); err != nil {
					t.Error(err)
				}
			})
			want := map[string][]string{
				"modern over memory": {"opened false ", "closed false "}, "modern over stdio": {"opened false ", "closed false "},
				"modern over http":   nil,
				"legacy over memory": {"opened false ", "closed false me"}, "legacy over stdio": {"opened false ", "closed false me"},
				"legacy over http": {"opened true ", "closed true me"},
			}[wire.Name]
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(heard, want) {
				t.Errorf("heard %s", strings.Join(heard, "; "))
			}
		})
	}
}

// TestSubscriptions holds that a server knows which resources its clients listen to, of either era and on every wire, and is told
// when that changes.
func TestSubscriptions(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			changed := make(chan struct{}, 100)
			s := newServer(server.Options{
				Capabilities: mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{Subscribe: true}},
				Hooks:        server.Hooks{Subscriptions: func() { changed <- struct{}{} }},
			})
			until := func(want ...string) {
				t.Helper()
				for !slices.Equal(s.Subscriptions(), want) {
					<-changed
				}
			}
			t.Run("client", func(t *testing.T) {
				c := wire.Dial(t, s, client.Options{})
				first, err := c.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{"a://2", "a://1"}})
				if err != nil {
					t.Fatal(err)
				}
				until("a://1", "a://2")
				if _, err := c.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{"a://3", "a://1"}}); err != nil {
					t.Fatal(err)
				}
				until("a://1", "a://2", "a://3")
				if err := first.Close(); err != nil {
					t.Fatal(err)
				}
				until("a://1", "a://3")
			})
			until()
		})
	}
}
