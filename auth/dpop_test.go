package auth_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/server"
)

// prove makes the proof of a client for one request, with changes; a nil value takes a claim away.
func prove(t testing.TB, key jose.JSONWebKey, token string, change map[string]any) string {
	t.Helper()
	sum := sha256.Sum256([]byte(token))
	all := map[string]any{
		"jti": base64url([]byte(time.Now().String())), "htm": "POST", "htu": resource, "iat": time.Now().Unix(), "ath": base64url(sum[:]),
	}
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return signProof(t, key, "dpop+jwt", all)
}

func signProof(t testing.TB, key jose.JSONWebKey, typ string, payload any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key.Key},
		(&jose.SignerOptions{EmbedJWK: true}).WithType(jose.ContentType(typ)))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(raw)
	if err != nil {
		t.Fatal(err)
	}
	out, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// prepared are options that take bound tokens, and one that is bound to a key.
func prepared(t testing.TB, o auth.DPoPOptions) (opts auth.Options, i *issuer, key jose.JSONWebKey, token string) {
	t.Helper()
	i, key = newIssuer(t), newKey("")
	opts = i.options(t)
	opts.DPoP = &o
	return opts, i, key, i.token(t, map[string]any{"cnf": map[string]any{"jkt": thumbprint(t, key)}})
}

func TestDPoP(t *testing.T) {
	opts, i, key, token := prepared(t, auth.DPoPOptions{})
	url := serve(t, opts, server.HTTPOptions{})
	thief := newKey("")
	for _, c := range []struct {
		name   string
		proof  string
		status int
		reason string
	}{
		{"good", prove(t, key, token, nil), 200, ""},
		{"address with a query", prove(t, key, token, map[string]any{"htu": resource + "?a=1#b"}), 200, ""},
		{"address written otherwise", prove(t, key, token, map[string]any{"htu": "HTTPS://Pub.Example:443/x/mcp/"}), 200, ""},
		{"another method", prove(t, key, token, map[string]any{"htm": "GET"}), 401, "another HTTP method"},
		{"another path", prove(t, key, token, map[string]any{"htu": "https://pub.example/mcp"}), 401, "another address"},
		{"another host", prove(t, key, token, map[string]any{"htu": "https://evil.example/x/mcp"}), 401, "another address"},
		{"another scheme", prove(t, key, token, map[string]any{"htu": "http://pub.example/x/mcp"}), 401, "another address"},
		{"the address inside", prove(t, key, token, map[string]any{"htu": url + "/mcp"}), 401, "another address"},
		{"old", prove(t, key, token, map[string]any{"iat": time.Now().Add(-2 * time.Minute).Unix()}), 401, "too old"},
		{"ahead", prove(t, key, token, map[string]any{"iat": time.Now().Add(2 * time.Minute).Unix()}), 401, "too old"},
		{"without a time", prove(t, key, token, map[string]any{"iat": nil}), 401, "must hold"},
		{"without an id", prove(t, key, token, map[string]any{"jti": nil}), 401, "must hold"},
		{"an endless id", prove(t, key, token, map[string]any{"jti": strings.Repeat("x", 600)}), 401, "must hold"},
		{"without the token", prove(t, key, token, map[string]any{"ath": nil}), 401, "another access token"},
		{"for another token", prove(t, key, i.token(t, nil), nil), 401, "another access token"},
		{"by another key", prove(t, thief, token, nil), 401, "another key"},
		{"of another type", signProof(t, key, "JWT", map[string]any{}), 401, "typ dpop+jwt"},
		{"without a key", sign(t, key.Key, "ES256", "dpop+jwt", map[string]any{}), 401, "typ dpop+jwt"},
		{"no JWT", "x", 401, "no JWT"},
		{"none", "", 401, "one header DPoP"},
		{"too long", strings.Repeat("x", 9000), 401, "one header DPoP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := []string{"Authorization", "DPoP " + token}
			if c.proof != "" {
				headers = append(headers, "DPoP", c.proof)
			}
			got := call(t, url, "whoami", "", headers...)
			if got.status != c.status || !strings.Contains(got.body, c.reason) {
				t.Errorf("want %d %s, got %v", c.status, c.reason, got)
			}
			want := `DPoP resource_metadata="` + metadataURL + `", scope="read", error="invalid_dpop_proof", error_description="` +
				strings.TrimSpace(got.body) + `", algs="ES256 ES384 ES512 EdDSA PS256 PS384 PS512 RS256"`
			if c.status == 401 && got.header.Get("WWW-Authenticate") != want {
				t.Errorf("challenge: want %s, got %v", want, got)
			}
			if c.status == 200 && !strings.Contains(got.body, `\"\"\"\"`) {
				t.Errorf("the headers reach the handler: %v", got)
			}
		})
	}
}

// A proof that was seen is worth nothing to who has seen it.
func TestDPoPReplay(t *testing.T) {
	opts, _, key, token := prepared(t, auth.DPoPOptions{})
	url := serve(t, opts, server.HTTPOptions{})
	proof := prove(t, key, token, nil)
	for n, want := range []int{200, 401, 401} {
		if got := call(t, url, "whoami", "", "Authorization", "DPoP "+token, "DPoP", proof); got.status != want {
			t.Errorf("time %d: want %d, got %v", n, want, got)
		}
	}
	if got := call(t, url, "whoami", "", "Authorization", "DPoP "+token, "DPoP", prove(t, key, token, nil), "DPoP", prove(t, key, token, nil)); got.status != 401 {
		t.Errorf("two proofs: %v", got)
	}
}

// forgetful cannot say whether a proof was used.
type forgetful struct{}

func (forgetful) Consume(context.Context, string, time.Time) (bool, error) {
	return false, errors.New("full")
}

func TestDPoPMemoryIsFull(t *testing.T) {
	opts, _, key, token := prepared(t, auth.DPoPOptions{Replays: forgetful{}})
	var reported string
	opts.OnError = func(err error) { reported = err.Error() }
	url := serve(t, opts, server.HTTPOptions{})
	if got := call(t, url, "whoami", "", "Authorization", "DPoP "+token, "DPoP", prove(t, key, token, nil)); got.status != 503 || !strings.Contains(reported, "full") {
		t.Errorf("got %v, reported %q", got, reported)
	}
}

// Which scheme goes with which token.
func TestDPoPSchemes(t *testing.T) {
	optional, i, key, token := prepared(t, auth.DPoPOptions{})
	required := optional
	required.DPoP = &auth.DPoPOptions{Required: true}
	either, only := serve(t, optional, server.HTTPOptions{}), serve(t, required, server.HTTPOptions{})
	free := i.token(t, nil)
	for _, c := range []struct {
		name, url, scheme, token string
		status                   int
		challenges               string // the schemes
	}{
		{"bound, as if it were not", either, "Bearer", token, 401, "Bearer"},
		{"free", either, "Bearer", free, 200, ""},
		{"free, as if it were bound", either, "DPoP", free, 401, "DPoP"},
		{"nothing", either, "", "", 401, "Bearer DPoP"},
		{"free, where a proof is needed", only, "Bearer", free, 401, "DPoP"},
		{"bound", only, "dpop", token, 200, ""},
		{"nothing, where a proof is needed", only, "", "", 401, "DPoP"},
	} {
		headers := []string{"DPoP", prove(t, key, c.token, nil)}
		if c.scheme != "" {
			headers = append(headers, "Authorization", c.scheme+" "+c.token)
		}
		got := call(t, c.url, "whoami", "", headers...)
		var schemes []string
		for _, line := range got.header.Values("WWW-Authenticate") {
			name, _, _ := strings.Cut(line, " ")
			schemes = append(schemes, name)
		}
		if got.status != c.status || strings.Join(schemes, " ") != c.challenges {
			t.Errorf("%s: want %d %s, got %v", c.name, c.status, c.challenges, got)
		}
	}
	doc := ask(t, "GET", only+auth.MetadataPath, "")
	if !strings.Contains(doc.body, `"dpop_signing_alg_values_supported":["ES256",`) || !strings.Contains(doc.body, `"dpop_bound_access_tokens_required":true`) {
		t.Errorf("metadata: %v", doc)
	}
}

// A server that asks for nonces hands them out, takes them, and takes none of another server.
func TestDPoPNonce(t *testing.T) {
	secret := []byte(strings.Repeat("k", 32))
	opts, _, key, token := prepared(t, auth.DPoPOptions{NonceKey: secret})
	url := serve(t, opts, server.HTTPOptions{AllowedOrigins: []string{"https://app.example"}})
	send := func(nonce any) response {
		return call(t, url, "whoami", "", "Origin", "https://app.example", "Authorization", "DPoP "+token, "DPoP", prove(t, key, token, map[string]any{"nonce": nonce}))
	}
	first := send(nil)
	nonce := first.header.Get("DPoP-Nonce")
	if first.status != 401 || nonce == "" || !strings.Contains(first.header.Get("WWW-Authenticate"), `error="use_dpop_nonce"`) ||
		!strings.Contains(strings.Join(first.header.Values("Access-Control-Expose-Headers"), ", "), "DPoP-Nonce") {
		t.Errorf("without: %v %v", first, first.header)
	}
	if got := send(nonce); got.status != 200 || got.header.Get("DPoP-Nonce") == "" {
		t.Errorf("with: %v %v", got, got.header)
	}
	if got := send("made-up"); got.status != 401 {
		t.Errorf("made up: %v", got)
	}
	// A replica with the same key takes it too.
	replica := serve(t, opts, server.HTTPOptions{})
	if got := call(t, replica, "whoami", "", "Authorization", "DPoP "+token, "DPoP", prove(t, key, token, map[string]any{"nonce": nonce})); got.status != 200 {
		t.Errorf("replica: %v", got)
	}
}
