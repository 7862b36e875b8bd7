package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// pemOf is a private key in PKCS #8.
func pemOf(t *testing.T, key crypto.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func TestClientCredentials(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(pemOf(t, private), "ES256", "key-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		list  []string
		who   Credentials
		check func(t *testing.T, form url.Values)
	}{
		{"basic", []string{MethodBasic}, Credentials{ClientID: "robot", Secret: "s3cret"}, func(t *testing.T, form url.Values) {
			equal(t, "Authorization", form.Get("_authorization"), "Basic "+base64.StdEncoding.EncodeToString([]byte("robot:s3cret")))
		}},
		{"post", []string{MethodPost}, Credentials{ClientID: "robot", Secret: "s3cret"}, func(t *testing.T, form url.Values) {
			equal(t, "client", form.Get("client_id")+" "+form.Get("client_secret"), "robot s3cret")
		}},
		{"private_key_jwt", []string{MethodBasic, MethodPrivateKeyJWT}, Credentials{ClientID: "robot", Secret: "s3cret", Key: key}, func(t *testing.T, form url.Values) {
			equal(t, "type", form.Get("client_assertion_type"), "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
			signed, err := jose.ParseSignedCompact(form.Get("client_assertion"), []jose.SignatureAlgorithm{jose.ES256})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := signed.Verify(&private.PublicKey); err != nil || signed.Signatures[0].Header.KeyID != "key-1" {
				t.Errorf("signature: %v, header %v", err, signed.Signatures[0].Header)
			}
			claims := claims(form.Get("client_assertion"))
			for name, want := range map[string]any{"iss": "robot", "sub": "robot", "aud": "https://as.test"} {
				equal(t, name, claims[name], want)
			}
			if claims["jti"] == "" || claims["exp"].(float64)-claims["iat"].(float64) > 300 {
				t.Errorf("claims %v", claims)
			}
			if form.Has("client_id") || form.Has("client_secret") || form.Get("_authorization") != "" {
				t.Errorf("more than one way to authenticate: %v", form)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": c.list, "code_challenge_methods_supported": nil, "authorization_endpoint": nil}
			s.as.noRefresh = true
			s.rs.challenge = `Bearer scope="read", resource_metadata="https://mcp.test` + usualMetadata + `"`
			s.opts.Flow, s.opts.Credentials = ClientCredentials{}, []Credentials{c.who}
			a := s.authorizer()
			must(t, a)
			form := s.as.last(grantClient)
			equal(t, "resource", form.Get("resource"), "https://mcp.test/mcp")
			equal(t, "scope", form.Get("scope"), "read")
			c.check(t, form)
			s.clock.pass(time.Hour)
			must(t, a)
			equal(t, "tokens", s.as.count(grantClient), 2)
			equal(t, "answers of 401", len(s.rs.requests), 3)
			equal(t, "registrations", len(s.as.clients), 0)
		})
	}
}

// newTestKey is a fresh key for assertions.
func newTestKey(t *testing.T) *Key {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := NewKey(private, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAlgorithmThatNobodyTakes(t *testing.T) {
	key := newTestKey(t)
	s := newScene(t)
	s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{MethodPrivateKeyJWT},
		"token_endpoint_auth_signing_alg_values_supported": []string{"RS256"}}
	s.opts.Flow, s.opts.Credentials = ClientCredentials{}, []Credentials{{ClientID: "robot", Key: key}}
	fails(t, s.authorizer(), "ES256", "RS256")
}

func TestKeys(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for want, private := range map[string]crypto.PrivateKey{"ES384": p384, "EdDSA": edwards, "RS256": big} {
		key, err := ParseKey(pemOf(t, private), "", "")
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		equal(t, "algorithm", key.algorithm, want)
		if _, err := key.assertion(time.Now(), "a", "b"); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	if key, err := NewKey(big, "PS256", ""); err != nil {
		t.Errorf("%v, %v", key, err)
	}
	for name, open := range map[string]func() (*Key, error){
		"no PEM":          func() (*Key, error) { return ParseKey([]byte("secret"), "", "") },
		"a certificate":   func() (*Key, error) { return ParseKey([]byte("-----BEGIN X-----\nAAAA\n-----END X-----\n"), "", "") },
		"wrong algorithm": func() (*Key, error) { return NewKey(big, "ES256", "") },
		"a shared secret": func() (*Key, error) { return NewKey([]byte("secret-secret-secret-secret-secret"), "HS256", "") },
		"nothing":         func() (*Key, error) { return NewKey(nil, "", "") },
	} {
		if _, err := open(); err == nil || strings.Contains(err.Error(), "secret-") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestWorkload holds that the identity of the platform is the grant, and that a refusal is final.
func TestWorkload(t *testing.T) {
	scene := func(t *testing.T) (*scene, *[]string) {
		s := newScene(t)
		var audiences []string
		s.opts.Credentials = []Credentials{{ClientID: "workload", Method: MethodNone}}
		s.opts.Flow = Workload{Assertion: func(_ context.Context, audience string) (string, error) {
			audiences = append(audiences, audience)
			return "the-platform-says-so", nil
		}}
		return s, &audiences
	}
	t.Run("good", func(t *testing.T) {
		s, audiences := scene(t)
		must(t, s.authorizer())
		form := s.as.last(grantJWTBearer)
		equal(t, "assertion", form.Get("assertion"), "the-platform-says-so")
		equal(t, "client", form.Get("client_id"), "workload")
		equal(t, "resource", form.Get("resource"), "https://mcp.test/mcp")
		equal(t, "audience", strings.Join(*audiences, " "), "https://as.test")
		if form.Has("client_secret") || form.Get("_authorization") != "" {
			t.Errorf("form %v", form)
		}
	})
	for _, code := range []string{"invalid_grant", "invalid_scope", "unauthorized_client"} {
		t.Run(code, func(t *testing.T) {
			s, _ := scene(t)
			s.as.token = func(form url.Values, _ *http.Request) (int, map[string]any) {
				return 400, map[string]any{"error": code, "error_description": "bad " + form.Get("assertion")}
			}
			a := s.authorizer()
			err := fails(t, a, code, "bad [redacted]")
			if strings.Contains(err.Error(), "platform-says") {
				t.Errorf("%v shows the assertion", err)
			}
			fails(t, a, code)
			equal(t, "token requests", len(s.as.forms), 1)
		})
	}
	t.Run("no identity", func(t *testing.T) {
		s, _ := scene(t)
		s.opts.Flow = Workload{Assertion: func(context.Context, string) (string, error) { return "", errors.New("not in a cluster") }}
		fails(t, s.authorizer(), "not in a cluster")
	})
}
