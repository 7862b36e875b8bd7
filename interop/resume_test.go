package interop

import (
	"context"
	"errors"
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
			if got := string(report.Steps[0].Result); !strings.Contains(got, "closed twice") {
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
		for step := range 2 {
			if err := closeUntil(ctx, req, came, int32(step)+1); err != nil {
				return "", err
			}
			req.Progress(ctx, float64(step+1), 2, "")
		}
		return "closed twice", nil
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

// closeUntil closes the stream of a call until the client has come back so many times. A stream that it is only about to come
// back on cannot be closed yet.
func closeUntil(ctx context.Context, req *server.Request, came *atomic.Int32, times int32) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for came.Load() < times {
		if !req.CloseStream(50 * time.Millisecond) {
			return errors.New("the stream cannot be closed")
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
