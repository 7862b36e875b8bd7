package policy

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
)

// TestMaskedDemands holds which texts of an error that demands pages are masked.
func TestMaskedDemands(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"nothing but pages", `{"elicitations":[ {"url":"https://example.com/SECRET","message":"SECRET"}]}`, `{"elicitations":[{"url":"https://example.com/SECRET","message":"[redacted own]"}]}`},
		{"what stands beside them", `{"elicitations":[{"url":"https://example.com/SECRET"}],"detail":{"url":"SECRET"}}`, `{"elicitations":[{"url":"https://example.com/SECRET"}],"detail":{"url":"[redacted own]"}}`},
		{"no page", `{"elicitations":[ ],"detail":"SECRET"}`, `{"elicitations":[ ],"detail":"[redacted own]"}`},
		{"pages that are no list", `{"elicitations":{"x":"SECRET"}}`, `{"elicitations":{"x":"[redacted own]"}}`},
		{"a page that is none", `{"elicitations":["SECRET"]}`, `{"elicitations":["[redacted own]"]}`},
		{"data that are no object", `["SECRET"]`, `["[redacted own]"]`},
		{"no data", ``, ``},
	} {
		m, _ := inMidst(t, Redaction{Name: "own", Pattern: "SECRET"})
		q := &questions{asking: &asking{policy: m.policy}, ctx: t.Context(), server: "a", midst: m}
		err := q.pages(&mcp.Error{Code: mcp.CodeURLElicitationRequired, Remote: true, Data: json.RawMessage(tc.in)})
		var f *mcp.Error
		if !errors.As(err, &f) || string(f.Data) != tc.want {
			t.Errorf("%s: got %v with %s, want %s", tc.name, err, f.Data, tc.want)
		}
	}
}

// TestMaskedBesideQuestions holds which texts are masked of a question that comes with others, and that all else stays byte for byte.
func TestMaskedBesideQuestions(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"nothing to be found", `{"q" : {"method":"elicitation/create","params":{},"note":"x"}}`, `{"q" : {"method":"elicitation/create","params":{},"note":"x"}}`},
		{"what a server adds", `{"q":{"note":"SECRET","method":"elicitation/create","params":{"message":"x"},"more":{"params":"SECRET"}}}`,
			`{"q":{"note":"[redacted own]","method":"elicitation/create","params":{"message":"x"},"more":{"params":"[redacted own]"}}}`},
		{"parameters too", `{"q":{"method":"elicitation/create","params":{"message":"SECRET"},"note":"SECRET"}}`, `{"q":{"method":"elicitation/create","params":{"message":"[redacted own]"},"note":"[redacted own]"}}`},
		{"parameters that are no object", `{"q":{"method":"elicitation/create","params":["SECRET"]}}`, `{"q":{"method":"elicitation/create","params":["[redacted own]"]}}`},
		{"a method that is none", `{"q":{"method":{"x":"SECRET"}}}`, `{"q":{"method":{"x":"[redacted own]"}}}`},
		{"a question that is none", `{"q":"SECRET"}`, `{"q":"[redacted own]"}`},
	} {
		m, _ := inMidst(t, Redaction{Name: "own", Pattern: "SECRET"})
		q := &questions{asking: &asking{policy: m.policy}, ctx: t.Context(), server: "a", midst: m}
		if got, no, _ := q.sift(json.RawMessage(tc.in)); string(got) != tc.want || len(no) > 0 {
			t.Errorf("%s: got %s, %v, want %s", tc.name, got, no, tc.want)
		}
	}
	m, _ := inMidst(t, Redaction{Name: "own", Pattern: "SECRET", Do: Withhold})
	q := &questions{asking: &asking{policy: m.policy}, ctx: t.Context(), server: "a", midst: m}
	const all = `{"user":{"method":"elicitation/create","note":"SECRET"},"model":{"method":"sampling/createMessage","note":"SECRET"},"roots":{"method":"roots/list"}}`
	if got, no, _ := q.sift(json.RawMessage(all)); string(got) != `{"roots":{"method":"roots/list"}}` || len(no) != 2 || no["user"] != nil || no["model"] == nil {
		t.Errorf("refused: got %s, %v", got, no)
	}
}
