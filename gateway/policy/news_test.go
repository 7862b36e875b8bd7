package policy

import (
	"testing"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestHears holds who goes on to hear of a resource under rules that know nothing but who listens: a rule that depends on more has
// let the subscription begin, and is taken to do so still where it allows.
func TestHears(t *testing.T) {
	rule := func(when string, do Action) Rule { return Rule{Name: when, When: when, Do: do} }
	for _, tc := range []struct {
		name     string
		rules    []Rule
		fallback Action
		want     bool
	}{
		{"allowed", []Rule{rule(`principal.subject == "bob"`, Allow)}, Deny, true},
		{"for nobody", nil, Deny, false},
		{"denied", []Rule{rule(`uri == "memo://1"`, Deny)}, Allow, false},
		{"hidden", []Rule{rule(`uri == "memo://1"`, Hide)}, Allow, false},
		{"denied by the program", []Rule{rule(`client.name == "x"`, Deny)}, Allow, true},
		{"allowed by the program", []Rule{rule(`client.name == "x"`, Allow)}, Deny, true},
		{"allowed by its version and the resource", []Rule{rule(`client.version == "1" && uri == "memo://2"`, Allow)}, Deny, false},
		{"allowed by the address", []Rule{rule(`client.address == "127.0.0.1"`, Allow)}, Hide, true},
		{"allowed by the method", []Rule{rule(`method == "resources/subscribe"`, Allow)}, Hide, true},
		{"denied for what is unknown, after it was allowed", []Rule{rule(`uri == "memo://1"`, Allow), rule(`method == "x"`, Deny)}, Deny, true},
		{"by an argument, which there is not", []Rule{rule(`arguments.n == 1`, Allow)}, Deny, true},
	} {
		set, err := newRuleset(Settings{Rules: tc.rules, Default: tc.fallback}, nil)
		if err != nil {
			t.Fatal(err)
		}
		l := &laid{rules: set}
		who := server.Caller{Principal: &mcp.Principal{Subject: "bob"}}
		if got := l.hears(who, bridge.Entry{Kind: route.Resource, Target: route.Target{Server: "a", Name: "memo://1"}}); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}
