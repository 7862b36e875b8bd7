package mcptest_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
)

// TestLegacyWiresTellOfSubscribedResources: the modern era has no such request, it listens.
func TestLegacyWiresTellOfSubscribedResources(t *testing.T) {
	for _, w := range mcptest.Wires() {
		if w.Modern {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			s, told := library(), make(chan string, 16)
			c := w.Dial(t, s, client.Options{OnNotification: func(_ context.Context, method string, params json.RawMessage) {
				if method == mcp.NotifyResourceUpdated {
					told <- string(params)
				}
			}})
			check(t, c.SubscribeResource(t.Context(), "book:1"))
			const want = `{"uri":"book:1"}`
			for patience := time.After(10 * time.Second); ; { // over HTTP the stream for it may not be open yet
				s.ResourceUpdated("book:2") // which nobody has subscribed to
				s.ResourceUpdated("book:1")
				select {
				case got := <-told:
					if got != want {
						t.Errorf("told %s, want %s", got, want)
					}
					check(t, c.UnsubscribeResource(t.Context(), "book:1"))
					return
				case <-time.After(50 * time.Millisecond):
				case <-patience:
					t.Fatal("nothing was told")
				}
			}
		})
	}
}
