package auth_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
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
		i := &issuerOf{url: "https://login.example", key: key}
		if got := judge(t.Context(), v, i.token(t)); got != c.want {
			t.Errorf("%s: want %s, got %s", c.name, c.want, got)
		}
	}
}

// Some servers have a query in the address of their keys, by which they tell policies or applications apart.
func TestKeysAtAddressWithQuery(t *testing.T) {
	const keys = "https://login.example/keys?p=policy"
	i := &issuerOf{url: "https://login.example", key: newKey("k")}
	for name, given := range map[string]string{"found": "", "given": keys} {
		web := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.String() == keys {
				return answer(r, 200, "application/json", `{"keys":[`+toJSON(t, i.key.Public())+`]}`), nil
			}
			return answer(r, 200, "application/json", `{"issuer":"https://login.example","jwks_uri":"`+keys+`"}`), nil
		})}
		v, err := auth.NewJWT(auth.JWTOptions{Issuer: i.url, JWKSURL: given, HTTPClient: web})
		if err != nil {
			t.Fatal(err)
		}
		if got := judge(t.Context(), v, i.token(t)); got != "good" {
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

// Proofs that are made to look right.
func TestHostileProofs(t *testing.T) {
	opts, _, key, token := prepared(t, auth.DPoPOptions{})
	url := serve(t, opts, server.HTTPOptions{})
	public := toJSON(t, key.Public())
	head := `{"alg":"ES256","typ":"dpop+jwt","jwk":` + public + `}`
	sum := sha256.Sum256([]byte(token))
	n := 0
	claims := func(change string) string {
		n++
		return fmt.Sprintf(`{"jti":"proof-%d","htm":"POST","htu":%q,"iat":%d,"ath":%q%s}`, n, resource, time.Now().Unix(), base64url(sum[:]), change)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(from, to string) string { return signRaw(t, key, head, strings.Replace(claims(""), from, to, 1)) }
	headed := func(jwk string) string {
		return signRaw(t, key, `{"alg":"ES256","typ":"dpop+jwt","jwk":`+jwk+`}`, claims(""))
	}
	for _, c := range []struct{ name, proof, reason string }{
		{"good", signRaw(t, key, head, claims("")), ""},
		{"more claims", signRaw(t, key, head, claims(`,"x":{"y":1}`)), ""},
		{"a method in small letters", replaced("POST", "post"), "another HTTP method"},
		{"two methods", replaced("POST", "POST GET"), "another HTTP method"},
		{"an address without its beginning", replaced(resource, "/x/mcp"), "another address"},
		{"an address with a user", replaced("https://", "https://pub.example@"), "another address"},
		{"an address that goes up", replaced("/x/mcp", "/y/../x/mcp"), "another address"},
		{"an address with another slash", replaced("/x/mcp", "/x%2Fmcp"), "another address"},
		{"an address with two slashes", replaced("/x/mcp", "//x/mcp"), "another address"},
		{"an address of another port", replaced("pub.example", "pub.example:8443"), "another address"},
		{"an address that is none", replaced(resource, "%zz"), "another address"},
		{"a padded hash", replaced(base64url(sum[:]), base64.URLEncoding.EncodeToString(sum[:])), "another access token"},
		{"a hash in hex", replaced(base64url(sum[:]), fmt.Sprintf("%x", sum)), "another access token"},
		{"a text as its time", replaced(`"iat":`, `"iat":"now","was":`), "must hold"},
		{"a time beyond all time", replaced(`"iat":`, `"iat":1e30,"was":`), "too old"},
		{"a list of ids", replaced(`"jti":`, `"jti":["x"],"was":`), "must hold"},
		{"the same claim twice", signRaw(t, key, head, claims(`,"htm":"GET"`)), "must hold"},
		{"a demand that nobody knows", signRaw(t, key, `{"alg":"ES256","typ":"dpop+jwt","crit":["x"],"x":1,"jwk":`+public+`}`, claims("")), "signature"},
		{"claims that were changed", headed(public)[:len(head)] + "." + base64url([]byte(claims(""))) + ".AAAA", "no JWT"},
		{"a private key", headed(toJSON(t, jose.JSONWebKey{Key: key.Key})), "no JWT"},
		{"a shared secret", headed(`{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`), "no JWT"},
		{"a key of another curve", headed(toJSON(t, jose.JSONWebKey{Key: p384.Public()})), "another key"},
		{"a key that is too small", headed(rsaKey(t, 1024)), "2048 bits"},
		{"a key that is too large", headed(rsaKey(t, 5000)), "no JWT"},
		{"a key that is none", headed(`{}`), "no JWT"},
		{"without a signature", base64url([]byte(strings.Replace(head, "ES256", "none", 1))) + "." + base64url([]byte(claims(""))) + ".", "no JWT"},
	} {
		got := call(t, url, "whoami", "", "Authorization", "DPoP "+token, "DPoP", c.proof)
		if want := map[bool]int{true: 200, false: 401}[c.reason == ""]; got.status != want || !strings.Contains(got.body, c.reason) {
			t.Errorf("%s: want %d %s, got %v", c.name, want, c.reason, got)
		}
	}
}

// A signature can be changed into another one that is right as well. The proof is the same.
func TestReplayWithAnotherSignature(t *testing.T) {
	opts, _, key, token := prepared(t, auth.DPoPOptions{})
	url := serve(t, opts, server.HTTPOptions{})
	proof := prove(t, key, token, nil)
	at := strings.LastIndexByte(proof, '.') + 1
	raw, err := base64.RawURLEncoding.DecodeString(proof[at:])
	if err != nil {
		t.Fatal(err)
	}
	s := new(big.Int).Sub(elliptic.P256().Params().N, new(big.Int).SetBytes(raw[32:]))
	again := proof[:at] + base64url(append(raw[:32:32], s.FillBytes(make([]byte, 32))...))
	if got := call(t, url, "whoami", "", "Authorization", "DPoP "+token, "DPoP", again); got.status != 200 {
		t.Fatalf("the other signature is not right: %v", got)
	}
	if got := call(t, url, "whoami", "", "Authorization", "DPoP "+token, "DPoP", proof); got.status != 401 || !strings.Contains(got.body, "used before") {
		t.Errorf("got %v", got)
	}
}

// Whatever of this package a program prints or logs shows no secret. Seen to fail: the secret of a verifier that asks, and the
// key of nonces.
func TestNothingPrintsSecrets(t *testing.T) {
	const secret, token = "hush-hush", "token-of-ann"
	o := auth.IntrospectionOptions{URL: "https://login.example/x", Issuer: "https://login.example", ClientID: "rs", ClientSecret: secret}
	v := asked(t, func(now *auth.IntrospectionOptions) { now.ClientSecret = secret }, func(r *http.Request) (*http.Response, error) {
		return answer(r, 200, "application/json", `{"active":true,"sub":"ann"}`), nil
	})
	if got := judge(t.Context(), v, token); got != "good" {
		t.Fatal(got)
	}
	proofs := auth.DPoPOptions{NonceKey: []byte(strings.Repeat(secret, 4))}
	static := auth.StaticTokens(map[string]mcp.Principal{token: {Subject: "ann"}})
	opts := auth.Options{Resource: resource, Verifier: auth.AnyOf(static, v), DPoP: &proofs}
	for name, value := range map[string]any{
		"options of introspection": o, "a pointer to them": &o, "a member": struct{ In auth.IntrospectionOptions }{o}, "introspection": v,
		"options of proofs": proofs, "a pointer to those": &proofs, "a list": []auth.DPoPOptions{proofs}, "tokens": static, "several": opts.Verifier,
		"options": opts, "a pointer to options": &opts, "a middleware": auth.Bearer(opts)(http.NotFoundHandler()), "metadata": auth.Metadata(opts),
	} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("have", "it", value)
		slog.New(slog.NewTextHandler(&log, nil)).Info("have", "it", value)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			fmt.Fprintf(&log, verb, value)
		}
		for _, hidden := range []string{secret, token, strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]"), base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(log.String(), hidden) {
				t.Errorf("%s shows %q: %s", name, hidden, log.String())
			}
		}
	}
}

// An error of a verifier never has the token in it, whatever the network or the other side says.
func TestErrorsShowNoToken(t *testing.T) {
	const token = "token-of-ann"
	for name, endpoint := range map[string]func(*http.Request) (*http.Response, error){
		"an echo": func(r *http.Request) (*http.Response, error) {
			return answer(r, 400, "application/json", `{"error":"no `+token+`"}`), nil
		},
		"an echo that says yes": func(r *http.Request) (*http.Response, error) {
			return answer(r, 200, "application/json", `{"active":true,"sub":7,"`+token+`":"`+token+`"}`), nil
		},
		"an echo of another kind": func(r *http.Request) (*http.Response, error) { return answer(r, 200, token, token), nil },
		"a redirect": func(r *http.Request) (*http.Response, error) {
			res := answer(r, 302, "text/plain", "")
			res.Header.Set("Location", "https://elsewhere.example/"+token)
			return res, nil
		},
		"no network": func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded },
	} {
		_, err := asked(t, func(o *auth.IntrospectionOptions) {
			o.HTTPClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		}, endpoint).Verify(t.Context(), token)
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), token) {
			t.Errorf("%s: %v", name, err)
		}
	}
	i := newIssuer(t)
	for _, bad := range []string{token, i.token(t, map[string]any{"aud": 7}), i.token(t, map[string]any{"iss": token}), i.token(t, map[string]any{"exp": token})} {
		if _, err := i.verifier(t).Verify(t.Context(), bad); err == nil || strings.Contains(err.Error(), token) || strings.Contains(err.Error(), bad[10:]) && bad != token {
			t.Errorf("%.20s: %v", bad, err)
		}
	}
}
