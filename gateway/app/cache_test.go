package app

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// counted serves a resource that says how often it was read, and may be kept.
func counted(t *testing.T) (url string) {
	t.Helper()
	var reads atomic.Int32
	s := server.New(mcp.Implementation{Name: "counted", Version: "1"}, server.Options{Cache: mcp.CacheFor(time.Hour, mcp.CachePublic)})
	s.AddResource(mcp.Resource{URI: "x://n", Name: "n"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("x://n", "", fmt.Sprint(reads.Add(1)))}}, nil
	})
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		check(t, s.Shutdown(ctx))
		ts.Close()
	})
	return ts.URL
}

// TestCache holds that clients share what a server lets them share, that the file can turn that off while the gateway runs, and
// that lists carry the hints of their servers.
func TestCache(t *testing.T) {
	url := counted(t)
	g := follow(t, file("", "a", url))
	g.err.wait(t, "a: ready")
	read := func(mode client.Mode) string {
		t.Helper()
		c, err := client.DialHTTP(t.Context(), g.url, client.Options{Mode: mode})
		check(t, err)
		defer func() { check(t, c.Close()) }()
		r, err := c.ReadResource(t.Context(), "x://n")
		check(t, err)
		return r.Contents[0].Text
	}
	if got := read(client.Modern) + read(client.Legacy) + read(client.Modern); got != "111" {
		t.Errorf("the answers are %s", got)
	}
	c, err := client.DialHTTP(t.Context(), g.url, client.Options{Mode: client.Modern})
	check(t, err)
	defer func() { _ = c.Close() }() // the gateway may be gone by then
	r, err := c.Raw(t.Context(), mcp.MethodListResources, nil, client.RawOptions{})
	check(t, err)
	if r.Cache.TTL() != time.Hour || r.Cache.Scope != mcp.CachePublic {
		t.Errorf("the list may be kept for %s by %s", r.Cache.TTL(), r.Cache.Scope)
	}
	save(t, g.file, file(`"servers": {"a": {"cache": false}}`, "a", url))
	g.err.wait(t, "settings cache")
	if got := read(client.Modern) + read(client.Modern); got != "23" {
		t.Errorf("without a cache the answers are %s", got)
	}
	g.end(t)
}
