package oauth

import (
	"net/http"
	"strings"
	"testing"
)

// both serves what the first handler does not have from the second.
type both struct{ first, second http.Handler }

func (b both) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/mcp") || strings.Contains(r.URL.Path, "protected-resource") {
		b.first.ServeHTTP(w, r)
		return
	}
	b.second.ServeHTTP(w, r)
}

// rewrite serves one path as another, and not that other.
type rewrite struct {
	from, to string
	next     http.Handler
}

func (h rewrite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case h.to:
		http.NotFound(w, r)
		return
	case h.from:
		r = r.Clone(r.Context())
		r.URL.Path = h.to
	}
	h.next.ServeHTTP(w, r)
}

func newRequest(t *testing.T) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://mcp.test/mcp", strings.NewReader("question"))
	if err != nil {
		t.Fatal(err)
	}
	return req
}
