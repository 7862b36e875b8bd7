package oauth

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// resourceServer is an MCP server that wants tokens.
type resourceServer struct {
	challenge string                       // the header of 401; "-" for none, "" for the usual one
	documents map[string]any               // by path; a string is a page, an int a status
	as        *authServer                  // whose tokens are good
	needs     func(r *http.Request) string // scope of a request
	dpop      bool
	nonce     string

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

const usualMetadata = "/.well-known/oauth-protected-resource/mcp"

func newResourceServer(as *authServer) *resourceServer {
	return &resourceServer{as: as, documents: map[string]any{usualMetadata: map[string]any{
		"resource": "https://mcp.test/mcp", "authorization_servers": []string{as.issuer}}}}
}

func (s *resourceServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if document, ok := s.documents[r.URL.Path]; ok {
		switch document := document.(type) {
		case int:
			w.WriteHeader(document)
		case string:
			fmt.Fprint(w, document)
		default:
			send(w, 200, document)
		}
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/mcp") {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
	s.as.mu.Lock()
	defer s.as.mu.Unlock()
	scheme, access, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	scope, ok := s.as.tokens[access]
	challenge := s.challenge
	if challenge == "" {
		challenge = `Bearer realm="it, \"really\"", resource_metadata="https://mcp.test` + usualMetadata + `"`
	}
	if want := map[bool]string{false: "Bearer", true: "DPoP"}[s.dpop]; !ok || scheme != want {
		if challenge != "-" {
			w.Header().Add("WWW-Authenticate", challenge)
		}
		w.WriteHeader(401)
		return
	}
	if s.nonce != "" && claims(r.Header.Get("DPoP"))["nonce"] != s.nonce {
		w.Header().Set("DPoP-Nonce", s.nonce)
		w.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
		w.WriteHeader(401)
		return
	}
	if s.needs != nil {
		if need := s.needs(r); !covers(strings.Fields(scope), strings.Fields(need)) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, need))
			w.WriteHeader(403)
			return
		}
	}
	fmt.Fprint(w, "welcome")
}
