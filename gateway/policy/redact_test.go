package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
)

func masking(t *testing.T, r Redaction) *redaction {
	t.Helper()
	compiled, err := newRedactor(r)
	if err != nil {
		t.Fatal(err)
	}
	return &redaction{with: []*redactor{compiled}, left: maxRedacted}
}

// made joins parts, so that no text of this file looks like a secret to others who look for them.
func made(parts ...string) string { return strings.Join(parts, "") }

// TestForms holds what each form finds, and what it lets be.
func TestForms(t *testing.T) {
	digits := strings.Repeat("0123456789abcdefABCDEF", 3)
	jwt := made("ey", "JhbGciOiJIUzI1NiJ9", ".ey", "JzdWIiOiIxMjM0In0", ".c2lnbmF0dXJl")
	key := made("-----BEGIN RSA PRIV", "ATE KEY-----\nMIIB\n-----END RSA PRIV", "ATE KEY-----")
	for _, tc := range []struct{ form, in, want string }{
		{"email", "to ada@example.com, bob.b+x@mail.example.co.uk.", "to [redacted email], [redacted email]."},
		{"email", "@ada, a@b, x @ y, user@localhost, 5@6.7", "@ada, a@b, x @ y, user@localhost, 5@6.7"},
		{"creditCard", "4111111111111111", "[redacted creditCard]"},
		{"creditCard", "4111 1111 1111 1111 until 2028, 5500-0000-0000-0004, 378282246310005", "[redacted creditCard] until 2028, [redacted creditCard], [redacted creditCard]"},
		{"creditCard", "no 12 4111 1111 1111 1111 99", "no 12 [redacted creditCard] 99"},
		{"creditCard", "4111111111111112, 1234567890123, 2026-11-30 09:47:23, 411111111111111199999999", "4111111111111112, 1234567890123, 2026-11-30 09:47:23, 411111111111111199999999"},
		{"creditCard", "0000000000000000 and 9999999999999995", "0000000000000000 and 9999999999999995"},
		{"jwt", "Bearer " + jwt + "!", "Bearer [redacted jwt]!"},
		{"jwt", "eyJ and eyJhbGciOiJIUzI1NiJ9 alone", "eyJ and eyJhbGciOiJIUzI1NiJ9 alone"},
		{"privateKey", "x " + key + " y", "x [redacted privateKey] y"},
		{"privateKey", "x " + key[:40] + " cut", "x [redacted privateKey]"},
		{"privateKey", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"},
		{"apiKey", made("s", "k-", digits[:30]), "[redacted apiKey]"},
		{"apiKey", "key=" + made("s", "k_live_", digits[:24]) + ";", "key=[redacted apiKey];"},
		{"apiKey", made("gh", "p_", digits[:36]) + " " + made("github", "_pat_", digits[:30]), "[redacted apiKey] [redacted apiKey]"},
		{"apiKey", made("xox", "b-12345678901-abc") + " " + made("AK", "IA0123456789ABCDEF"), "[redacted apiKey] [redacted apiKey]"},
		{"apiKey", made("AI", "za", digits[:35]) + " " + made("glp", "at-", digits[:20]), "[redacted apiKey] [redacted apiKey]"},
		{"apiKey", "ask-me-anything-about-this, task-1234567890123456789012, sk-short, npm_config_prefix", "ask-me-anything-about-this, task-1234567890123456789012, sk-short, npm_config_prefix"},
	} {
		if got := masking(t, Redaction{Find: []string{tc.form}}).text(tc.in); got != tc.want {
			t.Errorf("%s of %q: got %q, want %q", tc.form, tc.in, got, tc.want)
		}
	}
}

// TestRedactedTokens holds that texts are masked where they are values, and all other tokens stay byte for byte.
func TestRedactedTokens(t *testing.T) {
	for _, tc := range []struct {
		in, want string
		of       texts
	}{
		{`{"a" : "x SECRET\u0021", "SECRET":[1.0, "SECRET", {"b":"\u00e9\/"}], "n":null }`, `{"a" : "x [redacted own]!", "SECRET":[1.0, "[redacted own]", {"b":"\u00e9\/"}], "n":null }`, texts{}},
		{`"\u0053ECRET"`, `"[redacted own]"`, texts{}},
		{`{"content":[{"type":"SECRET","text":"SECRET"},{"type":"image","data":"SECRET","mimeType":"SECRET"},{"type":"resource","resource":{"uri":"SECRET","text":"SECRET"}}]}`,
			`{"content":[{"type":"SECRET","text":"[redacted own]"},{"type":"image","data":"SECRET","mimeType":"SECRET"},{"type":"resource","resource":{"uri":"SECRET","text":"[redacted own]"}}]}`, ofResult},
		{`{"structuredContent":{"data":"SECRET","x":[{"type":"SECRET"}]},"data":"SECRET"}`,
			`{"structuredContent":{"data":"[redacted own]","x":[{"type":"[redacted own]"}]},"data":"SECRET"}`, ofResult},
		{`{"structuredContent":["SECRET"],"contents":[{"uri":"SECRET","blob":"SECRET","text":"a\"SECRET\\"}]}`,
			`{"structuredContent":["[redacted own]"],"contents":[{"uri":"SECRET","blob":"SECRET","text":"a\"[redacted own]\\"}]}`, ofResult},
		{`{"structured\u0043ontent":{"data":"SECRET"}}`, `{"structured\u0043ontent":{"data":"[redacted own]"}}`, ofResult},
		{`{}`, `{}`, texts{}}, {`[]`, `[]`, texts{}}, {`12.50`, `12.50`, texts{}},
	} {
		if got := string(masking(t, Redaction{Name: "own", Pattern: "SECRET"}).values(json.RawMessage(tc.in), tc.of)); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.in, got, tc.want)
		}
	}
	w := masking(t, Redaction{Name: "own", Pattern: "SECRET"})
	w.left = 10
	if got := w.values(json.RawMessage(`["0123456789","SECRET"]`), texts{}); w.left >= 0 || w.outcome(func(Decision) {}, aboutNothing, "results hold") == nil {
		t.Errorf("more text than is looked through: %s passes", got)
	}
}

// TestFoundByMany holds that no redaction finds what stands in the place of what another has found, and that places which overlap are
// one.
func TestFoundByMany(t *testing.T) {
	w := &redaction{left: maxRedacted}
	for _, r := range []Redaction{{Name: "e", Pattern: "e"}, {Name: "red", Pattern: "red[a-z]*"}, {Name: "mail", Find: []string{"email"}}} {
		compiled, err := newRedactor(r)
		if err != nil {
			t.Fatal(err)
		}
		w.with = append(w.with, compiled)
	}
	if got, want := w.text("a red sea, ann@example.com"), "a [redacted red] s[redacted e]a, [redacted email]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFixedArguments holds that what the operator has fixed passes, and what the client says beside it is looked at.
func TestFixedArguments(t *testing.T) {
	for _, tc := range []struct {
		fixed    []string
		in, want string
	}{
		{nil, `{"name":"t","arguments":{"key":"SECRET","text":"SECRET"}}`, `{"name":"t","arguments":{"key":"[redacted own]","text":"[redacted own]"}}`},
		{[]string{"key"}, `{"name":"t","arguments":{"text":"SECRET","key":"SECRET"}}`, `{"name":"t","arguments":{"text":"[redacted own]","key":"SECRET"}}`},
		{[]string{"key", "none"}, `{"name":"t","arguments":{"in":{"key":"SECRET"},"key":{"in":"SECRET"}}}`, `{"name":"t","arguments":{"in":{"key":"[redacted own]"},"key":{"in":"SECRET"}}}`},
	} {
		w := masking(t, Redaction{Name: "own", Pattern: "SECRET"})
		if got := string(w.arguments(mcp.MethodCallTool, json.RawMessage(tc.in), tc.fixed)); got != tc.want {
			t.Errorf("%s with %q fixed\n got %s\nwant %s", tc.in, tc.fixed, got, tc.want)
		}
	}
	refusing := masking(t, Redaction{Name: "own", Pattern: "SECRET", Do: Withhold})
	refusing.arguments(mcp.MethodCallTool, json.RawMessage(`{"arguments":{"key":"SECRET"}}`), []string{"key"})
	if err := refusing.outcome(func(Decision) {}, aboutNothing, "arguments hold"); err != nil {
		t.Errorf("what is fixed is refused: %v", err)
	}
}

func TestWrongRedactions(t *testing.T) {
	for _, tc := range []struct {
		r    Redaction
		want string
	}{
		{Redaction{}, "there is nothing to find; give find or pattern"},
		{Redaction{Find: []string{"mail"}}, `the form "mail" is not known; there are apiKey, creditCard, email, jwt, privateKey`},
		{Redaction{Pattern: "("}, "the pattern cannot be used: missing closing ): `(`"},
		{Redaction{Pattern: "x*"}, "the pattern finds nothing at all as well, so it would be everywhere; let it begin with what is sure to be there"},
	} {
		if err := tc.r.Check(); err == nil || err.Error() != tc.want {
			t.Errorf("%+v: %v", tc.r, err)
		}
	}
}

// FuzzRedact holds that JSON stays JSON, and that what was there to be found is gone.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{`{"a":["SECRET",{"SECRET":"SECRET\u0053"}]}`, `"\\"`, `"\"SECRET"`, ` [ 1 , "x" ] `} {
		f.Add(seed)
	}
	own, err := newRedactor(Redaction{Name: "own", Pattern: "SECRET"})
	if err != nil {
		f.Fatal(err)
	}
	cards, err := newRedactor(Redaction{Find: Forms()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return
		}
		w := &redaction{with: []*redactor{own, cards}, left: maxRedacted}
		out := w.values(json.RawMessage(in), texts{})
		if !json.Valid(out) || len(w.found) == 0 && string(out) != in {
			t.Fatalf("%s becomes %s", in, out)
		}
		if slices.ContainsFunc(w.found, func(h hit) bool { return h.by == own }) {
			again := &redaction{with: []*redactor{own}, left: maxRedacted}
			if again.values(out, texts{}); len(again.found) > 0 {
				t.Errorf("%s becomes %s, which still holds it", in, out)
			}
		}
	})
}
