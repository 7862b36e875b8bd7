package upstream

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestServerChangesItsEra holds that what was found out about a server is not believed for ever.
func TestServerChangesItsEra(t *testing.T) {
	var current atomic.Value
	current.Store(hello(t, mcp.ModernVersions()))
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		current.Load().(http.HandlerFunc)(w, r)
	}))
	defer ts.Close()
	dial := Dialing(client.Options{CallTimeout: 5 * time.Second, TotalTimeout: 5 * time.Second}, nil)
	s := manager.Server{Name: "web", Transport: manager.HTTP, URL: ts.URL}
	lists := func() (string, error) {
		conn, err := dial(t.Context(), s)
		if err != nil {
			return "", err
		}
		_, err = Read(t.Context(), conn, Tools, func(string) {})
		if closed := conn.Close(); closed != nil {
			t.Log(closed)
		}
		return conn.Version(), err
	}
	if version, err := lists(); err != nil || !mcp.IsModern(version) {
		t.Fatalf("at first: %s, %v", version, err)
	}
	current.Store(hello(t, mcp.LegacyVersions()))
	for try := range 3 {
		version, err := lists()
		if err == nil {
			if !mcp.IsLegacy(version) {
				t.Errorf("the lists of a legacy server came in revision %s", version)
			}
			return
		}
		t.Logf("try %d: %v", try, err)
	}
	t.Error("the server is never understood again")
}
