package upstream

import (
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/mcp"
)

// TestDismiss holds that credentials that hold no longer end with the connections that were opened with them.
func TestDismiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{}, entry("a", "x"), entry("b", "x"))
		ask(t, set, "a", "ada")
		ask(t, set, "b", "bob")
		set.Dismiss("a")
		synctest.Wait()
		if got := n.opened(); got != "ada closed 1, bob 1, gateway 2" {
			t.Errorf("got %s", got)
		}
		if got := ask(t, set, "a", "ada"); got != "a of ada" {
			t.Errorf("ada gets %q", got)
		}
	})
}

// TestEndOfASession holds that the connection of a session ends with it.
func TestEndOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{sharing: Sharing{Share: ShareSession}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		for _, who := range []string{"ada s1", "ada s2", "ada"} {
			ask(t, set, "a", who)
		}
		set.EndSession("s1")
		set.EndSession("")
		synctest.Wait()
		if got := n.opened(); got != "ada 1, ada s1 closed 1, ada s2 1, gateway 1" {
			t.Errorf("got %s", got)
		}
	})
}

// TestDismissOwners holds that the connections of callers end who may not call any more, of all their sessions, and no others.
func TestDismissOwners(t *testing.T) {
	for _, tc := range []struct{ gone, want string }{
		{"ada", "ada closed 2, ada s1 closed 1, bob s3 1, gateway 2, s4 1"},
		{"", "ada 2, ada s1 1, bob s3 1, gateway 2, s4 closed 1"}, // who has no principal, once callers have names
	} {
		synctest.Test(t, func(t *testing.T) {
			n := &inn{sharing: Sharing{Share: ShareSession}}
			set := n.raise(t, PoolLimits{}, entry("a", "x"), entry("b", "x"))
			for _, who := range []string{"ada s1", "ada", "bob s3", "- s4"} {
				ask(t, set, "a", who)
			}
			ask(t, set, "b", "ada")
			set.DismissOwners(func(who *mcp.Principal) bool {
				if who == nil {
					return tc.gone == ""
				}
				return who.Subject == tc.gone
			})
			synctest.Wait()
			if got := n.opened(); got != tc.want {
				t.Errorf("%q is gone: %s, want %s", tc.gone, got, tc.want)
			}
		})
	}
}
