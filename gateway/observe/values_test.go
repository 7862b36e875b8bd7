package observe

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDigest(t *testing.T) {
	digest := func(text string) string {
		value, sum := Digest.of(json.RawMessage(text))
		if value != nil || len(sum) != 64 {
			t.Errorf("%s: %s and %q", text, value, sum)
		}
		return sum
	}
	one := digest(`{"a":1,"b":[{"c":"x","d":null}]}`)
	if two := digest(`{ "b" : [ {"d":null, "c":"\u0078"} ], "a":1 }`); two != one {
		t.Error("the same arguments in another order have another digest")
	}
	if two := digest(`{"a":1,"b":[{"c":"x","d":false}]}`); two == one {
		t.Error("other arguments have the same digest")
	}
	if value, sum := Digest.of(nil); value != nil || sum != "" {
		t.Errorf("nothing: %s %s", value, sum)
	}
	if value, sum := NoDetail.of(json.RawMessage(`{}`)); value != nil || sum != "" {
		t.Errorf("none: %s %s", value, sum)
	}
	if value, sum := Full.of(json.RawMessage(`"` + strings.Repeat("x", longestValue) + `"`)); value != nil || len(sum) != 64 {
		t.Errorf("too long: %d bytes, %q", len(value), sum)
	}
}

// TestRedacted holds what of arguments is hidden, by the name of a member or by its form, and that all else stays as written.
func TestRedacted(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"
	for _, tc := range []struct{ in, want string }{
		{`{"city": "Oslo", "n": 1.0e0, "deep":[{"x":[]}]}`, `{"city":"Oslo","n":1.0e0,"deep":[{"x":[]}]}`},
		{`{"password":"x","apiKey":7,"API_KEY":{"a":1},"accessToken":null,"userSecret":["a"],"Authorization":"x"}`,
			`{"password":"***","apiKey":"***","API_KEY":"***","accessToken":null,"userSecret":"***","Authorization":"***"}`},
		{`{"pin":1,"pinned":true,"author":"a"}`, `{"pin":"***","pinned":true,"author":"a"}`},
		{`{"text":"use Bearer abcdefgh12345 please"}`, `{"text":"use *** please"}`},
		{`["` + jwt + `"]`, `["***"]`},
		{`["ghp_abcdefghijklmnop1234","AKIAABCDEFGHIJKLMNOP","sk-abcdefghijklmnopqrst"]`, `["***","***","***"]`},
		{`["-----BEGIN RSA PRIVATE KEY-----\nMIIE"]`, `["***"]`},
		{`"caf\u00e9"`, `"caf\u00e9"`},
	} {
		if got := string(redacted(json.RawMessage(tc.in))); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.in, got, tc.want)
		}
	}
}

func TestLoggedName(t *testing.T) {
	for in, want := range map[string]string{
		"memo://one": "memo://one", "urn:x:y": "urn:x:y", "not an address": "not an address",
		"https://u:p@host/a?token=x#f": "https://host/a", "db://u:p@host/t": "db://host/t",
		strings.Repeat("x", 2000): strings.Repeat("x", longestName) + "...",
	} {
		if got := loggedName(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
