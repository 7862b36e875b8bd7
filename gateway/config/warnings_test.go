package config

import (
	"slices"
	"strings"
	"testing"
)

// TestWarnings holds what is told of a file that can be used as it is and hardly means what it says. No value is told.
func TestWarnings(t *testing.T) {
	const (
		guess = "where the variable is not set, the default is the secret, and everybody has it who can read this file; take the default away"
		all   = "every name fits this, so the other patterns here say nothing; keep it alone, or take it out"
		most  = "the pattern finds a lone letter or digit, so it is in next to every text; let it name more of what is looked for"
	)
	for _, tc := range []struct{ section, entry, want string }{
		{`{"auth":{"tokens":[{"name":"ann","token":"${TOKEN:-hush-hush-hush-hush}"}]}}`, `{"command":"x"}`, "gateway.auth.tokens[0].token: " + guess},
		{`{"stateKeys":["${KEY:-hush-hush-hush-hush-hush-hush-hush}"]}`, `{"command":"x"}`, "gateway.stateKeys[0]: " + guess},
		{`{"stateKeys":["${KEY:-${OTHER}}"]}`, `{"command":"x"}`, ""},
		{`{}`, `{"url":"https://a.example/","headers":{"Authorization":"Bearer ${TOKEN:-hush}"}}`, "mcpServers.a.headers.Authorization: " + guess},
		{`{}`, `{"url":"https://a.example/","headers":{"X-Region":"${REGION:-eu}","X-Key":"${KEY}"}}`, ""},
		{`{}`, `{"url":"https://a.example/","oauth":{"clientId":"${ID:-me}","clientSecret":"${SECRET:-hush}"}}`, "mcpServers.a.oauth.clientSecret: " + guess},
		{`{}`, `{"command":"x","env":{"DB_PASSWORD":"${P:-hush}","LOG_LEVEL":"${L:-info}"}}`, "mcpServers.a.env.DB_PASSWORD: " + guess},
		{`{}`, `{"command":"x","args":["--token","${T:-hush}","--port","${PORT:-80}"]}`, "mcpServers.a.args[1]: " + guess},
		{`{}`, `{"command":"x","args":["--api-key=${T:-hush}","--empty","${E:-}"]}`, "mcpServers.a.args[0]: " + guess},
		{`{"policy":{"redact":[{"name":"words","pattern":"\\w+"}]}}`, `{"command":"x"}`, "gateway.policy.redact[0].pattern: " + most},
		{`{"policy":{"redact":[{"name":"ids","pattern":"ID-[0-9]+"}]}}`, `{"command":"x"}`, ""},
		{`{"servers":{"a":{"tools":{"allow":["read_*","*"]}}}}`, `{"command":"x"}`, "gateway.servers.a.tools.allow[1]: " + all},
		{`{"servers":{"a":{"tools":{"allow":["*"]},"resources":{"deny":["x","y*"]}}}}`, `{"command":"x"}`, ""},
	} {
		values := map[string]string{"OTHER": strings.Repeat("k", 32)}
		if strings.Contains(tc.entry, `"${KEY}"`) {
			values["KEY"] = "k"
		}
		lookup := func(name string) (string, bool) { value, ok := values[name]; return value, ok }
		c, err := Read(strings.NewReader(`{"gateway":`+tc.section+`,"mcpServers":{"a":`+tc.entry+`}}`), "f", Options{Lookup: lookup})
		if err != nil {
			t.Errorf("%s %s: %v", tc.section, tc.entry, err)
			continue
		}
		got := slices.Clone(c.Warnings)
		for i, w := range got {
			_, got[i], _ = strings.Cut(w, ": ") // past the place
		}
		if strings.Join(got, "\n") != tc.want || strings.Contains(strings.Join(c.Warnings, ""), "hush") {
			t.Errorf("%s %s: warned of %q, want %q", tc.section, tc.entry, c.Warnings, tc.want)
		}
	}
}
