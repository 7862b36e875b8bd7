package auth_test

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
)

// signRaw makes a JWT with any head, which a library would not write, signed with a P-256 key.
func signRaw(t testing.TB, key jose.JSONWebKey, head, payload string) string {
	t.Helper()
	text := base64url([]byte(head)) + "." + base64url([]byte(payload))
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key.Key.(*ecdsa.PrivateKey), sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64url(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What a token says of itself in its head changes nothing but which of the issuer's keys is tried.
func TestHostileHeads(t *testing.T) {
	key, thief := newKey("k"), newKey("k")
	i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{key}}
	v := fixed(t, nil, key)
	payload := toJSON(t, i.claims(nil))
	own := toJSON(t, thief.Public())
	for _, c := range []struct {
		name, head string
		key        jose.JSONWebKey
		good       bool
	}{
		{"good", `{"alg":"ES256","typ":"at+jwt","kid":"k"}`, key, true},
		{"members that nobody knows", `{"alg":"ES256","typ":"at+jwt","x":{"y":[1]}}`, key, true},
		{"a demand that nobody knows", `{"alg":"ES256","typ":"at+jwt","crit":["x"],"x":1}`, key, false},
		{"a demand on a claim", `{"alg":"ES256","typ":"at+jwt","crit":["exp"],"exp":1}`, key, false},
		{"demands of another kind", `{"alg":"ES256","typ":"at+jwt","crit":"x"}`, key, false},
		{"a payload that is not encoded", `{"alg":"ES256","typ":"at+jwt","crit":["b64"],"b64":false}`, key, false},
		{"its own key", `{"alg":"ES256","typ":"at+jwt","jwk":` + own + `}`, thief, false},
		{"its own key, of a name that is known", `{"alg":"ES256","typ":"at+jwt","kid":"k","jwk":` + own + `}`, thief, false},
		{"its own key set", `{"alg":"ES256","typ":"at+jwt","jku":"https://thief.example/keys"}`, thief, false},
		{"its own certificates", `{"alg":"ES256","typ":"at+jwt","x5u":"https://thief.example/x","x5c":["AAAA"]}`, thief, false},
		{"an algorithm in small letters", `{"alg":"es256","typ":"at+jwt"}`, key, false},
		{"two algorithms", `{"alg":"none","typ":"at+jwt","alg":"ES256"}`, key, false},
		{"no algorithm", `{"typ":"at+jwt"}`, key, false},
		{"a number as its algorithm", `{"alg":256,"typ":"at+jwt"}`, key, false},
		{"a number as its key", `{"alg":"ES256","typ":"at+jwt","kid":7}`, key, false},
		{"a key of an endless name", `{"alg":"ES256","typ":"at+jwt","kid":"` + strings.Repeat("k", 8000) + `"}`, key, false},
		{"a number as its type", `{"alg":"ES256","typ":7}`, key, false},
		{"no object", `["ES256"]`, key, false},
	} {
		if got := reason(t, v, signRaw(t, c.key, c.head, payload)); (got == "") != c.good {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	for name, change := range map[string]map[string]any{
		"issued beyond all time": {"iat": 1e30}, "begun beyond all time": {"nbf": 1e30}, "over before all time": {"exp": -1e30}, "over at zero": {"exp": 0},
	} {
		if got := reason(t, v, i.token(t, change)); got == "" {
			t.Errorf("%s: the token is good", name)
		}
	}
}

// rsaKey is a public key of a size, as a JWK; nobody has the private one.
func rsaKey(t testing.TB, bits int) string {
	t.Helper()
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), uint(bits-1)))
	if err != nil {
		t.Fatal(err)
	}
	n.SetBit(n.SetBit(n, bits-1, 1), 0, 1)
	return `{"kty":"RSA","kid":"big","e":"AQAB","n":"` + base64url(n.Bytes()) + `"}`
}

// Of a key set those are used that check signatures, and a set that is none, or a flood, is as good as no answer.
func TestHostileKeySets(t *testing.T) {
	key := newKey("k")
	good := toJSON(t, key.Public())
	use := func(use string) string { return strings.Replace(good, `"use":"sig"`, `"use":"`+use+`"`, 1) }
	private := toJSON(t, key)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	byRSA := jose.JSONWebKey{Key: other, KeyID: "k"}
	for _, c := range []struct{ name, body, want string }{
		{"good", `{"keys":[` + good + `]}`, "good"},
		{"with a charge of others", `{"keys":[{"kty":"new"},{"kty":"oct","k":"AAAA","kid":"k"},{"kid":"k"},{"kty":"EC"},{},` + rsaKey(t, 1024) + `,` + good + `]}`, "good"},
		{"one that is no key", `{"keys":[7,` + good + `]}`, "good"},
		{"for encryption", `{"keys":[` + use("enc") + `]}`, "unsure"},
		{"for something new", `{"keys":[` + use("new") + `]}`, "unsure"},
		{"for another algorithm", `{"keys":[` + strings.Replace(good, "ES256", "ES384", 1) + `]}`, "invalid"},
		{"of another kind with the same name", `{"keys":[` + toJSON(t, byRSA.Public()) + `]}`, "invalid"},
		{"private", `{"keys":[` + private + `]}`, "unsure"},
		{"too large a key", `{"keys":[` + rsaKey(t, 5000) + `]}`, "unsure"},
		{"too many", `{"keys":[` + strings.Repeat(good+",", 100) + good + `]}`, "unsure"},
		{"as many as are taken", `{"keys":[` + strings.Repeat(good+",", 99) + good + `]}`, "good"},
		{"too long", `{"keys":[` + good + `]}` + strings.Repeat(" ", 1<<20), "unsure"},
		{"none", `{"keys":[]}`, "unsure"},
		{"nothing", `{}`, "unsure"},
		{"no list", `{"keys":{}}`, "unsure"},
		{"twice", `{"keys":[` + good + `],"keys":[]}`, "unsure"},
		{"deep", strings.Repeat("[", 100_000), "unsure"},
	} {
		web := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(r, 200, "application/json", c.body), nil
		})}
		v, err := auth.NewJWT(auth.JWTOptions{Issuer: "https://login.example", JWKSURL: "https://login.example/keys", HTTPClient: web})
		if err != nil {
			t.Fatal(err)
		}
		i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{key}}
		if got := judge(t.Context(), v, i.token(t, nil)); got != c.want {
			t.Errorf("%s: want %s, got %s", c.name, c.want, got)
		}
	}
}

// Some servers have a query in the address of their keys, by which they tell policies or applications apart.
func TestKeysAtAddressWithQuery(t *testing.T) {
	const keys = "https://login.example/keys?p=policy"
	i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{newKey("k")}}
	for name, given := range map[string]string{"found": "", "given": keys} {
		web := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.String() == keys {
				return answer(r, 200, "application/json", `{"keys":[`+toJSON(t, i.public().Keys[0])+`]}`), nil
			}
			return answer(r, 200, "application/json", `{"issuer":"https://login.example","jwks_uri":"`+keys+`"}`), nil
		})}
		v, err := auth.NewJWT(auth.JWTOptions{Issuer: i.url, JWKSURL: given, HTTPClient: web})
		if err != nil {
			t.Fatal(err)
		}
		if got := judge(t.Context(), v, i.token(t, nil)); got != "good" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// However many names of keys are invented, the issuer is asked once for all.
func TestFloodOfKeyNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffline()
		v := o.verifier(t)
		if got := judge(t.Context(), v, o.token(t, nil)); got != "good" {
			t.Fatal(got)
		}
		time.Sleep(2 * time.Minute)
		thief := newKey("")
		payload := toJSON(t, o.claims(nil))
		var wg sync.WaitGroup
		for n := range 500 {
			token := signRaw(t, thief, fmt.Sprintf(`{"alg":"ES256","typ":"at+jwt","kid":"made-up-%d"}`, n), payload)
			wg.Go(func() {
				if got := judge(t.Context(), v, token); got != "invalid" {
					t.Errorf("%d: %s", n, got)
				}
			})
		}
		wg.Wait()
		if n := o.fetches.Load(); n != 2 {
			t.Errorf("%d fetches", n)
		}
	})
}
