package httpsse_test

import (
	"io"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/transport/httpsse"
)

// TestC037HostileEndpoints: a server that names its endpoint twice, wrongly or not at all harms nobody, and no other
// origin gets what is meant for it.
//
// Seen to fail with the comparison of origins taken out: the endpoint of another origin was taken.
func TestC037HostileEndpoints(t *testing.T) {
	const events = "Content-Type: text/event-stream\r\nConnection: close\r\n"
	const first = "event: endpoint\ndata: /post?id=1\n\n"
	for name, tc := range map[string]struct {
		body     string
		endpoint string // what is posted to; "" for a refused connection
		fails    string
	}{
		"twice":                   {first + first + first + "data: 1\n\n", "/post?id=1", ""},
		"another one later":       {first + "event: endpoint\ndata: /other\n\ndata: 1\n\n", "/post?id=1", ""},
		"another origin later":    {first + "event: endpoint\ndata: http://elsewhere.example/\n\ndata: 1\n\n", "/post?id=1", ""},
		"another origin":          {"event: endpoint\ndata: http://elsewhere.example/post\n\ndata: 1\n\n", "", "elsewhere.example"},
		"another origin, no name": {"event: endpoint\ndata: //elsewhere.example/post\n\ndata: 1\n\n", "", "elsewhere.example"},
		"empty":                   {"event: endpoint\ndata:\n\ndata: 1\n\n", "", "endpoint"},
		"no address":              {"event: endpoint\ndata: ht!tp://%zz\n\ndata: 1\n\n", "", "endpoint"},
		"none":                    {"data: 1\n\n", "", "endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := httpsse.Dial(t.Context(), rawServer(t, events, tc.body), httpsse.DialOptions{})
			if tc.endpoint == "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if frames, end := drain(t, c); len(frames) != 1 || end != io.EOF || !strings.HasSuffix(c.Endpoint(), tc.endpoint) {
				t.Errorf("%q, %v, posts to %s", frames, end, c.Endpoint())
			}
		})
	}
}
