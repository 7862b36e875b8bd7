//go:build !race

package streamhttp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestModernAllocations holds what a modern call costs in this package and the engine, without net/http.
func TestModernAllocations(t *testing.T) {
	w := newHandler(t, Options{})
	defer w.handler.Close()
	body, headers := modern("tools/list", "", "")
	if perCall := w.allocations(t, body, headers); perCall > 8 { // two of them are the desk's
		t.Errorf("%v allocations a call", perCall)
	}
}

// TestSessionAllocations: that streams can be resumed costs a call nothing that is answered with JSON.
func TestSessionAllocations(t *testing.T) {
	w := newHandler(t, Options{})
	defer w.handler.Close()
	session := [2]string{"Mcp-Session-Id", w.record("POST", initialize).Header().Get("Mcp-Session-Id")}
	if perCall := w.allocations(t, legacyList, [][2]string{session}); perCall > 12 {
		t.Errorf("%v allocations a call", perCall)
	}
	if n := w.handler.ownLog.Len(); n != 0 {
		t.Errorf("%d logs", n)
	}
}

// allocations counts what one request costs.
func (w *world) allocations(t *testing.T, body string, headers [][2]string) float64 {
	t.Helper()
	r := httptest.NewRequest("POST", "/", nil)
	setHeaders(r, headers)
	reader := strings.NewReader(body)
	r.Body, r.ContentLength = io.NopCloser(reader), int64(len(body))
	out := &nowhere{header: http.Header{}}
	r = r.WithContext(context.Background())
	perCall := testing.AllocsPerRun(200, func() {
		reader.Reset(body)
		clear(out.header)
		w.handler.ServeHTTP(out, r)
	})
	t.Logf("%v allocations", perCall)
	if out.status != 0 || out.wrote == 0 {
		t.Fatalf("status %d, %d bytes", out.status, out.wrote)
	}
	return perCall
}
