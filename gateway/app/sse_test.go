package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
)

// TestOldestClients holds that clients which know HTTP+SSE alone find the gateway at /sse, beside the endpoint, and that an
// endpoint of that name has it for itself.
func TestOldestClients(t *testing.T) {
	r := start(t, nil)
	c, err := client.DialSSE(t.Context(), strings.TrimSuffix(r.url, "/mcp")+"/sse", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.CallTool(t.Context(), "echo", map[string]any{"text": "hello"})
	if err != nil || result.Text() != "hello" {
		t.Errorf("got %v, %v", result, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	r.end(t)

	conf := config.Default()
	conf.Path = "/message"
	r = start(t, conf)
	base := strings.TrimSuffix(r.url, "/message")
	resp, err := http.Get(base + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("/sse beside the endpoint /message answers %d", resp.StatusCode)
	}
	r.end(t)
}
