package app

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
)

// TestOldestClients holds that clients which know HTTP+SSE alone find the gateway at /sse, beside the endpoint, and that an
// endpoint of that name has it for itself. The root tells people where the endpoint is.
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
	if status, text := get(t, base+"/sse"); status != http.StatusNotFound {
		t.Errorf("/sse beside the endpoint /message answers %d %s", status, text)
	}
	if status, text := get(t, base+"/"); status != http.StatusOK || !strings.Contains(text, "Clients use the address /message;") {
		t.Errorf("the root answers %d %s", status, text)
	}
	r.end(t)
}

func get(t *testing.T, url string) (status int, text string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
