package interop

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestOwnServerResumes lets every library wait for an answer whose connection the server closes on purpose, twice in a row.
func TestOwnServerResumes(t *testing.T) {
	for _, driver := range Drivers() {
		t.Run(driver.Name, func(t *testing.T) {
			var came atomic.Int32 // GETs with Last-Event-ID
			url := startCloser(t, &came)
			report := driver.Run(t, Target{URL: url}, Plan{Steps: []Step{{Do: "call", Name: "bake", Progress: 2}}})
			if report.Error != nil || report.Steps[0].Error != nil || report.Version != legacyVersion {
				t.Fatalf("revision %q: %+v, %+v", report.Version, report.Error, report.Steps)
			}
			if got := string(report.Steps[0].Result); !strings.Contains(got, "closed: true") {
				t.Errorf("got %s", got)
			}
			if n := len(report.Steps[0].Progress); n != 2 {
				t.Errorf("progress came %d times", n)
			}
			if n := came.Load(); n < 2 {
				t.Errorf("the client came back %d times", n)
			}
		})
	}
}

// startCloser serves a tool that closes the stream of its call before each report, and counts who comes back.
func startCloser(t *testing.T, came *atomic.Int32) string {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "closer", Version: "1"}, server.Options{Versions: mcp.LegacyVersions()})
	server.AddTool(s, mcp.Tool{Name: "bake"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		closed := true
		for step := range 2 {
			closed = req.CloseStream(50*time.Millisecond) && closed
			req.Progress(ctx, float64(step+1), 2, "")
			time.Sleep(300 * time.Millisecond) // so that the client is back before the next
		}
		return fmt.Sprint("closed: ", closed), nil
	})
	handler := s.Handler()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "" {
			came.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return web.URL + "/mcp"
}
