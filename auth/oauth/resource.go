package oauth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// resourceMetadata is what a protected resource publishes about itself. RFC 9728, section 2. Identifiers are opaque: they
// are compared and sent as they came.
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	DPoP     bool     `json:"dpop_bound_access_tokens_required"`
}

// findResource reads the metadata of the MCP server: at the address of the challenge where there is one, then at both
// well-known ones. nil without an error means that every well-known address answered 404: the server publishes none.
func (a *Authorizer) findResource(ctx context.Context, challenged string) (*resourceMetadata, error) {
	failed := &Error{Server: a.where, Doing: "find out who gives tokens for the server"}
	absent := true
	try := func(address string) (*resourceMetadata, error) {
		var m resourceMetadata
		status, err := a.web.get(ctx, endpoint{url: address}, nil, &m)
		if err == nil && m.Resource == "" {
			err = fmt.Errorf("the answer has no member \"resource\"")
		}
		if err == nil {
			if err := a.mustCover(m.Resource); err != nil {
				return nil, &Error{Server: a.where, Doing: failed.Doing, Err: err, Tried: []Attempt{{plain(address), "it was read"}}}
			}
			return &m, nil
		}
		absent = absent && status == http.StatusNotFound
		failed.Tried = append(failed.Tried, Attempt{plain(address), err.Error()})
		failed.blame(err, "the metadata of the server cannot be read now")
		return nil, nil
	}
	candidates := resourceAddresses(a.server)
	if challenged != "" {
		absent = false
		candidates = append([]string{challenged}, candidates...)
	}
	seen := map[string]bool{}
	for _, address := range candidates {
		if seen[address] {
			continue
		}
		seen[address] = true
		m, err := try(address)
		if m != nil || err != nil {
			return m, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if absent {
		return nil, nil
	}
	return nil, failed
}

// resourceAddresses are the well-known addresses for an MCP server: with its path, then at the root. RFC 9728, section 3.1.
func resourceAddresses(server *url.URL) []string {
	const name = "/.well-known/oauth-protected-resource"
	root := server.Scheme + "://" + server.Host + name
	path := strings.TrimSuffix(server.EscapedPath(), "/")
	query := ""
	if server.RawQuery != "" {
		query = "?" + server.RawQuery
	}
	if path == "" && query == "" {
		return []string{root}
	}
	return []string{root + path + query, root}
}

// mustCover says why a resource identifier does not stand for the MCP server: same origin, and a path that the server's
// path begins with, segment by segment. RFC 9728, section 3.3, and RFC 8707, section 2.
func (a *Authorizer) mustCover(resource string) error {
	u, err := url.Parse(resource)
	switch {
	case err != nil || !u.IsAbs() || u.Host == "":
		return fmt.Errorf("%w: %q is no absolute address", ErrResource, clean(resource, 200))
	case u.Fragment != "" || strings.Contains(resource, "#") || u.User != nil:
		return fmt.Errorf("%w: %s carries a fragment or a user", ErrResource, plainURL(u))
	case origin(u) != origin(a.server):
		return fmt.Errorf("%w: it is %s, and the server is at %s", ErrResource, plainURL(u), plainURL(a.server))
	case !under(a.server.EscapedPath(), u.EscapedPath()), u.RawQuery != "" && u.RawQuery != a.server.RawQuery:
		return fmt.Errorf("%w: it is %s, and the server is at %s", ErrResource, plainURL(u), plainURL(a.server))
	}
	return nil
}

// under tells whether a path lies at or below another.
func under(path, above string) bool {
	above = strings.TrimSuffix(above, "/")
	path = strings.TrimSuffix(path, "/")
	return path == above || strings.HasPrefix(path, above+"/")
}

// origin is scheme, host and port of an address, in one form.
func origin(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[scheme]
	}
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// canonical is the resource identifier of a server that publishes none: its address without fragment, user and the slash
// at the end.
func canonical(server *url.URL) string {
	u := *server
	u.Fragment, u.RawFragment, u.User = "", "", nil
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return strings.TrimSuffix(u.String(), "/")
}
