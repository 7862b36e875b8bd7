package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/server"
)

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

// Clients that happen to give their proofs the same id do not get into each other's way.
func TestSameIDOfTwoKeys(t *testing.T) {
	opts, i, key, token := prepared(t, auth.DPoPOptions{})
	url := serve(t, opts, server.HTTPOptions{})
	other := newKey("")
	theirs := i.token(t, map[string]any{"cnf": map[string]any{"jkt": thumbprint(t, other)}})
	for _, proof := range [][2]string{
		{token, prove(t, key, token, map[string]any{"jti": "1"})}, {theirs, prove(t, other, theirs, map[string]any{"jti": "1"})},
	} {
		if got := call(t, url, "whoami", "", "Authorization", "DPoP "+proof[0], "DPoP", proof[1]); got.status != 200 {
			t.Error(got)
		}
	}
}
