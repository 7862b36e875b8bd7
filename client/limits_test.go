package client_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
)

// TestHTTPMaxBodyBytes: the limit holds for a JSON answer and for an event, and is an option.
func TestHTTPMaxBodyBytes(t *testing.T) {
	big := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 4000) + `"}],"resultType":"complete"}`
	for media, frame := range map[string]string{jsonType: "%s", "text/event-stream": "data: %s\n\n"} {
		s := serve(t, reactions{
			"server/discover": answer(200, jsonType, discoverOK),
			"tools/call":      answer(200, media, fmt.Sprintf(frame, `{"jsonrpc":"2.0","id":{id},"result":`+big+`}`)),
		})
		for limit, fits := range map[int64]bool{0: true, 2000: false, -1: true} {
			c, err := client.DialHTTP(t.Context(), s.URL, client.Options{MaxBodyBytes: limit})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.CallTool(t.Context(), "big", nil); (err == nil) != fits {
				t.Errorf("%s, limit %d: %v", media, limit, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
