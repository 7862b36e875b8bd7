package oauth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
)

// serverMetadata is what an authorization server publishes about itself. RFC 8414, section 2; the other members are of
// RFC 8628, 9207, 9449 and the draft on client id metadata documents.
type serverMetadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Device        string   `json:"device_authorization_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Scopes        []string `json:"scopes_supported"`
	PKCE          []string `json:"code_challenge_methods_supported"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	Algorithms    []string `json:"token_endpoint_auth_signing_alg_values_supported"` // of assertions
	DPoP          []string `json:"dpop_signing_alg_values_supported"`
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	ReadsClientID bool     `json:"client_id_metadata_document_supported"`

	assumed bool // made up of the default endpoints of 2025-03-26
}

// findServer reads the metadata of an authorization server. A document that names another issuer is not used.
func (a *Authorizer) findServer(ctx context.Context, issuer string) (*serverMetadata, error) {
	return a.readServer(ctx, issuer, false)
}

// readServer is findServer, also for an issuer that the user configured, which may lie anywhere.
func (a *Authorizer) readServer(ctx context.Context, issuer string, trusted bool) (*serverMetadata, error) {
	failed := &Error{Server: a.where, Doing: "read the metadata of the authorization server"}
	candidates, err := serverAddresses(issuer)
	if err != nil {
		failed.Err = err
		return nil, failed
	}
	for _, address := range candidates {
		var m serverMetadata
		_, err := a.web.get(ctx, endpoint{url: address, trusted: trusted}, nil, &m)
		switch {
		case err != nil:
			failed.blame(err, "it cannot be read now")
		case m.Issuer != issuer:
			err = fmt.Errorf("it says that its issuer is %q, not %q", clean(m.Issuer, 200), clean(issuer, 200))
			failed.Err = ErrIssuer
		case m.Token == "":
			err = fmt.Errorf("it names no token endpoint")
		default:
			return &m, nil
		}
		failed.Tried = append(failed.Tried, Attempt{plain(address), err.Error()})
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

const maxIssuer = 2 << 10 // bytes; it becomes part of addresses, keys and log records

// serverAddresses are the well-known addresses for an issuer, in their order. RFC 8414, sections 3.1 and 5.
func serverAddresses(issuer string) ([]string, error) {
	const oauth, openID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	u, err := url.Parse(issuer)
	odd := strings.ContainsFunc(issuer, func(r rune) bool { return r <= ' ' || r > '~' || r == '?' || r == '#' })
	if err != nil || odd || len(issuer) > maxIssuer || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%q cannot be the name of an authorization server", clean(issuer, 200))
	}
	root := u.Scheme + "://" + u.Host
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" {
		return []string{root + oauth, root + openID}, nil
	}
	return []string{root + oauth + path, root + openID + path, root + path + openID}, nil
}

// place is where tokens come from: the outcome of discovery.
type place struct {
	resource string // sent as it is
	scopes   []string
	dpop     bool // the resource wants DPoP
	server   *serverMetadata
}

// discover finds out who gives tokens for the MCP server. known is the issuer of the tokens at hand, "" for none.
func (a *Authorizer) discover(ctx context.Context, d demand, known string) (*place, error) {
	res, err := a.findResource(ctx, d.metadata)
	if err != nil {
		return nil, err
	}
	if res == nil {
		return a.withoutMetadata(ctx, d)
	}
	at := &place{resource: res.Resource, scopes: res.Scopes, dpop: res.DPoP || d.dpop && !d.bearer}
	at.server, err = a.choose(ctx, res.Servers, known)
	return at, err
}

// choose picks one of the authorization servers that a resource names, and reads its metadata.
func (a *Authorizer) choose(ctx context.Context, offered []string, known string) (*serverMetadata, error) {
	const most = 8 // nobody offers more, and each may cost three requests
	offered = offered[:min(len(offered), most)]
	if len(offered) == 0 {
		if a.opts.Issuer == "" {
			return nil, &Error{Server: a.where, Doing: "find out who gives tokens for the server",
				Err: fmt.Errorf("its metadata names no authorization server; Options.Issuer can name one")}
		}
		offered = []string{a.opts.Issuer}
	}
	if a.opts.Choose != nil {
		chosen, err := a.opts.Choose(ctx, slices.Clone(offered))
		if err != nil {
			return nil, &Error{Server: a.where, Doing: "choose an authorization server", Err: err}
		}
		if !slices.Contains(offered, chosen) {
			return nil, &Error{Server: a.where, Doing: "choose an authorization server",
				Err: fmt.Errorf("%q is none of those that the server offers", clean(chosen, 200))}
		}
		return a.findServer(ctx, chosen)
	}
	failed := &Error{Server: a.where, Doing: "read the metadata of the authorization servers"}
	for _, issuer := range a.byPreference(offered, known) {
		m, err := a.findServer(ctx, issuer)
		if err == nil {
			return m, nil
		}
		if len(offered) == 1 {
			return nil, err
		}
		failed.add(err)
	}
	return nil, failed
}

// add takes up what another failure has tried; a cause that may pass is kept over one that will not.
func (e *Error) add(err error) {
	of, ok := err.(*Error) //nolint:errorlint // made by the caller, never wrapped
	if !ok {
		e.Err = err
		return
	}
	e.Tried = append(e.Tried, of.Tried...)
	if e.Err == nil || transient(of.Err) {
		e.Err = of.Err
	}
}

// byPreference puts issuers first that there are credentials for, then the one that gave the tokens at hand.
func (a *Authorizer) byPreference(offered []string, known string) []string {
	rank := func(issuer string) int {
		switch {
		case slices.ContainsFunc(a.opts.Credentials, func(c Credentials) bool { return c.Issuer == issuer }):
			return 0
		case issuer == known, issuer == a.opts.Issuer:
			return 1
		}
		return 2
	}
	out := slices.Clone(offered)
	slices.SortStableFunc(out, func(x, y string) int { return rank(x) - rank(y) })
	return out
}

// withoutMetadata is for servers that publish nothing about themselves: the configured issuer, or, where that is allowed,
// the rules of 2025-03-26.
func (a *Authorizer) withoutMetadata(ctx context.Context, d demand) (*place, error) {
	at := &place{resource: canonical(a.server), dpop: d.dpop && !d.bearer}
	if a.opts.Issuer != "" {
		m, err := a.findServer(ctx, a.opts.Issuer)
		at.server = m
		return at, err
	}
	if !a.opts.OldDiscovery {
		e := &Error{Server: a.where, Doing: "find out who gives tokens for the server",
			Err: fmt.Errorf("it publishes no metadata; Options.Issuer can name its authorization server")}
		for _, address := range resourceAddresses(a.server) {
			e.Tried = append(e.Tried, Attempt{plain(address), "HTTP status 404"})
		}
		return nil, e
	}
	m, err := a.oldServer(ctx)
	at.server = m
	return at, err
}

// oldServer finds the authorization server at the root of the MCP server's own origin, with or without metadata. Spec
// 2025-03-26, basic/authorization, "Server Metadata Discovery".
func (a *Authorizer) oldServer(ctx context.Context) (*serverMetadata, error) {
	base := a.server.Scheme + "://" + a.server.Host
	address := base + "/.well-known/oauth-authorization-server"
	var m serverMetadata
	status, err := a.web.get(ctx, endpoint{url: address}, http.Header{"Mcp-Protocol-Version": {mcp.Version20250326}}, &m)
	switch {
	case status == http.StatusNotFound:
		return &serverMetadata{Issuer: base, Authorization: base + "/authorize", Token: base + "/token", Registration: base + "/register",
			PKCE: []string{"S256"}, assumed: true}, nil // that revision requires PKCE of everybody
	case err != nil:
	case m.Issuer != base:
		err = fmt.Errorf("%w: it says %q", ErrIssuer, clean(m.Issuer, 200))
	case m.Token == "":
		err = fmt.Errorf("it names no token endpoint")
	default:
		return &m, nil
	}
	return nil, &Error{Server: a.where, Doing: "read the metadata of the authorization server", Err: err,
		Tried: []Attempt{{plain(address), err.Error()}}}
}
