package upstream

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestWhoIsOnAConnection holds who shares a connection with whom, by the setting and by what the server keeps.
func TestWhoIsOnAConnection(t *testing.T) {
	callers := []string{"-", "ada", "bob", "ada", "ada s1", "ada s2", "- s3", "bob s4"}
	for _, tc := range []struct {
		name      string
		sharing   Sharing
		stateless bool
		want      string // who answers whom
	}{
		{"safely, a server with state", Sharing{}, false, "gateway, ada, bob, ada, ada, ada, gateway, bob"},
		{"safely, a server without", Sharing{}, true, "gateway, gateway, gateway, gateway, gateway, gateway, gateway, gateway"},
		{"all", Sharing{Share: ShareAll}, false, "gateway, gateway, gateway, gateway, gateway, gateway, gateway, gateway"},
		{"principal", Sharing{Share: SharePrincipal}, true, "gateway, ada, bob, ada, ada, ada, gateway, bob"},
		{"session", Sharing{Share: ShareSession}, true, "gateway, ada, bob, ada, ada s1, ada s2, s3, bob s4"},
		{"session, with credentials of each", Sharing{Share: ShareSession, Personal: true}, true, "gateway, ada, bob, ada, ada s1, ada s2, gateway, bob s4"},
		{"all, with credentials of each", Sharing{Share: ShareAll, Personal: true}, true, "gateway, ada, bob, ada, ada, ada, gateway, bob"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &inn{sharing: tc.sharing, stateless: tc.stateless}
				set := n.raise(t, PoolLimits{}, entry("a", "x"))
				if got := n.opened(); got != "gateway 1" {
					t.Errorf("before the first call: %s", got)
				}
				var got []string
				for _, who := range callers {
					_, by, _ := strings.Cut(ask(t, set, "a", who), "a of ")
					if by == "" {
						by = "gateway"
					}
					got = append(got, by)
				}
				if strings.Join(got, ", ") != tc.want {
					t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), tc.want)
				}
				for who, rooms := range n.rooms {
					if len(rooms) != 1 {
						t.Errorf("%d connections of %q", len(rooms), who)
					}
				}
			})
		})
	}
}

// TestPrincipalsWithEqualNames holds that names of two issuers, and of two clients, are two principals.
func TestPrincipalsWithEqualNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		for _, p := range []*mcp.Principal{
			{Issuer: "here", Subject: "ada"}, {Issuer: "there", Subject: "ada"}, {Issuer: "here", Subject: "ada", ClientID: "desk"},
			{Issuer: "here", Subject: "ada", Scopes: []string{"more"}}, // the first one again
		} {
			if _, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: &Caller{Principal: p}}); err != nil {
				t.Fatal(err)
			}
		}
		if got := n.opened(); got != "ada 3, gateway 1" {
			t.Errorf("got %s", got)
		}
	})
}

// TestOwnersAreApart holds that no two owners have one key, whatever is in their names.
func TestOwnersAreApart(t *testing.T) {
	type who struct {
		principal mcp.Principal
		session   string
	}
	keys := make(map[string]who)
	for _, w := range []who{
		{mcp.Principal{Subject: "a"}, "b"},
		{mcp.Principal{Subject: "a/b"}, ""},
		{mcp.Principal{Subject: "a/"}, "b"},
		{mcp.Principal{Issuer: "a", Subject: "b"}, ""},
		{mcp.Principal{Issuer: "a1:b", Subject: ""}, ""},
		{mcp.Principal{Issuer: "", Subject: "a1:b0:"}, ""},
		{mcp.Principal{Subject: "a", ClientID: "b"}, ""},
		{mcp.Principal{Subject: "a", Scopes: []string{"b"}}, ""},
		{mcp.Principal{Subject: "a b"}, ""},
		{mcp.Principal{Subject: "a", Scopes: []string{"b c"}}, ""},
		{mcp.Principal{Subject: "a", Scopes: []string{"b", "c"}}, ""},
		{mcp.Principal{Subject: "a", Scopes: []string{`b" "c`}}, ""},
		{mcp.Principal{Subject: "a"}, ""},
	} {
		set := New([]manager.Server{entry("a", "x")}, Options{Sharing: func(string) Sharing {
			return Sharing{Share: ShareSession, Personal: true, ByScopes: true}
		}})
		key := set.OwnerOf("a", &Caller{Principal: &w.principal, Session: w.session}).Key()
		if other, taken := keys[key]; taken {
			t.Errorf("%v and %v have the key %q", other, w, key)
		}
		keys[key] = w
		set.Close()
	}
}
