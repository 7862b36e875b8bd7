package streamhttp

import (
	"net/http"
	"slices"
	"strings"
)

// Preflight answers what a browser asks before a request of a listed origin: the methods given, any header. It needs no
// credentials. [Guard.Check] comes first.
func Preflight(w http.ResponseWriter, r *http.Request, methods []string) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
	if asked := r.Header["Access-Control-Request-Headers"]; len(asked) > 0 {
		header["Access-Control-Allow-Headers"] = []string{strings.Join(asked, ", ")} // mcp-param-* cannot be listed beforehand
	}
	header.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
}

// IsPreflight tells whether a browser asks before a request, where origins are listed.
func (g *Guard) IsPreflight(r *http.Request) bool {
	return g.listsOrigins() && r.Method == http.MethodOptions && len(r.Header["Origin"]) == 1 && r.Header["Access-Control-Request-Method"] != nil
}

// Share lets a browser show the answer, refusals included, to a page of a listed origin. It sets headers only.
func (g *Guard) Share(w http.ResponseWriter, r *http.Request) {
	if !g.listsOrigins() {
		return
	}
	header := w.Header()
	if !slices.Contains(header["Vary"], "Origin") { // a layer around may have asked first, by Handler.Admit
		header["Vary"] = append(header["Vary"], "Origin")
	}
	if origins := r.Header["Origin"]; len(origins) == 1 && g.Listed(origins[0]) {
		header["Access-Control-Allow-Origin"] = origins
		header["Access-Control-Expose-Headers"] = exposed
	}
}

var exposed = []string{"Mcp-Session-Id, WWW-Authenticate, MCP-Protocol-Version"}
