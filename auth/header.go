package auth

import (
	"net/http"
	"net/url"
	"strings"
)

// Schemes of the header Authorization. They are compared without case (RFC 9110, 11.1).
const (
	schemeBearer = "Bearer" // RFC 6750
	schemeDPoP   = "DPoP"   // RFC 9449
)

// maxToken bounds a token in bytes. net/http bounds all headers together at 1 MiB.
const maxToken = 16 << 10

// credentials are what a request shows of itself.
type credentials struct {
	scheme string // one of the two above; "" when there are none
	token  string
}

// credentialsOf reads the header Authorization, the only place where a token is taken from. The error of a request that shows
// a token in a way that is not served is a *refusal. Credentials of other schemes are none for us.
func credentialsOf(r *http.Request) (credentials, error) {
	if inQuery(r.URL.RawQuery) {
		return credentials{}, malformed("an access token belongs into the header Authorization, never into the address")
	}
	lines := r.Header["Authorization"]
	switch len(lines) {
	case 0:
		return credentials{}, nil
	case 1:
	default:
		return credentials{}, malformed("there is more than one header Authorization")
	}
	name, rest, _ := strings.Cut(strings.Trim(lines[0], " \t"), " ")
	var scheme string
	switch {
	case strings.EqualFold(name, schemeBearer):
		scheme = schemeBearer
	case strings.EqualFold(name, schemeDPoP):
		scheme = schemeDPoP
	default:
		return credentials{}, nil
	}
	token := strings.Trim(rest, " \t")
	if len(token) > maxToken || !isToken68(token) {
		return credentials{scheme: scheme}, Invalidf("the header Authorization holds no access token that can be read")
	}
	return credentials{scheme, token}, nil
}

// inQuery tells whether a query names a token as RFC 6750 (2.3) once allowed. OAuth 2.1 forbids it: addresses end up in logs.
func inQuery(query string) bool {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && plain == "access_token" {
			return true
		}
	}
	return false
}

// isToken68 tells whether a text is what RFC 6750 (2.1) lets a token be.
func isToken68(s string) bool {
	body := strings.TrimRight(s, "=")
	for i := range len(body) {
		c := body[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("-._~+/", c) < 0 {
			return false
		}
	}
	return body != ""
}

// isPreflight tells whether a browser asks before a request. It carries no credentials and never can.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && len(r.Header["Origin"]) > 0 && r.Header["Access-Control-Request-Method"] != nil
}
