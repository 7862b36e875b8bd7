package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrNoClient: the authorization server knows no client of this program, and none can be registered.
var ErrNoClient = errors.New("this client is not known there")

// client answers who this client is at the authorization server of the visit. In their order: credentials that were
// given, a document of the client's own, and a registration, which is kept. redirect is where the browser is sent back
// to, "" in flows without one. Spec 2026-07-28, basic/authorization/client-registration.
func (v *visit) client(ctx context.Context, redirect string) (Credentials, error) {
	if c, ok, err := v.given(ctx); ok || err != nil {
		return c, err
	}
	if v.a.opts.ClientMetadataURL != "" && v.server.ReadsClientID {
		return Credentials{Issuer: v.server.Issuer, ClientID: v.a.opts.ClientMetadataURL, Method: MethodNone}, nil
	}
	issuer := plain(v.server.Issuer)
	switch {
	case len(v.a.opts.Credentials) > 0 && !v.a.opts.NoRegistration:
		return Credentials{}, fmt.Errorf("%w: the credentials given are for other issuers than %s", ErrNoClient, issuer)
	case v.a.opts.NoRegistration:
		return Credentials{}, fmt.Errorf("%w: Options.Credentials has none for %s, and registration is switched off", ErrNoClient, issuer)
	case v.server.Registration == "":
		return Credentials{}, fmt.Errorf("%w: %s registers no clients; register this program there by hand and put what you get into Options.Credentials", ErrNoClient, issuer)
	}
	return v.registered(ctx, redirect)
}

// given answers the credentials of the options for this issuer.
func (v *visit) given(ctx context.Context) (Credentials, bool, error) {
	issuer := v.server.Issuer
	for _, c := range v.a.opts.Credentials {
		if c.Issuer == issuer {
			return c, true, nil
		}
	}
	for _, c := range v.a.opts.Credentials {
		if c.Issuer != "" {
			continue
		}
		var bound string
		key := v.a.bindingKey(c.ClientID)
		ok, err := v.a.readStored(ctx, key, &bound)
		switch {
		case err != nil:
			return Credentials{}, false, err
		case ok && bound != issuer:
			return Credentials{}, false, fmt.Errorf("%w: the credentials of client %q belong to %s, and the server now sends to %s",
				ErrIssuer, clean(c.ClientID, 100), plain(bound), plain(issuer))
		case !ok:
			if err := v.a.writeStored(ctx, key, issuer); err != nil {
				return Credentials{}, false, err
			}
		}
		return c, true, nil
	}
	return Credentials{}, false, nil
}

func (r *registration) credentials() Credentials {
	return Credentials{Issuer: r.Issuer, ClientID: r.ClientID, Secret: r.Secret, Method: r.Method}
}

// registered answers a registration at this issuer: the one of an earlier visit where it fits, else a new one.
func (v *visit) registered(ctx context.Context, redirect string) (Credentials, error) {
	key := v.a.registrationKey(v.server.Issuer)
	var had registration
	ok, err := v.a.readStored(ctx, key, &had)
	if err != nil {
		return Credentials{}, err
	}
	if ok && had.Redirect == redirect && had.ClientID != "" && (had.Expires.IsZero() || v.a.now().Before(had.Expires)) {
		v.remembered = true
		return had.credentials(), nil
	}
	made, err := v.register(ctx, redirect)
	if err != nil {
		return Credentials{}, err
	}
	if err := v.a.writeStored(ctx, key, made); err != nil {
		return Credentials{}, err
	}
	v.a.log.Info("oauth: registered as a client", "server", v.a.where, "issuer", v.server.Issuer)
	return made.credentials(), nil
}

// clientMetadata is what a registration asks for. RFC 7591, section 2; OpenID Connect Registration, section 2.
type clientMetadata struct {
	Name      string   `json:"client_name"`
	URI       string   `json:"client_uri,omitempty"`
	Redirects []string `json:"redirect_uris,omitempty"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types,omitempty"`
	Method    string   `json:"token_endpoint_auth_method"`
	Kind      string   `json:"application_type"`
	DPoP      bool     `json:"dpop_bound_access_tokens,omitzero"`
}

// clientInformation is what it brings. RFC 7591, section 3.2.1.
type clientInformation struct {
	ClientID string         `json:"client_id"`
	Secret   string         `json:"client_secret"`
	Expires  jsontext.Value `json:"client_secret_expires_at"` // seconds since 1970; 0 for never
	Method   string         `json:"token_endpoint_auth_method"`
}

// register makes a client known to the authorization server. RFC 7591, section 3.
func (v *visit) register(ctx context.Context, redirect string) (*registration, error) {
	asked := clientMetadata{Name: v.a.opts.ClientName, URI: v.a.opts.ClientURI, Grants: v.a.opts.Flow.grants(),
		Method: v.registrationMethod(), Kind: applicationType(redirect), DPoP: v.proofs != nil}
	if redirect != "" {
		asked.Redirects, asked.Responses = []string{redirect}, []string{"code"}
	}
	body, err := json.Marshal(&asked)
	if err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	to := v.server.Registration
	resp, err := v.a.web.post(ctx, endpoint{url: to}, "application/json", string(body), nil)
	if err != nil {
		return nil, fmt.Errorf("register at %s: %w", plain(to), err)
	}
	if resp.status != http.StatusCreated && resp.status != http.StatusOK {
		return nil, fmt.Errorf("register as a client of the type %s with the redirect address %q: %w", asked.Kind, plain(redirect), refused(to, resp))
	}
	var got clientInformation
	if err := readObject(resp.body, &got); err != nil {
		return nil, fmt.Errorf("register at %s: %w", plain(to), err)
	}
	if got.ClientID == "" {
		return nil, fmt.Errorf("register at %s: the answer has no client id", plain(to))
	}
	made := &registration{Issuer: v.server.Issuer, ClientID: got.ClientID, Secret: got.Secret, Method: got.Method, Redirect: redirect}
	made.fix()
	if at, ok := (&answer{Expires: got.Expires}).life(); ok {
		made.Expires = time.Unix(int64(at/time.Second), 0)
	}
	return made, nil
}

// fix makes the method fit what was given: some servers name one that needs a secret and give none, or one of their own.
func (r *registration) fix() {
	known := []string{MethodNone, MethodBasic, MethodPost}
	if !slices.Contains(known, r.Method) || r.Method != MethodNone && r.Secret == "" {
		r.Method = "" // chosen by what there is
	}
}

// registrationMethod is how the client wants to authenticate: not at all where that is allowed, since a program on many
// machines has no secrets.
func (v *visit) registrationMethod() string {
	for _, method := range []string{MethodNone, MethodBasic, MethodPost} {
		if len(v.server.Methods) == 0 || slices.Contains(v.server.Methods, method) {
			return method
		}
	}
	return MethodNone
}

// applicationType is what OpenID Connect calls a client by where it is sent back to. Without a redirect it is a program.
func applicationType(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil || redirect == "" || u.Scheme != "https" && u.Scheme != "http" || isLoopbackHost(u.Hostname()) {
		return "native"
	}
	return "web"
}
