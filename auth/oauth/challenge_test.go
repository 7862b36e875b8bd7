package oauth

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestChallenges(t *testing.T) {
	for _, c := range []struct {
		line string
		want demand
	}{
		{`Bearer`, demand{bearer: true}},
		{`bearer realm="x"`, demand{bearer: true}},
		{`Bearer resource_metadata="https://a.test/x", scope="a b  a", error="invalid_token"`,
			demand{bearer: true, metadata: "https://a.test/x", scopes: []string{"a", "b"}, code: "invalid_token"}},
		{`Bearer realm="say \"error=\\\"", error="insufficient_scope"`, demand{bearer: true, code: "insufficient_scope"}},
		{`Bearer realm="x, error=fake, Basic", scope=one`, demand{bearer: true, scopes: []string{"one"}}},
		{`Basic realm="error=\"no\"", Bearer error="invalid_token"`, demand{bearer: true, code: "invalid_token"}},
		{`Negotiate, Bearer scope="a"`, demand{bearer: true, scopes: []string{"a"}}},
		{`Negotiate dG9rZW4=, Bearer scope="a"`, demand{bearer: true, scopes: []string{"a"}}},
		{`DPoP algs="ES256", error="use_dpop_nonce"`, demand{dpop: true, code: "use_dpop_nonce"}},
		{`Bearer scope="a", DPoP algs="ES256"`, demand{bearer: true, dpop: true, scopes: []string{"a"}}},
		{`Bearer resource_metadata=https://a.test/x?y=z, error = "e"`, demand{bearer: true, metadata: "https://a.test/x?y=z", code: "e"}},
		{`Basic scope="not mine"`, demand{}},
		{`Bearer error="first", error="second"`, demand{bearer: true, code: "first"}},
		{`Bearer error="open`, demand{bearer: true}},
		{`Bearer , , ,error="e"`, demand{bearer: true, code: "e"}},
		{`error="e"`, demand{}},
		{`Bearer xerror="fake"`, demand{bearer: true}},
		{`Bearer error="e" scope="a"`, demand{bearer: true, code: "e", scopes: []string{"a"}}}, // without the comma
		{`Bearer realm=x scope=a`, demand{bearer: true, scopes: []string{"a"}}},
		{`Digest qop="auth,auth-int", nonce="Bearer error=\"fake\"", Bearer scope="a"`, demand{bearer: true, scopes: []string{"a"}}},
		{`Basic realm="a\", Bearer resource_metadata=\"https://evil.test/x\", b=\"", Bearer error="e"`, demand{bearer: true, code: "e"}},
		{`Basic realm="open, Bearer error="e"`, demand{}},
		{`Bearer "error"="e"`, demand{bearer: true}},
		{"Bearer\terror\t=\t\"e\"", demand{bearer: true, code: "e"}},
		{`BEARER ERROR="e", SCOPE="a"`, demand{bearer: true, code: "e", scopes: []string{"a"}}},
		{`Bearer resource_metadata="https://a.test/\u0022x"`, demand{bearer: true, metadata: `https://a.test/u0022x`}},
		{`Bearer scope="` + strings.Repeat("a ", 9000) + `"`, demand{}}, // a line beyond all bounds
		{strings.Repeat("X,", 40) + `Bearer scope="a"`, demand{}},
		{`Bearer ` + strings.Repeat(`x=y, `, 1000) + `scope="a"`, demand{bearer: true, scopes: []string{"a"}}},
		{``, demand{}},
		{`"`, demand{}},
		{`=,=`, demand{}},
	} {
		if got := readDemand([]string{c.line}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\n got %+v\nwant %+v", c.line, got, c.want)
		}
	}
	lines := []string{`Basic realm="x"`, `Bearer scope="a"`, `Bearer scope="b", error="e"`}
	if got := readDemand(lines); !reflect.DeepEqual(got, demand{bearer: true, scopes: []string{"a"}, code: "e"}) {
		t.Errorf("several lines: %+v", got)
	}
}

// FuzzChallenges holds that reading ends, stays within its bounds, and finds what stands in front of anything else.
func FuzzChallenges(f *testing.F) {
	for _, seed := range []string{``, `Bearer a="b"`, `Basic dG9rZW4=, DPoP x="\"`, `Bearer a=b c=d`, `,,"`, "Bearer a=\"\x00\xff\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		all := parseChallenges(line)
		if len(all) > 32 {
			t.Fatalf("%d challenges", len(all))
		}
		for _, c := range all {
			if c.scheme == "" || c.scheme != strings.ToLower(c.scheme) || len(c.params) > 32 {
				t.Fatalf("challenge %+v", c)
			}
			for name, value := range c.params {
				if name == "" || len(name)+len(value) > len(line) {
					t.Fatalf("parameter %q = %q of %q", name, value, line)
				}
			}
		}
		own := fmt.Sprintf(`Bearer scope="mine", resource_metadata="https://a.test", error="e", %s`, line)
		if d := readDemand([]string{own}); !d.bearer || d.metadata != "https://a.test" || d.code != "e" || len(d.scopes) != 1 {
			t.Fatalf("%q is read as %+v", own, d)
		}
	})
}
