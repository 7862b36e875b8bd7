package config

import (
	"strings"
	"testing"
)

func TestWrongPolicies(t *testing.T) {
	rule := func(members string) string { return `{"rules":[{"name":"r","do":"deny",` + members + `}]}` }
	limit := func(members string) string { return `{"rateLimits":[{"name":"l",` + members + `}]}` }
	const at = "f:1:"
	for _, tc := range []struct{ section, want string }{
		{`[]`, "gateway.policy: this must be an object, not a list"},
		{`{"rule":[]}`, "gateway.policy.rule: this key is not known; did you mean rules?"},
		{`{"default":"no"}`, "gateway.policy.default: write allow, deny or hide"},
		{`{"rules":{}}`, "gateway.policy.rules: this must be a list, not an object"},
		{`{"rules":["x"]}`, "gateway.policy.rules[0]: this must be an object, not text in quotes"},
		{`{"rules":[{"name":"r"}]}`, "gateway.policy.rules[0]: when is missing\nf:1:32: gateway.policy.rules[0]: do is missing"},
		{`{"rules":[{"name":"r","when":"true","do":"deny"},{"name":"r","when":"true","do":"deny"}]}`,
			`gateway.policy.rules[1].name: there is another rule of the name "r"; give each its own`},
		{rule(`"when":"tool == 'a' &&"`), "gateway.policy.rules[0].when: at 1:15 of the expression: Syntax error: mismatched input '<EOF>'"},
		{rule(`"when":"tol == 'a'"`), "gateway.policy.rules[0].when: at 1:1 of the expression: undeclared reference to 'tol' (did you mean 'tool'?)"},
		{rule(`"when":"principal.scope == 'a'"`), "gateway.policy.rules[0].when: at 1:10 of the expression: undeclared reference to 'principal.scope' (did you mean 'principal.scopes'?); " +
			"principal has known, subject, issuer, client, name, scopes, roles, claims"},
		{rule(`"when":"tool == 5"`), "gateway.policy.rules[0].when: at 1:6 of the expression: found no matching overload for '_==_' applied to '(string, int)'"},
		{rule(`"when":"tool"`), "gateway.policy.rules[0].when: the expression is of type string; it must be true or false, so compare it with something"},
		{rule(`"when":" "`), "gateway.policy.rules[0].when: the expression is empty; write true for a rule that always holds"},
		{rule(`"when":"tool.matches('[')"`), "gateway.policy.rules[0].when: the expression cannot be used: "},
		{`{"ask":{"forms":1}}`, "gateway.policy.ask.forms: this must be true or false, not a number"},
		{`{"ask":{"pages":"x"}}`, "gateway.policy.ask.pages: write true, false, or a list of hosts"},
		{`{"ask":{"pages":["https://x"]}}`, "gateway.policy.ask.pages[0]: this must be the name of a host, or *. and the end of one, such as *.example.com"},
		{`{"ask":{"pages":[]}}`, "gateway.policy.ask.pages: the list is empty; write false for no pages"},
		{`{"ask":{"maxTokens":-1}}`, "gateway.policy.ask.maxTokens: the number of tokens must be from 0 to 1000000000"},
		{`{"ask":{"servers":{"a":{}}}}`, "gateway.policy.ask.servers.a: there is no server of this name in the file; remove it"},
		{`{"scan":"no"}`, "gateway.policy.scan: write warn, hide or off"},
		{`{"scan":{"do":"hide","ignore":[""]}}`, "gateway.policy.scan.ignore[0]: write server/name, or the name of a server"},
		{`{"scan":1}`, "gateway.policy.scan: this must be an object, not a number"},
		{`{"redact":[{"name":"x"}]}`, "gateway.policy.redact[0]: there is nothing to find; give find or pattern"},
		{`{"redact":[{"name":"x","find":["mail"]}]}`, `gateway.policy.redact[0].find[0]: the form "mail" is not known; there are apiKey, creditCard, email, jwt, privateKey`},
		{`{"redact":[{"name":"x","pattern":"("}]}`, "gateway.policy.redact[0].pattern: the pattern cannot be used: missing closing ): `(`"},
		{`{"redact":[{"name":"x","find":"email","in":"logs"}]}`, `gateway.policy.redact[0].in: "logs" is not known; write arguments, results or both`},
		{`{"redact":[{"name":"x","find":"email","servers":["a"]}]}`, "gateway.policy.redact[0].servers[0]: there is no server of this name in the file; remove it"},
		{`{"pin":{}}`, "gateway.policy.pin: the pins need a file; write {\"file\": \"rialto-tools.lock.json\"}"},
		{`{"pin":{"file":"x","onChange":"hide"}}`, "gateway.policy.pin.onChange: write refuse or warn"},
		{`{"rateLimits":[{"name":" ","rate":"1/s"}]}`, "gateway.policy.rateLimits[0].name: the name is empty; logs tell by it what has decided"},
		{limit(`"per":"user","rate":"1/s"`), "gateway.policy.rateLimits[0].per: write principal, session, address, server or tool"},
		{limit(`"per":["tool","user"],"rate":"1/s"`), "gateway.policy.rateLimits[0].per[1]: write principal, session, address, server or tool"},
		{limit(`"rate":"10"`), "gateway.policy.rateLimits[0].rate: write how many in what time: 10/s, 60/m or 1000/h"},
		{limit(`"rate":"0/s"`), "gateway.policy.rateLimits[0].rate: write how many in what time: 10/s, 60/m or 1000/h"},
		{limit(`"rate":"1/s","burst":0`), "gateway.policy.rateLimits[0].burst: the burst must be from 1 to 1000000"},
	} {
		c, err := read(`{"gateway":{"policy":` + tc.section + `},"mcpServers":{}}`)
		if c != nil || err == nil || !strings.HasPrefix(err.Error(), at) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v and\n%v\nwant\n%s", tc.section, c, err, tc.want)
		}
	}
}
