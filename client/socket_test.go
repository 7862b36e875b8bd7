package client_test

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// TestUnixSocket reaches servers behind a socket by an address and by the option, at the endpoint each names.
func TestUnixSocket(t *testing.T) {
	noLeak(t)
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err)
	}
	asked := make(chan string, 10)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a broken one is no message
		m, err := jsonrpc.Decode(body, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked <- r.Host + r.URL.Path
		w.Header().Set("Content-Type", jsonType)
		io.WriteString(w, strings.ReplaceAll(discoverOK, "{id}", m.ID.String()))
	})}
	go srv.Serve(listener) // until Close
	defer srv.Close()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // which is not for sockets
	for address, want := range map[string]string{
		"unix://" + path:              "localhost/mcp",
		"unix://" + path + "#/x/y":    "localhost/x/y",
		"http://docker.internal/here": "docker.internal/here",
	} {
		opts := client.Options{}
		if strings.HasPrefix(address, "http") {
			opts.Socket = path
		}
		c, err := client.DialHTTP(t.Context(), address, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		for range 2 {
			if got := <-asked; got != want {
				t.Errorf("%s: asked %s, want %s", address, got, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := client.DialHTTP(t.Context(), "unix://"+path+"-none", client.Options{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
	if _, err := client.DialHTTP(t.Context(), "unix://relative", client.Options{}); err == nil {
		t.Error("a relative path was taken")
	}
}
