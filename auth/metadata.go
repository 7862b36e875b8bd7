package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
)

// document is the metadata of a protected resource. RFC 9728, 2; the member about DPoP is RFC 9449's.
type document struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name,omitempty"`
	Documentation        string   `json:"resource_documentation,omitempty"`
	ProofAlgorithms      []string `json:"dpop_signing_alg_values_supported,omitempty"`
	ProofRequired        bool     `json:"dpop_bound_access_tokens_required,omitzero"`
}

// Metadata returns the handler of the metadata by which clients find the authorization server, in both places where they look:
// [MetadataPath] and MetadataPath followed by the path of the endpoint. It answers 404 elsewhere, so it can be mounted at
// "/.well-known/" or at these two. It asks for no token, and pages of every origin may read it. It panics where
// [Options.Check] finds a fault.
func Metadata(opts Options) http.Handler { return metadata{newGuard(opts)} }

type metadata struct{ *guard }

// ServeHTTP implements http.Handler.
func (m metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := m.resource(r)
	if len(m.opts.AuthorizationServers) == 0 || !isWellKnown(r.URL, resource) {
		text(w, http.StatusNotFound, "there is no metadata here")
		return
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		m.answer(w, resource)
	case http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		header.Set("Access-Control-Allow-Headers", "*, MCP-Protocol-Version")
		header.Set("Access-Control-Max-Age", "7200")
		w.WriteHeader(http.StatusNoContent)
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		text(w, http.StatusMethodNotAllowed, "this address answers GET, HEAD, OPTIONS only")
	}
}

func (m metadata) answer(w http.ResponseWriter, resource string) {
	doc := document{
		Resource: resource, AuthorizationServers: m.opts.AuthorizationServers, ScopesSupported: m.opts.ScopesSupported,
		BearerMethods: []string{"header"}, Name: m.opts.Name, Documentation: m.opts.Documentation,
	}
	if m.proofs != nil {
		doc.ProofAlgorithms, doc.ProofRequired = m.proofs.algorithms, m.proofs.required
	}
	body, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil { // a text of the options that is no UTF-8
		m.opts.OnError(err)
		text(w, http.StatusInternalServerError, "the metadata cannot be written")
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Content-Type-Options", "nosniff")
	w.Write(body)
}

// isWellKnown tells whether an address is one of the two places of the metadata of a resource.
func isWellKnown(at *url.URL, resource string) bool {
	rest, ok := strings.CutPrefix(at.EscapedPath(), MetadataPath)
	rest = strings.TrimSuffix(rest, "/")
	if !ok || rest == "" {
		return ok
	}
	u, err := url.Parse(resource)
	return err == nil && rest == strings.TrimSuffix(u.EscapedPath(), "/")
}
