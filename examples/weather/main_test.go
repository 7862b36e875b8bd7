package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/server"
)

// The program ends well when it is told to, with clients of both eras that wait for news.
func TestServeHTTPEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	said, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(ctx, newServer(server.Options{}), "127.0.0.1:0", out) }()
	line := make([]byte, 200)
	n, err := said.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "listening on "))
	for _, mode := range eras {
		c, err := client.DialHTTP(t.Context(), url, client.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		defer c.OnToolsChange(func() {})()
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
