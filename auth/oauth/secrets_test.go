package oauth

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestNoSecretIsShown goes through logins, refreshes and failures with a server that echoes whatever it gets, and looks for
// secrets in all errors and log records.
func TestNoSecretIsShown(t *testing.T) {
	var log bytes.Buffer
	s := newScene(t)
	s.opts.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.opts.Credentials = []Credentials{{ClientID: "app", Secret: "the+client/secret"}}
	s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{MethodBasic}}
	a := s.authorizer()
	must(t, a)
	echo := func(form url.Values, r *http.Request) (int, map[string]any) {
		return 400, map[string]any{"error": "invalid_request", "error_description": form.Encode() + " " + r.Header.Get("Authorization") + " " +
			form.Get("code") + " " + form.Get("refresh_token") + " " + form.Get("code_verifier")}
	}
	s.as.token = echo
	s.as.revoke()
	var texts []string
	texts = append(texts, fails(t, a, "invalid_request").Error())
	s.clock.pass(time.Hour)
	texts = append(texts, fails(t, a, "invalid_request").Error())
	all := strings.Join(texts, "\n") + log.String()
	if !strings.Contains(all, "[redacted]") || !strings.Contains(log.String(), "access token obtained") {
		t.Errorf("nothing was redacted in, or nothing was logged:\n%s", all)
	}
	var secrets []string
	for _, form := range s.as.forms {
		for _, name := range []string{"code", "code_verifier", "refresh_token"} {
			secrets = append(secrets, form.Get(name))
		}
		secrets = append(secrets, strings.TrimPrefix(form.Get("_authorization"), "Basic "))
	}
	secrets = append(secrets, "the+client/secret", "access-", "refresh-")
	for _, secret := range secrets {
		if secret != "" && strings.Contains(all, secret) {
			t.Errorf("%q is shown in\n%s", secret, all)
		}
	}
}

func TestPlainAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://user:pass@a.test/x?token=1#frag":    "https://a.test/x",
		"https://a.test/\x00":                        "an address that cannot be read",
		"https://a.test/" + strings.Repeat("x", 400): "https://a.test/" + strings.Repeat("x", 285) + "...",
	} {
		equal(t, address, plain(address), want)
	}
	equal(t, "clean", clean("a\x1b[1mb\nc\xff\u0085", 100), "a [1mb c? ")
}

func TestCredentialsHideTheirSecret(t *testing.T) {
	c := Credentials{Issuer: "https://as.test", ClientID: "app", Secret: "hush-hush"}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("have", "who", c)
	slog.New(slog.NewTextHandler(&log, nil)).Info("have", "who", c)
	text := fmt.Sprintf("%v %+v %#v %s %v", c, c, c, c, []Credentials{c}) + log.String()
	if strings.Contains(text, "hush") || !strings.Contains(text, "app") {
		t.Error(text)
	}
}

// FuzzAnswers holds that whatever a token endpoint answers, an error shows no control character and no secret, and a token
// can be sent.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"access_token":"a","expires_in":"1e309"}`, `{"error":"x","error_description":"\u0007 hush-hush"}`,
		`{"error":17}`, `{"access_token":"a b"}`, `[`, `{"access_token":"a","expires_in":-1}`, `{"error":"hush-hush"}`} {
		f.Add(200, []byte(seed))
		f.Add(400, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		got, err := readAnswer("https://as.test/token", &reply{status: status, body: body}, "hush-hush")
		if err != nil {
			if text := err.Error(); strings.Contains(text, "hush-hush") || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("error %q", text)
			}
			return
		}
		if got.Access == "" || strings.ContainsFunc(got.Access, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Fatalf("token %q", got.Access)
		}
		if life, ok := got.life(); ok && life < 0 {
			t.Fatalf("life %v of %s", life, got.Expires)
		}
	})
}
