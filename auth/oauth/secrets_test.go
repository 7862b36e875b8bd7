package oauth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
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

// numbers are the bytes of a text as %v prints them.
func numbers(text string) string { return strings.Trim(fmt.Sprintf("%d", []byte(text)), "[]") }

// TestNothingPrintsSecrets holds that whatever of this package a program prints or logs, and however deep it stands in
// something else, shows no secret. Seen to fail: an authorizer showed its credentials, and a list of credentials in JSON.
func TestNothingPrintsSecrets(t *testing.T) {
	s := newScene(t)
	key := newTestKey(t)
	c := Credentials{ClientID: "app", Secret: "hush-hush", Key: key}
	s.opts.Credentials, s.opts.DPoP, s.rs.dpop, s.opts.User = []Credentials{c}, DPoPAlways, true, "ann"
	s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{MethodPost}}
	memory := NewMemoryStore(0)
	sealed, err := Encrypt(memory, bytes.Repeat([]byte("k"), 32))
	if err != nil {
		t.Fatal(err)
	}
	s.opts.Store = sealed
	a := s.authorizer()
	must(t, a)
	secrets := []string{"hush-hush", a.held.Access, a.held.Refresh, numbers("kkkkkkkk")}
	if err := memory.Put(t.Context(), "plain", []byte("hush-hush")); err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, numbers("hush-hush"))
	var private struct {
		D string `json:"d"`
	}
	if err := json.Unmarshal(a.held.Key, &private); err != nil || private.D == "" {
		t.Fatalf("no private key: %v", err)
	}
	secrets = append(secrets, private.D)
	for name, value := range map[string]any{
		"an authorizer": a, "options": s.opts, "a pointer to options": &s.opts, "credentials": c, "a pointer to credentials": &c,
		"a list": []Credentials{c}, "a map": map[string]Credentials{"x": c}, "a member": struct{ Who Credentials }{c},
		"a flow": Enterprise{Client: c}, "a client": a.Client(), "a store": memory, "an encrypted store": sealed, "a key": key,
	} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("have", "it", value)
		slog.New(slog.NewTextHandler(&log, nil)).Info("have", "it", value)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
			fmt.Fprintf(&log, verb, value)
		}
		if raw, err := json.Marshal(value); err == nil {
			log.Write(raw)
		}
		for _, secret := range secrets {
			if strings.Contains(log.String(), secret) || strings.Contains(log.String(), fmt.Sprintf("%x", secret)) {
				t.Errorf("%s shows %q", name, secret)
			}
		}
	}
}

// TestAnswersShowNoToken holds that the request an answer came to is the one of the caller, without a token. Seen to fail: it
// was the one that was sent.
func TestAnswersShowNoToken(t *testing.T) {
	s := newScene(t)
	a := s.authorizer()
	req := newRequest(t)
	resp, err := a.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.Request != req || req.Header.Get("Authorization") != "" {
		t.Errorf("answer %v to %v", resp.Status, resp.Request.Header)
	}
}
