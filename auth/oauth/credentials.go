package oauth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Ways to prove at a token endpoint who the client is. RFC 7591, section 2, and OpenID Connect Core, section 9.
const (
	MethodNone          = "none"
	MethodBasic         = "client_secret_basic"
	MethodPost          = "client_secret_post"
	MethodPrivateKeyJWT = "private_key_jwt"
)

// Credentials are a client that an authorization server knows.
type Credentials struct {
	// Issuer is the authorization server, as its metadata names it. Empty binds them to the first one they are used at: the
	// MCP server then decides who is shown the secret, so name the issuer where you know it.
	Issuer string

	ClientID string
	Secret   string // for MethodBasic and MethodPost
	Key      *Key   // for MethodPrivateKeyJWT

	// Method is how the client proves who it is. Empty takes the first of private_key_jwt (with a key), basic, post (with
	// a secret) and none that the authorization server lists.
	Method string
}

// String names the client, without what it proves itself by; so do GoString, LogValue and MarshalText.
func (c Credentials) String() string { return fmt.Sprintf("client %q of %q", c.ClientID, c.Issuer) }

// GoString is String, for %#v.
func (c Credentials) GoString() string { return c.String() }

// LogValue is String, for package slog.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText is String, for logs in JSON. Credentials are read from files and never written to any.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

func (c Credentials) check() error {
	switch {
	case c.ClientID == "":
		return errors.New("oauth: credentials need a ClientID")
	case (c.Method == MethodBasic || c.Method == MethodPost) && c.Secret == "":
		return fmt.Errorf("oauth: credentials with the method %s need a Secret", c.Method)
	case c.Method == MethodPrivateKeyJWT && c.Key == nil:
		return fmt.Errorf("oauth: credentials with the method %s need a Key", c.Method)
	case c.Method != "" && !slices.Contains([]string{MethodNone, MethodBasic, MethodPost, MethodPrivateKeyJWT}, c.Method):
		return fmt.Errorf("oauth: the method %q of credentials is none of %s, %s, %s and %s", c.Method,
			MethodPrivateKeyJWT, MethodBasic, MethodPost, MethodNone)
	}
	return nil
}

// method picks how to authenticate. A server that lists nothing takes client_secret_basic. RFC 8414, section 2.
func (c Credentials) method(at *serverMetadata) (string, error) {
	if c.Method != "" {
		return c.Method, nil
	}
	var able []string
	if c.Key != nil {
		able = append(able, MethodPrivateKeyJWT)
	}
	if c.Secret != "" {
		able = append(able, MethodBasic, MethodPost)
	}
	if len(able) == 0 {
		able = []string{MethodNone}
	}
	if len(at.Methods) == 0 {
		return able[0], nil
	}
	for _, method := range able {
		if slices.Contains(at.Methods, method) {
			return method, nil
		}
	}
	if able[0] == MethodNone || slices.Contains(at.Methods, MethodNone) {
		return MethodNone, nil // a public client has no other, listed or not; and some servers give secrets that nobody may show
	}
	return "", fmt.Errorf("the authorization server takes none of the methods %q that these credentials allow; it lists %s", able, listed(at.Methods))
}

// authenticate puts credentials on a token request.
func (c Credentials) authenticate(now time.Time, at *serverMetadata, header http.Header, form url.Values) error {
	method, err := c.method(at)
	if err != nil {
		return err
	}
	switch method {
	case MethodBasic: // both parts are form-encoded first, RFC 6749, section 2.3.1
		pair := url.QueryEscape(c.ClientID) + ":" + url.QueryEscape(c.Secret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	case MethodPost:
		form.Set("client_id", c.ClientID)
		form.Set("client_secret", c.Secret)
	case MethodPrivateKeyJWT: // the client's id is in the assertion, RFC 7523, section 3
		if len(at.Algorithms) > 0 && !slices.Contains(at.Algorithms, c.Key.algorithm) {
			return fmt.Errorf("the authorization server takes no signatures with %s; it lists %s", c.Key.algorithm, listed(at.Algorithms))
		}
		assertion, err := c.Key.assertion(now, c.ClientID, at.Issuer)
		if err != nil {
			return err
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion)
	default:
		form.Set("client_id", c.ClientID)
	}
	return nil
}
