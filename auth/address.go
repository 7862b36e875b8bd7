package auth

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// MetadataPath is where clients look for the metadata: this path, or this path with that of the endpoint behind it. RFC 9728,
// 3.1; Spec 2026-07-28, basic/authorization/authorization-server-discovery.
const MetadataPath = "/.well-known/oauth-protected-resource"

// resource returns the public address of the endpoint: what is configured, whatever the request says, or what can be derived
// from the request.
func (g *guard) resource(r *http.Request) string {
	if g.opts.Resource != "" {
		return g.opts.Resource
	}
	return g.origin(r) + g.opts.Path
}

// metadataURL returns the address of the metadata, with the path of the endpoint at its end, or "" when there are none.
func (g *guard) metadataURL(r *http.Request) string {
	if len(g.opts.AuthorizationServers) == 0 {
		return ""
	}
	u, err := url.Parse(g.resource(r))
	if err != nil {
		return "" // a Host header that is none: the challenge goes without
	}
	return u.Scheme + "://" + u.Host + MetadataPath + strings.TrimSuffix(u.EscapedPath(), "/")
}

// origin derives scheme and host from a request.
func (g *guard) origin(r *http.Request) string {
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if g.trusts(r.RemoteAddr) {
		if proto := last(r.Header["X-Forwarded-Proto"]); proto == "http" || proto == "https" {
			scheme = proto
		}
		if name := last(r.Header["X-Forwarded-Host"]); name != "" {
			host = name
		}
	}
	if !isAuthority(host) {
		host = "invalid"
	}
	return scheme + "://" + host
}

// trusts tells whether a peer is one of the proxies.
func (g *guard) trusts(peer string) bool {
	addr, err := netip.ParseAddrPort(peer)
	return err == nil && slices.ContainsFunc(g.opts.TrustedProxies, func(p netip.Prefix) bool {
		return p.Contains(addr.Addr().Unmap().WithZone(""))
	})
}

// last returns the value that the nearest proxy has written: those before it came from further away.
func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	line := lines[len(lines)-1]
	return strings.Trim(line[strings.LastIndexByte(line, ',')+1:], " \t")
}

// isAuthority tells whether a text is a host with or without a port, and nothing that changes the meaning of an address.
func isAuthority(host string) bool {
	for i := range len(host) {
		c := host[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte(".-_:[]", c) < 0 {
			return false
		}
	}
	return host != ""
}

// isOurs tells whether one audience of a token is this server.
func (g *guard) isOurs(audience []string) bool {
	own := g.opts.Resource
	return slices.ContainsFunc(audience, func(one string) bool {
		return own != "" && strings.TrimSuffix(one, "/") == strings.TrimSuffix(own, "/") || one != "" && slices.Contains(g.opts.Audiences, one)
	})
}
