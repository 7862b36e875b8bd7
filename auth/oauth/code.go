package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// Redirect is the login of a person whose browser is sent back to an address of yours: for web applications, and for
// programs that bring their own way to show a page. OAuth 2.1, section 4.1.
type Redirect struct {
	// URL is where the browser is sent back to: https, or an address of this machine, or a scheme of your program's own.
	URL string

	// Visit shows a page to the person and waits until the browser has come back. It answers the address it came to, with
	// its whole query. The context ends with Options.LoginTimeout or Close.
	Visit func(ctx context.Context, page string) (back string, err error)
}

func (r Redirect) check(Options) error {
	u, err := url.Parse(r.URL)
	switch {
	case r.Visit == nil:
		return errors.New("oauth: Redirect.Visit is missing: it shows the page of the login")
	case err != nil || u.Scheme == "" || u.Fragment != "":
		return errors.New("oauth: Redirect.URL has to be an absolute address without fragment")
	case u.Scheme == "http" && !isLoopbackHost(u.Hostname()):
		return errors.New("oauth: Redirect.URL has to be https, unless it is on this machine")
	}
	return nil
}

func (Redirect) interactive() bool { return true }
func (Redirect) grants() []string  { return []string{grantCode, grantRefresh} }

func (r Redirect) run(ctx context.Context, v *visit) (*answer, string, error) {
	return v.byCode(ctx, r.URL, func(ctx context.Context, page, _ string) (url.Values, error) {
		back, err := r.Visit(ctx, page)
		if err != nil {
			return nil, err
		}
		u, err := url.Parse(back)
		if err != nil {
			return nil, errors.New("the address that the browser came back to cannot be read")
		}
		return u.Query(), nil
	})
}

// byCode asks a person for a code and changes it into a token. show brings the person to a page and answers the query that
// the browser came back with.
func (v *visit) byCode(ctx context.Context, redirect string, show func(ctx context.Context, page, state string) (url.Values, error)) (*answer, string, error) {
	if !slices.Contains(v.server.PKCE, "S256") {
		return nil, "", fmt.Errorf("%w; its metadata has code_challenge_methods_supported %s", ErrNoPKCE, listed(v.server.PKCE))
	}
	who, err := v.client(ctx, redirect)
	if err != nil {
		return nil, "", err
	}
	state, verifier := rand.Text(), rand.Text()+rand.Text() // 26 and 52 characters, RFC 7636, section 4.1
	page, err := v.page(ctx, who.ClientID, redirect, state, verifier)
	if err != nil {
		return nil, "", err
	}
	back, err := show(ctx, page, state)
	if err != nil {
		if ctx.Err() != nil {
			return nil, "", fmt.Errorf("nobody finished the login in time: %w", ErrLoginNeeded)
		}
		return nil, "", err
	}
	code, err := v.readBack(back, state)
	if err != nil {
		return nil, "", err
	}
	got, err := v.ask(ctx, v.tokenEndpoint(), who, v.form(grantCode, url.Values{
		"code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier}}))
	return got, who.ClientID, err
}

// page is the address of the login.
func (v *visit) page(ctx context.Context, clientID, redirect, state, verifier string) (string, error) {
	u, err := url.Parse(v.server.Authorization)
	if err != nil || v.server.Authorization == "" {
		return "", errors.New("the authorization server has no page for logins")
	}
	if err := v.a.web.guard.permits(ctx, u); err != nil {
		return "", fmt.Errorf("show the page for logins at %s: %w", plainURL(u), err)
	}
	sum := sha256.Sum256([]byte(verifier))
	q := u.Query()
	q.Set("response_type", "code")
	q.Set("client_id", clientID)
	q.Set("redirect_uri", redirect)
	q.Set("state", state)
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
	q.Set("code_challenge_method", "S256")
	q.Set("resource", v.resource)
	if scope := v.scope(); scope != "" {
		q.Set("scope", scope)
		if v.wantsOffline() {
			q.Set("prompt", "consent") // OpenID Connect Core, section 11
		}
	}
	if v.proofs != nil {
		q.Set("dpop_jkt", v.proofs.thumb) // RFC 9449, section 10
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// readBack takes the code out of what the browser came back with. Nothing of it is looked at, or shown, before it is known
// to come from this login and from the issuer that the login was begun at. RFC 9207, section 2.4.
func (v *visit) readBack(back url.Values, state string) (string, error) {
	if !same(back.Get("state"), state) {
		return "", errors.New("the answer to the login carries another state than was sent, and is not used")
	}
	switch issuer, there := back["iss"]; {
	case there && (len(issuer) != 1 || issuer[0] != v.server.Issuer):
		return "", fmt.Errorf("%w: the answer to the login does not come from %s, and is not used", ErrIssuer, plain(v.server.Issuer))
	case !there && v.server.SendsIssuer:
		return "", fmt.Errorf("%w: the answer to the login does not say where it comes from, as %s promises, and is not used", ErrIssuer, plain(v.server.Issuer))
	}
	if code := back.Get("error"); code != "" {
		return "", &ResponseError{URL: plain(v.server.Authorization), Code: clean(code, 60), Description: clean(back.Get("error_description"), 300)}
	}
	if back.Get("code") == "" {
		return "", errors.New("the answer to the login carries no code")
	}
	return back.Get("code"), nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
