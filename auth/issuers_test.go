package auth_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Where tokens come from several issuers the one is asked that a token names, and what it says is what counts.
func TestByIssuer(t *testing.T) {
	key, other := newKey("k"), newKey("k")
	desk := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{key}}
	shop := &issuer{url: "https://shop.example", keys: []jose.JSONWebKey{other}}
	v := auth.ByIssuer(map[string]auth.Verifier{
		desk.url: fixed(t, nil, key),
		shop.url: fixed(t, func(o *auth.JWTOptions) { o.Issuer = shop.url }, other),
	})
	for _, c := range []struct{ name, token, want string }{
		{"one", desk.token(t, nil), ""},
		{"another", shop.token(t, nil), ""},
		{"one that names another", desk.token(t, map[string]any{"iss": shop.url}), "the signature of the access token is wrong"},
		{"a stranger", desk.token(t, map[string]any{"iss": "https://thief.example"}), "the access token is from an issuer that is not known here"},
		{"a slash more", desk.token(t, map[string]any{"iss": desk.url + "/"}), "the access token is from an issuer that is known here with another end: a slash is part of the name"},
		{"none", desk.token(t, map[string]any{"iss": nil}), "the access token is from an issuer that is not known here"},
		{"over", shop.token(t, map[string]any{"exp": 1}), "the access token has expired"},
		{"no JWT", "a-key", "the access token is no JWT"},
		{"no claims", "a.b.c", "the access token is no JWT"},
		{"two issuers", "e30." + base64url([]byte(`{"iss":"https://shop.example","iss":"https://login.example"}`)) + ".c", "the access token is no JWT"},
	} {
		if got := reason(t, v, c.token); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRoles(t *testing.T) {
	key := newKey("k")
	i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{key}}
	token := i.token(t, map[string]any{
		"groups": []string{"ops", "dev"}, "role": "admin", "https://example.com/roles": []string{"far"}, "level": 7, "mixed": []any{"a", 7},
		"realm_access": map[string]any{"roles": []string{"inner"}}, "realm_access.roles.x": []string{"dotted"},
	})
	for claim, want := range map[string][]string{
		"": nil, "groups": {"ops", "dev"}, "role": {"admin"}, "https://example.com/roles": {"far"}, "realm_access.roles": {"inner"},
		"realm_access.roles.x": {"dotted"}, "level": nil, "mixed": nil, "nothing": nil, "groups.x": nil, "realm_access": nil,
	} {
		found, err := fixed(t, func(o *auth.JWTOptions) { o.RolesClaim = claim }, key).Verify(t.Context(), token)
		if err != nil || !slices.Equal(found.Principal.Roles, want) {
			t.Errorf("%q: got %v, %v; want %v", claim, found, err, want)
		}
	}
}

// A program may keep digests in place of tokens.
func TestStaticDigests(t *testing.T) {
	v := auth.StaticDigests(map[[sha256.Size]byte]mcp.Principal{sha256.Sum256([]byte("key-of-ann")): {Subject: "ann"}})
	if found, err := v.Verify(t.Context(), "key-of-ann"); err != nil || found.Principal.Subject != "ann" || !found.Ours {
		t.Errorf("got %+v, %v", found, err)
	}
	sum := sha256.Sum256([]byte("key-of-ann"))
	for _, wrong := range []string{"", "key-of-bob", string(sum[:])} {
		if _, err := v.Verify(t.Context(), wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// Whoever wants to know hears of refused requests, and never of a token.
func TestOnRefuse(t *testing.T) {
	i := newIssuer(t)
	var mu sync.Mutex
	var heard []string
	opts := i.options(t)
	opts.ScopesFor = auth.ToolScopes(map[string][]string{"write": {"write"}})
	opts.OnRefuse = func(r auth.Refusal) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, fmt.Sprintf("%d %s %s", r.Status, r.Code, r.Reason))
		if all := fmt.Sprintf("%+v %+v %q", r.Request.Header, r.Request.URL, r.Request.RequestURI); strings.Contains(all, "key-of-ann") {
			t.Errorf("it tells the token: %s", all)
		}
	}
	verify := opts.Verifier
	opts.Verifier = auth.VerifierFunc(func(ctx context.Context, token string) (*auth.Token, error) {
		if token == "again" {
			return nil, &auth.TooMany{After: 1500 * time.Millisecond}
		}
		return verify.Verify(ctx, token)
	})
	url := serve(t, opts, server.HTTPOptions{})
	call(t, url, "whoami", i.token(t, nil))
	if got := call(t, url, "whoami", "again"); got.status != 429 || got.header.Get("Retry-After") != "2" {
		t.Errorf("too many: %v", got)
	}
	call(t, url, "whoami", "")
	call(t, url, "whoami", "key-of-ann")
	call(t, url, "write", i.token(t, nil))
	ask(t, "POST", url+"/mcp?access_token=key-of-ann", "{}")
	want := []string{
		"429  too many access tokens have come that are no good; try again in 2 s",
		"401  an access token is needed here",
		"401 invalid_token the access token is no JWT that is signed with an algorithm taken here",
		"403 insufficient_scope the access token does not grant what this request needs: read write",
		"400 invalid_request an access token belongs into the header Authorization, never into the address",
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(heard, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(heard, "\n"), strings.Join(want, "\n"))
	}
}
