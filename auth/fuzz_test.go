package auth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzAuthorization: whatever is sent, a token that is read stands in the header as it is, and nothing breaks the challenge.
func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"Bearer abc", "bearer  a.b.c==", "DPoP x", "Bearer", "Basic YTpi", "Bearer a b", "Bearer =", "\tBearer\tx"} {
		f.Add(seed, "a=1&access_token=x")
		f.Add(seed, "")
	}
	g := newGuard(Options{Verifier: StaticTokens(nil), Resource: "https://pub.example/mcp", DPoP: &DPoPOptions{}})
	f.Fuzz(func(t *testing.T, header, query string) {
		r := &http.Request{Method: "POST", URL: &url.URL{Path: "/mcp", RawQuery: query}, Header: http.Header{"Authorization": {header}}}
		shown, err := credentialsOf(r)
		switch {
		case err != nil && shown.token != "":
			t.Errorf("refused, and a token is shown: %q", shown.token)
		case err == nil && shown.scheme != "" && (shown.token == "" || !strings.HasSuffix(strings.Trim(header, " \t"), shown.token) || strings.ContainsAny(shown.token, " \t\"\\,;\r\n")):
			t.Errorf("the token %q of %q", shown.token, header)
		case err == nil && shown.scheme == "" && shown.token != "":
			t.Errorf("a token without a scheme: %q", shown.token)
		}
		if no := unauthorized(Invalidf("%s", header), schemeBearer); strings.ContainsAny(strings.Join(no.parameters(), ", "), "\r\n\\") ||
			strings.Count(strings.Join(no.parameters(), ""), `"`) != 4 {
			t.Errorf("the challenge breaks: %q", no.parameters())
		}
		if _, _, err := g.judge(r); err == nil {
			t.Errorf("%q passes, and no token is known", header)
		}
	})
}

// FuzzProof: whatever is sent as a proof, it is refused, since none is made with the key of the token, and with a reason.
func FuzzProof(f *testing.F) {
	f.Add("eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7fX0.e30.AA")
	f.Add("a.b.c")
	f.Add(`{"payload":"","signatures":[]}`)
	f.Add("")
	p := newProofs(DPoPOptions{})
	f.Fuzz(func(t *testing.T, raw string) {
		r := &http.Request{Method: "POST", URL: &url.URL{Path: "/mcp"}, Header: http.Header{headerProof: {raw}}}
		err := p.check(r, "https://pub.example/mcp", "token", "no-such-thumbprint")
		if no := unauthorized(err, schemeDPoP); no == nil || no.status != http.StatusUnauthorized || no.reason == "" {
			t.Errorf("got %v", err)
		}
	})
}

// FuzzTarget: addresses that are the same are so in both directions, and each that can be one is the same as itself.
func FuzzTarget(f *testing.F) {
	f.Add("https://pub.example/mcp", "HTTPS://PUB.example:443/mcp/?x#y")
	f.Add("http://[::1]:80/", "http://[::1]")
	f.Fuzz(func(t *testing.T, a, b string) {
		if sameTarget(a, a) && sameTarget(b, b) && sameTarget(a, b) != sameTarget(b, a) {
			t.Errorf("%q and %q", a, b)
		}
	})
}
