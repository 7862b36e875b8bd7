package auth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
)

// fixed makes a verifier of keys that never change, for the issuer "https://login.example".
func fixed(t testing.TB, change func(*auth.JWTOptions), keys ...jose.JSONWebKey) *auth.JWT {
	t.Helper()
	set := jose.JSONWebKeySet{}
	for _, k := range keys {
		set.Keys = append(set.Keys, k.Public())
	}
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	opts := auth.JWTOptions{Issuer: "https://login.example", Keys: raw}
	if change != nil {
		change(&opts)
	}
	v, err := auth.NewJWT(opts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// reason returns what a client is told of a token, "" when it is good.
func reason(t testing.TB, v auth.Verifier, token string) string {
	t.Helper()
	_, err := v.Verify(t.Context(), token)
	var invalid *auth.InvalidToken
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &invalid):
		t.Errorf("nobody can say: %v", err)
	}
	return err.Error()
}

func TestJWTClaims(t *testing.T) {
	key := newKey("k")
	i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{key}}
	v := fixed(t, nil, key)
	now := time.Now()
	for _, c := range []struct {
		name   string
		change map[string]any
		want   string // a part of the reason; "" for a good token
	}{
		{"good", nil, ""},
		{"within the leeway", map[string]any{"exp": now.Add(-20 * time.Second).Unix(), "nbf": now.Add(20 * time.Second).Unix(), "iat": now.Add(20 * time.Second).Unix()}, ""},
		{"with a fraction", map[string]any{"exp": float64(now.Add(time.Hour).Unix()) + 0.5}, ""},
		{"over", map[string]any{"exp": now.Add(-time.Minute).Unix()}, "expired"},
		{"not begun", map[string]any{"nbf": now.Add(time.Minute).Unix()}, "not good yet"},
		{"from the future", map[string]any{"iat": now.Add(time.Minute).Unix()}, "future"},
		{"without an end", map[string]any{"exp": nil}, "does not say when it ends"},
		{"an end that is none", map[string]any{"exp": 1e30}, "a time that is none"},
		{"an end before all time", map[string]any{"exp": -1}, "a time that is none"},
		{"a text as its end", map[string]any{"exp": "tomorrow"}, "cannot be read"},
		{"another issuer", map[string]any{"iss": "https://login.example/"}, "another issuer"},
		{"no issuer", map[string]any{"iss": nil}, "another issuer"},
		{"nobody", map[string]any{"sub": nil, "client_id": nil}, "neither a subject nor a client"},
		{"a client alone", map[string]any{"sub": nil}, ""},
		{"audience of a wrong kind", map[string]any{"aud": 7}, "cannot be read"},
	} {
		if got := reason(t, v, i.token(t, c.change)); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q, got %q", c.name, c.want, got)
		}
	}
}

// The spellings of different servers come to one principal.
func TestJWTPrincipal(t *testing.T) {
	key := newKey("k")
	i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{key}}
	v := fixed(t, nil, key)
	for _, c := range []struct {
		change map[string]any
		client string
		scopes string
	}{
		{map[string]any{"scope": "a  b"}, "desk", "a b"},
		{map[string]any{"scope": []string{"a", "b c"}}, "desk", "a b c"},
		{map[string]any{"scope": nil, "scp": []string{"a"}}, "desk", "a"},
		{map[string]any{"scope": nil, "scp": "a b", "client_id": nil, "azp": "party"}, "party", "a b"},
		{map[string]any{"scope": nil, "client_id": nil, "cid": "other"}, "other", ""},
	} {
		got, err := v.Verify(t.Context(), i.token(t, c.change))
		if err != nil {
			t.Errorf("%v: %v", c.change, err)
			continue
		}
		who := got.Principal
		if who.ClientID != c.client || strings.Join(who.Scopes, " ") != c.scopes || who.Issuer != i.url || who.Subject != "ann" || !json.Valid(who.Claims) {
			t.Errorf("%v: got %+v", c.change, who)
		}
	}
}

// The server says how tokens are signed, and never the token.
func TestJWTAlgorithms(t *testing.T) {
	key := newKey("k")
	i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{key}}
	v := fixed(t, nil, key)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	rs := fixed(t, nil, jose.JSONWebKey{Key: rsaKey, KeyID: "r"})
	narrow := fixed(t, func(o *auth.JWTOptions) { o.Algorithms = []string{"RS256"} }, jose.JSONWebKey{Key: rsaKey, KeyID: "r"})
	claims := i.claims(nil)
	parts := strings.Split(i.token(t, nil), ".")
	unsigned := base64url([]byte(`{"alg":"none","typ":"at+jwt"}`)) + "." + parts[1] + "."
	other := newKey("k")
	for _, c := range []struct {
		name  string
		v     *auth.JWT
		token string
		want  string
	}{
		{"none", v, unsigned, "no JWT"},
		{"a public key as a secret", rs, sign(t, jose.JSONWebKey{Key: secret, KeyID: "r"}, "HS256", "at+jwt", claims), "no JWT"},
		{"signed with RSA", rs, sign(t, jose.JSONWebKey{Key: rsaKey, KeyID: "r"}, "RS256", "at+jwt", claims), ""},
		{"signed with RSA-PSS", rs, sign(t, jose.JSONWebKey{Key: rsaKey, KeyID: "r"}, "PS256", "at+jwt", claims), ""},
		{"not the algorithm that is taken", narrow, sign(t, jose.JSONWebKey{Key: rsaKey, KeyID: "r"}, "PS256", "at+jwt", claims), "no JWT"},
		{"an algorithm of another key", v, sign(t, jose.JSONWebKey{Key: rsaKey, KeyID: "k"}, "RS256", "at+jwt", claims), "signature"},
		{"another key of the same name", v, sign(t, other, "ES256", "at+jwt", claims), "signature"},
		{"a key without a name", v, sign(t, key.Key, "ES256", "at+jwt", claims), ""},
		{"claims that were changed", v, parts[0] + "." + base64url([]byte(`{"iss":"https://login.example","sub":"root","exp":9999999999}`)) + "." + parts[2], "signature"},
		{"the same claim twice", v, sign(t, key, "ES256", "at+jwt", json.RawMessage(`{"iss":"https://login.example","sub":"ann","exp":9999999999,"sub":"root"}`)), "cannot be read"},
		{"no object", v, sign(t, key, "ES256", "at+jwt", "x"), "cannot be read"},
		{"five parts", v, "a.b.c.d.e", "no JWT"},
	} {
		if got := reason(t, c.v, c.token); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q, got %q", c.name, c.want, got)
		}
	}
}

func TestJWTType(t *testing.T) {
	key := newKey("k")
	i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{key}}
	loose := fixed(t, nil, key)
	strict := fixed(t, func(o *auth.JWTOptions) { o.RequireType = true }, key)
	for typ, want := range map[string][2]bool{
		"at+jwt": {true, true}, "application/at+jwt": {true, true}, "AT+JWT": {true, true},
		"JWT": {true, false}, "": {true, false},
		"dpop+jwt": {false, false}, "logout+jwt": {false, false}, "secevent+jwt": {false, false}, "oauth-authz-req+jwt": {false, false},
	} {
		token := sign(t, key, "ES256", typ, i.claims(nil))
		if got := [2]bool{reason(t, loose, token) == "", reason(t, strict, token) == ""}; got != want {
			t.Errorf("%q: want %v, got %v", typ, want, got)
		}
	}
}

func TestNewJWTRefuses(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	symmetric := `{"keys":[{"kty":"oct","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}]}`
	short, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &weak.PublicKey}}})
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]auth.JWTOptions{
		"Issuer":       {},
		"https":        {Issuer: "http://login.example"},
		"JWKSURL":      {Issuer: "https://login.example", JWKSURL: "keys"},
		"none":         {Issuer: "https://login.example", Algorithms: []string{"none"}},
		"HS256":        {Issuer: "https://login.example", Algorithms: []string{"ES256", "HS256"}},
		"empty":        {Issuer: "https://login.example", Algorithms: []string{}},
		"key set":      {Issuer: "https://login.example", Keys: []byte(`{}`)},
		"no public":    {Issuer: "https://login.example", Keys: []byte(symmetric)},
		"holds no":     {Issuer: "https://login.example", Keys: short},
		"cannot be re": {Issuer: "https://login.example", Keys: []byte(`[]`)},
	} {
		if _, err := auth.NewJWT(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// roundTrip is an HTTP client's way to a server that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
