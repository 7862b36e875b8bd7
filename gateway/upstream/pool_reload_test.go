package upstream

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// TestReloadOfThePool holds what a reload does to the connections of callers: what leads to the same server keeps them.
func TestReloadOfThePool(t *testing.T) {
	before := []manager.Server{entry("a", "x"), entry("b", "x")}
	hidden := entry("a", "x")
	hidden.DisabledTools = []string{"x"}
	for _, tc := range []struct {
		name  string
		after []manager.Server
		want  string // at once
		then  string // ada calls a
	}{
		{"nothing", before, "ada 1, gateway 2", "a of ada"},
		{"fewer tools", []manager.Server{hidden, before[1]}, "ada 1, gateway 2", "a of ada"},
		{"another entry", []manager.Server{entry("a", "x y"), before[1]}, "ada closed 1, gateway 3", "a of ada"},
		{"gone", before[1:], "ada closed 1, gateway 2", `no such server: "a" (the call has not been begun)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &inn{}
				set := n.raise(t, PoolLimits{}, before...)
				ask(t, set, "a", "ada")
				if _, err := set.Reload(tc.after); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if got := n.opened(); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
				if got := ask(t, set, "a", "ada"); got != tc.then {
					t.Errorf("ada gets %q, want %q", got, tc.then)
				}
			})
		})
	}
}

// TestReloadUnderACallOfOne holds that the call of a caller outlives a reload by Options.Drain, on the connection that it has.
func TestReloadUnderACallOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{hold: make(chan struct{})}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		got := make(chan string, 1)
		go func() { got <- ask(t, set, "a", "ada") }() // ends with hold
		synctest.Wait()
		if _, err := set.Reload([]manager.Server{entry("a", "x y")}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if o := n.opened(); o != "ada 1, gateway 2" {
			t.Errorf("got %s", o)
		}
		close(n.hold)
		if answer := <-got; answer != "a of ada" {
			t.Errorf("ada gets %q", answer)
		}
		synctest.Wait()
		if o := n.opened(); o != "ada closed 1, gateway 2" {
			t.Errorf("then %s", o)
		}
	})
}
