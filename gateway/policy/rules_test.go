package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
)

var (
	ann    = &mcp.Principal{Issuer: "https://id.example", Subject: "ann", ClientID: "ide", Scopes: []string{"read", "pay"}, Roles: []string{"finance"}, Claims: json.RawMessage(`{"name":"Ann A.","org":{"id":7}}`)}
	bob    = &mcp.Principal{Subject: "bob", Scopes: []string{"read"}}
	nobody *mcp.Principal
)

func toolEntry(server, name, definition string) bridge.Entry {
	return bridge.Entry{Kind: route.Tool, Target: route.Target{Server: server, Name: name}, Exposed: server + "__" + name, Definition: json.RawMessage(definition)}
}

// call is what a rule is asked about.
func call(who *mcp.Principal, e bridge.Entry, arguments string) *facts {
	return &facts{
		caller: &caller{who: who, info: mcp.Implementation{Name: "ide", Version: "2"}, address: "192.0.2.7"}, method: uses[e.Kind], entry: e, call: true,
		params: json.RawMessage(`{"name":"x","arguments":` + arguments + `}`),
	}
}

func rulesOf(t *testing.T, fallback Action, rules ...Rule) *ruleset {
	t.Helper()
	for i := range rules {
		rules[i].Name = fmt.Sprint("rule ", i)
	}
	set, err := newRuleset(Settings{Rules: rules, Default: fallback}, func(_ context.Context, _ *facts, rule string, err error) { t.Logf("%s: %v", rule, err) })
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestExpressions holds what each variable is.
func TestExpressions(t *testing.T) {
	pay := toolEntry("bank", "pay", `{"name":"pay","annotations":{"readOnlyHint":true,"openWorldHint":false}}`)
	note := bridge.Entry{Kind: route.Resource, Target: route.Target{Server: "files", Name: "memo://one"}, Exposed: "rialto+files:memo://one"}
	greet := bridge.Entry{Kind: route.Prompt, Target: route.Target{Server: "files", Name: "greet"}, Exposed: "greet"}
	const arguments = `{"amount":9007199254740993,"rate":0.5,"huge":18446744073709551615,"to":{"iban":"NL1"},"list":[1,"a"],"flag":true,"none":null}`
	for _, tc := range []struct {
		about *facts
		when  string
		want  string
	}{
		{call(ann, pay, arguments), `principal.known && principal.subject == "ann" && principal.issuer == "https://id.example" && principal.client == "ide"`, "yes"},
		{call(ann, pay, arguments), `principal.name == "Ann A." && principal.claims.org.id == 7`, "yes"},
		{call(bob, pay, arguments), `principal.name == "bob" && !("org" in principal.claims) && principal.roles == []`, "yes"},
		{call(ann, pay, arguments), `"pay" in principal.scopes && principal.roles.exists(r, r.startsWith("fin"))`, "yes"},
		{call(nobody, pay, arguments), `principal.known || principal.subject != "" || principal.name != "" || size(principal.scopes) > 0`, "no"},
		{call(ann, pay, arguments), `client.name == "ide" && client.version == "2" && client.address.startsWith("192.0.2.")`, "yes"},
		{call(ann, pay, arguments), `method == "tools/call" && kind == "tool" && server == "bank" && tool == "pay" && shown == "bank__pay" && prompt == "" && uri == ""`, "yes"},
		{call(ann, note, `{}`), `method == "resources/read" && kind == "resource" && uri == "memo://one" && shown.startsWith("rialto+") && tool == ""`, "yes"},
		{call(ann, greet, `{"a":"b"}`), `method == "prompts/get" && prompt == "greet" && arguments.a == "b"`, "yes"},
		{call(ann, pay, arguments), `annotations.readOnly && !annotations.destructive && !annotations.idempotent && !annotations.openWorld`, "yes"},
		{call(ann, greet, `{}`), `annotations.readOnly`, "no"},
		{call(ann, toolEntry("a", "b", `{}`), `{}`), `annotations.destructive && annotations.openWorld`, "yes"},
		{call(ann, pay, arguments), `arguments.amount == 9007199254740993 && arguments.amount != 9007199254740992 && arguments.rate < 1 && arguments.huge == 18446744073709551615u`, "yes"},
		{call(ann, pay, arguments), `arguments.to.iban == "NL1" && arguments.list[1] == "a" && arguments.flag == true && arguments.none == null && !has(arguments.other)`, "yes"},
		{call(ann, pay, `{"amount":5.0}`), `arguments.amount == 5 && arguments.amount < 6`, "yes"},
		{call(ann, pay, `{"amount":"5"}`), `arguments.amount < 6`, "error"},
		{call(ann, pay, `{}`), `arguments.amount < 6`, "error"},
		{call(ann, pay, arguments), `"A,b".lowerAscii().split(",").exists(x, x == "b")`, "yes"},
	} {
		x, err := compile(tc.when)
		if err != nil {
			t.Errorf("%s: %v", tc.when, err)
			continue
		}
		v, err := x.eval(t.Context(), tc.about)
		got := map[verdict]string{no: "no", yes: "yes", maybe: "maybe"}[v]
		if err != nil {
			got = "error"
		}
		if got != tc.want {
			t.Errorf("%s: got %s (%v), want %s", tc.when, got, err, tc.want)
		}
	}
}

// TestRules holds what the first rule that is true does to a call, and what of that shows in lists.
func TestRules(t *testing.T) {
	pay, look := toolEntry("bank", "pay", `{}`), toolEntry("bank", "look", `{}`)
	small := Rule{When: `tool == "pay" && arguments.amount < 100`, Do: Allow}
	for _, tc := range []struct {
		name   string
		rules  *ruleset
		about  *facts
		call   Action
		listed bool
	}{
		{"no rules", rulesOf(t, ""), call(bob, pay, `{}`), Allow, true},
		{"the default", rulesOf(t, Hide), call(bob, pay, `{}`), Hide, false},
		{"what is denied is listed", rulesOf(t, Deny), call(bob, pay, `{}`), Deny, true},
		{"the first that is true", rulesOf(t, Allow, Rule{When: `tool == "other"`, Do: Deny}, Rule{When: `tool == "pay"`, Do: Hide}, Rule{When: "true", Do: Allow}), call(bob, pay, `{}`), Hide, false},
		{"by scope", rulesOf(t, Hide, Rule{When: `"pay" in principal.scopes`, Do: Allow}), call(ann, pay, `{}`), Allow, true},
		{"without it", rulesOf(t, Hide, Rule{When: `"pay" in principal.scopes`, Do: Allow}), call(bob, pay, `{}`), Hide, false},
		{"arguments that fit", rulesOf(t, Hide, small), call(bob, pay, `{"amount":99}`), Allow, true},
		{"arguments that do not", rulesOf(t, Hide, small), call(bob, pay, `{"amount":100}`), Hide, true},
		{"whatever the arguments, not this tool", rulesOf(t, Hide, small), call(bob, look, `{"amount":1}`), Hide, false},
		{"hidden by arguments is listed", rulesOf(t, Allow, Rule{When: `arguments.amount > 5`, Do: Hide}), call(bob, pay, `{"amount":9}`), Hide, true},
		{"hidden whatever the arguments", rulesOf(t, Allow, Rule{When: `arguments.amount > 5`, Do: Hide}, Rule{When: `server == "bank"`, Do: Hide}), call(bob, pay, `{"amount":1}`), Hide, false},
		{"true whatever the arguments", rulesOf(t, Hide, Rule{When: `server == "bank" || arguments.amount > 5`, Do: Allow}), call(bob, pay, `{}`), Allow, true},
		{"what cannot be evaluated denies", rulesOf(t, Allow, Rule{When: `arguments.amount > 5`, Do: Hide}), call(bob, pay, `{}`), Deny, true},
		{"in a list too", rulesOf(t, Allow, Rule{When: `principal.claims.org == 1`, Do: Hide}), call(bob, pay, `{}`), Deny, false},
		{"too much work denies", rulesOf(t, Allow, Rule{When: `principal.scopes.all(a, arguments.l.all(b, arguments.l.all(c, arguments.l.all(d, b + c + d >= 0))))`, Do: Allow}),
			call(bob, pay, `{"l":[`+strings.Repeat("1,", 200)+`1]}`), Deny, true},
	} {
		if r := tc.rules.decide(t.Context(), tc.about); r.Action != tc.call {
			t.Errorf("%s: a call is %s (%v), want %s", tc.name, r.Action, r.err, tc.call)
		}
		tc.about.call = false
		if got := tc.rules.shows(t.Context(), tc.about); got != tc.listed {
			t.Errorf("%s: listed %v, want %v", tc.name, got, tc.listed)
		}
	}
}

// TestCallersThatShareAView holds that callers are told apart by what the rules use of them, and by nothing else.
func TestCallersThatShareAView(t *testing.T) {
	key := func(set *ruleset, who *mcp.Principal, version string) string {
		c := &caller{who: who, info: mcp.Implementation{Version: version}}
		return c.key(set.names)
	}
	scopes := rulesOf(t, Hide, Rule{When: `"pay" in principal.scopes`, Do: Allow})
	other := *bob
	other.Subject = "bea"
	if key(scopes, bob, "1") != key(scopes, &other, "2") {
		t.Error("two callers with the same scopes do not share")
	}
	if key(scopes, bob, "1") == key(scopes, ann, "1") {
		t.Error("two callers with different scopes share")
	}
	versions := rulesOf(t, Hide, Rule{When: `client.version == "1" && principal.known`, Do: Allow})
	if key(versions, bob, "1") == key(versions, bob, "2") || key(versions, bob, "1") == key(versions, nobody, "1") || key(versions, bob, "1") != key(versions, ann, "1") {
		t.Error("versions")
	}
	split := rulesOf(t, Hide, Rule{When: `principal.subject + principal.client == "x"`, Do: Allow})
	if key(split, &mcp.Principal{Subject: "a", ClientID: "bc"}, "") == key(split, &mcp.Principal{Subject: "ab", ClientID: "c"}, "") {
		t.Error("two callers share, since their traits run into each other")
	}
}

// TestNobodyHasNoClaims holds that one who is not known has a place among those whom claims tell apart.
func TestNobodyHasNoClaims(t *testing.T) {
	org := rulesOf(t, Allow, Rule{When: `has(principal.claims.org)`, Do: Hide})
	if a, b := (&caller{}).key(org.names), (&caller{who: ann}).key(org.names); a == b {
		t.Error("somebody without claims shares with somebody who has some")
	}
}

// TestEveryVariableIsThere holds that the list of variables is that of the code.
func TestEveryVariableIsThere(t *testing.T) {
	for _, v := range Variables() {
		if value, ok := call(nobody, toolEntry("a", "b", ""), "{}").ResolveName(v.Name); !ok || value == nil {
			t.Errorf("%s has no value", v.Name)
		}
		if v.kind.String() != v.Type || v.About == "" {
			t.Errorf("%s is a %s and said to be a %s", v.Name, v.kind, v.Type)
		}
	}
}

// FuzzArguments holds that no arguments stop a rule from being decided.
func FuzzArguments(f *testing.F) {
	x, err := compile(`arguments.a > 5 || arguments.a.b[0] == "x" || arguments.exists(k, arguments[k] == principal.subject)`)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{`{}`, `{"a":6}`, `{"a":{"b":["x"]}}`, `{"a":1e999}`, `{"a":null,"b":"ann"}`, `[]`, `{"a":-0.0}`, `{"a":18446744073709551616}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		if v, err := x.eval(t.Context(), call(ann, toolEntry("a", "b", ""), arguments)); v == maybe || v == yes && err != nil {
			t.Errorf("%s: %v and %v", arguments, v, err)
		}
	})
}
