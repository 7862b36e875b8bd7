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
		{`"breaker":true`, "f:1:39: gateway.servers.a.breaker: this must be false or an object, not true"},
		{`"breaker":{"failures":-1}`, "f:1:51: gateway.servers.a.breaker.failures: this must be from 0 to 10000"},
		{`"breaker":{"rate":50}`, "f:1:47: gateway.servers.a.breaker.rate: this must be a share of all calls from 0 to 1, such as 0.5; 0 counts only failures in a row"},
		{`"breaker":{"probes":0}`, "f:1:49: gateway.servers.a.breaker.probes: this must be from 1 to 10000"},
		{`"breaker":{"pause":"0s"}`, "f:1:48: gateway.servers.a.breaker.pause: " + duration},
		{`"retry":3`, "f:1:37: gateway.servers.a.retry: this must be false or an object, not a number"},
		{`"retry":{"attempts":11}`, "f:1:49: gateway.servers.a.retry.attempts: this must be from 0 to 10"},
		{`"maxInFlight":0`, "f:1:43: gateway.servers.a.maxInFlight: this must be from 1 to 100000"},
		{`"queue":5`, "f:1:37: gateway.servers.a.queue: this must be false or an object, not a number"},
		{`"queue":{"size":5}`, "f:1:45: gateway.servers.a.queue.size: this key is not known; known are max, wait"},
		{`"health":{}`, `f:1:38: gateway.servers.a.health: say how often; write {"every": "30s"}`},
		{`"health":{"every":"10ms"}`, "f:1:47: gateway.servers.a.health.every: this must be 1s or more"},
		{`"health":{"every":"30s","failures":0}`, "f:1:64: gateway.servers.a.health.failures: this must be from 1 to 10000"},
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
		`{}`: `{}`,
		`{"breaker":false,"retry":false,"queue":false,"health":false}`:                                                 `{"a":{"breaker":false,"retry":{"attempts":0},"queue":{"max":0}}}`,
		`{"breaker":{"failures":0,"rate":0}}`:                                                                          `{"a":{"breaker":{"failures":0,"rate":0}}}`,
		`{"breaker":{"failures":3,"rate":0.25,"volume":4,"window":"90s","pause":"1s","longestPause":"1m","probes":2}}`: `{"a":{"breaker":{"failures":3,"rate":0.25,"volume":4,"window":"1m30s","pause":"1s","longestPause":"1m","probes":2}}}`,
		`{"retry":{"attempts":0}}`:                                                                                     `{"a":{"retry":{"attempts":0}}}`,
		`{"retry":{"attempts":1,"pause":"100ms","longestPause":"5s"}}`:                                                 `{"a":{"retry":{"attempts":1,"pause":"100ms","longestPause":"5s"}}}`,
		`{"maxInFlight":4,"queue":{"max":10,"wait":"5s"}}`:                                                             `{"a":{"maxInFlight":4,"queue":{"max":10,"wait":"5s"}}}`,
		`{"health":{"every":"30s","timeout":"2s","failures":5}}`:                                                       `{"a":{"health":{"every":"30s","timeout":"2s","failures":5}}}`,
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
