package streamhttp

import (
	"net/http"
	"strings"
)

// preflight answers what a browser asks before a request of a listed origin. It needs no credentials.
func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", strings.Join(h.methods, ", "))
	if asked := r.Header["Access-Control-Request-Headers"]; len(asked) > 0 {
		header["Access-Control-Allow-Headers"] = []string{strings.Join(asked, ", ")} // mcp-param-* cannot be listed beforehand
	}
	header.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && len(r.Header["Origin"]) == 1 && r.Header["Access-Control-Request-Method"] != nil
}

// allowOrigin lets a browser show the answer, refusals included, to a page of a listed origin.
func (h *Handler) allowOrigin(w http.ResponseWriter, r *http.Request) {
	if len(h.guard.origins) == 0 {
		return
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	if origins := r.Header["Origin"]; len(origins) == 1 && h.guard.Listed(origins[0]) {
		header["Access-Control-Allow-Origin"] = origins
		header["Access-Control-Expose-Headers"] = exposed
	}
}

var exposed = []string{"Mcp-Session-Id, WWW-Authenticate, MCP-Protocol-Version"}
