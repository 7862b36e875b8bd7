package auth_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
)

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
	remembered := auth.Remember(static, auth.RememberOptions{})
	if got := judge(t.Context(), remembered, token); got != "good" {
		t.Fatal(got)
	}
	opts := auth.Options{Resource: resource, Verifier: auth.AnyOf(static, v), DPoP: &proofs}
	for name, value := range map[string]any{
		"options of introspection": o, "a pointer to them": &o, "a member": struct{ In auth.IntrospectionOptions }{o}, "introspection": v,
		"options of proofs": proofs, "a pointer to those": &proofs, "a list": []auth.DPoPOptions{proofs}, "tokens": static, "what is remembered": remembered, "several": opts.Verifier,
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

// The address of a key set may have a key of its own in its query: nothing that is reported shows it.
//
// Seen to fail: both kinds of answers.
func TestErrorsShowNoQuery(t *testing.T) {
	for name, endpoint := range map[string]roundTrip{
		"no network": func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") },
		"a refusal":  func(r *http.Request) (*http.Response, error) { return answer(r, 403, "text/plain", "no"), nil },
		"a page":     func(r *http.Request) (*http.Response, error) { return answer(r, 200, "text/html", "no"), nil },
		"a blank":    func(r *http.Request) (*http.Response, error) { return answer(r, 200, "", "no"), nil },
		"one too large": func(r *http.Request) (*http.Response, error) {
			return answer(r, 200, "application/json", strings.Repeat(" ", 1<<20+1)), nil
		},
	} {
		v, err := auth.NewJWT(auth.JWTOptions{
			Issuer: "https://login.example", JWKSURL: "https://login.example/keys?api-key=hush-hush", HTTPClient: &http.Client{Transport: endpoint},
		})
		if err != nil {
			t.Fatal(err)
		}
		i := &issuer{url: "https://login.example", keys: []jose.JSONWebKey{newKey("k")}}
		_, err = v.Verify(t.Context(), i.token(t, nil))
		if err == nil || strings.Contains(err.Error(), "hush-hush") || !strings.Contains(err.Error(), "https://login.example/keys") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
