package app

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

// thumbprint is that of a key, by which tokens are bound to it. RFC 7638.
func thumbprint(key *ecdsa.PrivateKey) string {
	jwk := publicJWK(key, "")
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":%q,"y":%q}`, jwk["x"], jwk["y"]))
	return encode(sum[:])
}

// proof makes the headers of a request with a bound token. RFC 9449, 4.2.
func proof(t testing.TB, key *ecdsa.PrivateKey, token, url string) []string {
	t.Helper()
	sum := sha256.Sum256([]byte(token))
	made := signed(t, key, map[string]any{"typ": "dpop+jwt", "alg": "ES256", "jwk": publicJWK(key, "")},
		map[string]any{"jti": rand.Text(), "htm": "POST", "htu": url, "iat": time.Now().Unix(), "ath": encode(sum[:])})
	return []string{"Authorization", "DPoP " + token, "DPoP", made}
}

// TestBoundTokens holds what the setting dpop does with tokens that are bound to a key, and with those that are not.
func TestBoundTokens(t *testing.T) {
	login := startLogin(t)
	up := startWatched(t, server.Options{})
	key := newKey(t)
	plain := login.token(t, nil)
	bound := login.token(t, map[string]any{"cnf": map[string]any{"jkt": thumbprint(key)}})
	for _, c := range []struct {
		way                                    string
		plain, asPlain, proven, twice, another int // status
	}{
		{"off", 200, 401, 401, 401, 401},
		{"optional", 200, 401, 200, 401, 401},
		{"required", 401, 401, 200, 401, 401},
	} {
		r := start(t, read(t, protected(`{"resource": "`+resource+`", "dpop": "`+c.way+`", "jwt": {"issuer": "`+login.url+`"}}`, up.url)))
		r.err.wait(t, "watched: ready")
		good := proof(t, key, bound, resource)
		for name, one := range map[string]struct {
			headers [][]string
			status  int
		}{
			"a plain token":           {[][]string{bearer(plain)}, c.plain},
			"a bound one as a plain":  {[][]string{bearer(bound)}, c.asPlain},
			"with a proof":            {[][]string{proof(t, key, bound, resource)}, c.proven},
			"with a proof used twice": {[][]string{good, good}, c.twice},
			"for another address":     {[][]string{proof(t, key, bound, "https://pub.example/x/sse")}, c.another},
			"with another's key":      {[][]string{proof(t, newKey(t), bound, resource)}, 401},
		} {
			var got answer
			for _, headers := range one.headers {
				got = modern(t, r.url, "greet", "", headers...)
			}
			if got.status != one.status {
				t.Errorf("%s, %s: %v", c.way, name, got)
			}
		}
		r.end(t)
	}
}
