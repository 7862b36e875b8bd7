package config

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWrongHandling(t *testing.T) {
	const (
		duration = `this must be a duration above zero and up to 24h, such as "30s" or "2m"`
		bytes    = `this must be a size of 1kB to 1000GB, such as "100MB"; units are B, kB, MB and GB`
	)
	for _, tc := range []struct{ settings, want string }{
		{`"cache":true`, "f:1:37: gateway.servers.a.cache: this must be false or an object, not true"},
		{`"cache":[]`, "f:1:37: gateway.servers.a.cache: this must be false or an object, not a list"},
		{`"cache":{"mx":1}`, "f:1:43: gateway.servers.a.cache.mx: this key is not known; did you mean max?"},
		{`"cache":{"max":"1B"}`, "f:1:44: gateway.servers.a.cache.max: " + bytes},
		{`"cache":{"maxTTL":"0s"}`, "f:1:47: gateway.servers.a.cache.maxTTL: " + duration},
		{`"cache":{"lists":5}`, `f:1:46: gateway.servers.a.cache.lists: this must be a duration with its unit, such as "30s", not a number`},
	} {
		c, err := read(`{"gateway":{"servers":{"a":{` + tc.settings + `}}},"mcpServers":{"a":{"command":"x"}}}`)
		if c != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v and\n%v\nwant\n%s", tc.settings, c, err, tc.want)
		}
	}
}

// TestHandling holds what is said of a server, as it stands in the normal form.
func TestHandling(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                          `{}`,
		`{"cache":false}`:             `{"a":{"cache":false}}`,
		`{"cache":{}}`:                `{}`,
		`{"cache":{"lists":"90s"}}`:   `{"a":{"cache":{"lists":"1m30s"}}}`,
		`{"cache":{"max":"2000 kB"}}`: `{"a":{"cache":{"max":"2MB"}}}`,
		`{"cache":{"maxTTL":"60m"}}`:  `{"a":{"cache":{"maxTTL":"1h"}}}`,
	} {
		c, err := read(`{"gateway":{"servers":{"a":` + in + `}},"mcpServers":{"a":{"command":"x"}}}`)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		normal, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Gateway struct{ Servers json.RawMessage }
		}
		if err := json.Unmarshal(normal, &got); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(string(got.Gateway.Servers)), ""); text != want {
			t.Errorf("%s becomes %s, want %s", in, text, want)
		}
	}
}
