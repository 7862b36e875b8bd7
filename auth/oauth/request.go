package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answer is what a token endpoint gives. RFC 6749, sections 5.1 and 5.2; RFC 8693, section 2.2.1.
type answer struct {
	Access  string         `json:"access_token"`
	Type    string         `json:"token_type"`
	Expires jsontext.Value `json:"expires_in"` // seconds; a number, with some servers a string
	Refresh string         `json:"refresh_token"`
	Issued  string         `json:"issued_token_type"`
}

// refusal is the other thing it may give.
type refusal struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// life is how long the token is good for; false when the server does not say. Less than a second is no life: a token that
// is over when it comes would have to be got anew for each request.
func (a *answer) life() (time.Duration, bool) {
	const most = 100 * 365 * 24 * 60 * 60
	seconds, err := strconv.ParseFloat(strings.Trim(string(a.Expires), `"`), 64)
	if err != nil || !(seconds >= 1) { // not a number is no life either
		return 0, false
	}
	return time.Duration(min(seconds, most)) * time.Second, true
}

func (v *visit) tokenEndpoint() endpoint { return endpoint{url: v.server.Token} }

// form is the form of a token request: the grant, what belongs to it, and the resource, which is always named.
func (v *visit) form(grant string, more url.Values) url.Values {
	form := url.Values{"grant_type": {grant}, "resource": {v.resource}}
	for name, values := range more {
		form[name] = values
	}
	return form
}

// withScope adds the scope to a form of a grant that has not settled it before.
func (v *visit) withScope(form url.Values) url.Values {
	if scope := v.scope(); scope != "" {
		form.Set("scope", scope)
	}
	return form
}

// ask sends a token request and reads a token of the right kind.
func (v *visit) ask(ctx context.Context, to endpoint, who Credentials, form url.Values) (*answer, error) {
	got, err := v.exchange(ctx, to, who, v.server, form)
	if err != nil {
		return nil, err
	}
	switch kind := strings.ToLower(got.Type); {
	case v.proofs != nil && kind != "dpop":
		return nil, fmt.Errorf("%s gave a token that is not bound to the key of this client", plain(to.url))
	case v.proofs == nil && kind != "bearer" && kind != "":
		return nil, fmt.Errorf("%s gave a token of the unknown type %q", plain(to.url), clean(got.Type, 40))
	}
	return got, nil
}

// exchange sends a form to a token endpoint with the credentials of the client, and once more with the nonce that the
// server wants to see in the proof. RFC 9449, section 8.
func (v *visit) exchange(ctx context.Context, to endpoint, who Credentials, at *serverMetadata, form url.Values) (*answer, error) {
	for again := false; ; again = true {
		got, wantsNonce, err := v.exchangeOnce(ctx, to, who, at, form)
		if err == nil || !wantsNonce || again {
			return got, err
		}
	}
}

func (v *visit) exchangeOnce(ctx context.Context, to endpoint, who Credentials, at *serverMetadata, form url.Values) (got *answer, wantsNonce bool, err error) {
	u, err := url.Parse(to.url)
	if err != nil || u.Host == "" {
		return nil, false, errors.New("the token endpoint cannot be read as an address")
	}
	header, sent := http.Header{}, copyForm(form)
	if err := who.authenticate(v.a.now(), at, header, sent); err != nil {
		return nil, false, err
	}
	before := v.a.nonce(u)
	if v.proofs != nil && !to.bare {
		proof, err := v.proofs.proof(v.a.now(), http.MethodPost, u, before, "")
		if err != nil {
			return nil, false, err
		}
		header.Set("DPoP", proof)
	}
	resp, err := v.a.web.post(ctx, to, "application/x-www-form-urlencoded", sent.Encode(), header)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", plain(to.url), err)
	}
	v.a.keepNonce(u, resp.header)
	got, err = readAnswer(to.url, resp, secretsOf(sent, header, who)...)
	return got, hasCode(err, "use_dpop_nonce") && v.a.nonce(u) != before, err
}

// readAnswer reads what a token endpoint answers.
func readAnswer(address string, resp *reply, secrets ...string) (*answer, error) {
	if resp.refuses() {
		return nil, refused(address, resp, secrets...)
	}
	var got answer
	if err := readObject(resp.body, &got); err != nil {
		return nil, fmt.Errorf("%s: %w", plain(address), err)
	}
	if got.Access == "" {
		return nil, fmt.Errorf("%s gave no access token", plain(address))
	}
	secrets = append(secrets, got.Access, got.Refresh)
	got.Type, got.Issued = redact(got.Type, secrets...), redact(got.Issued, secrets...) // errors show them
	for i := range len(got.Access) {
		if c := got.Access[i]; c <= ' ' || c >= 0x7f {
			return nil, fmt.Errorf("%s gave an access token that no header can carry", plain(address))
		}
	}
	return &got, nil
}

// refuses tells that an answer is a refusal. Some servers answer one with status 200.
func (r *reply) refuses() bool {
	var no refusal
	return r.status != http.StatusOK || readLoose(r.body, &no) == nil && no.Code != ""
}

// refused makes an error of a refusal, without what was sent in confidence.
func refused(address string, resp *reply, secrets ...string) *ResponseError {
	var no refusal
	_ = readLoose(resp.body, &no) // a page for people is as good as no reason
	return &ResponseError{URL: plain(address), Status: resp.status, Code: clean(redact(no.Code, secrets...), 60),
		Description: clean(redact(no.Description, secrets...), 300)}
}

// readLoose reads an object of which any member may be of another type: then it is as good as absent.
func readLoose(body []byte, no *refusal) error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(body, &members); err != nil {
		return err
	}
	text := func(name string) (s string) {
		if members[name].Kind() != '"' || json.Unmarshal(members[name], &s) != nil {
			return ""
		}
		return s
	}
	no.Code, no.Description = text("error"), text("error_description")
	return nil
}

func copyForm(form url.Values) url.Values {
	out := make(url.Values, len(form)+4)
	for name, values := range form {
		out[name] = values
	}
	return out
}

// secretsOf lists what was sent in confidence, so that no echo of it gets into an error.
func secretsOf(form url.Values, header http.Header, who Credentials) []string {
	out := []string{who.Secret, header.Get("DPoP"), strings.TrimPrefix(header.Get("Authorization"), "Basic ")}
	for _, name := range []string{"code", "code_verifier", "refresh_token", "client_secret", "client_assertion", "assertion", "subject_token", "device_code"} {
		out = append(out, form.Get(name))
	}
	return out
}
