package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// seen shows the tools that somebody has, and whether they are others than everybody's.
func seen(set *Set, who string) string {
	snaps, own := set.SnapshotsFor(calling(who))
	if !own {
		snaps = set.Snapshots()
	}
	var out []string
	for _, s := range snaps {
		out = append(out, fmt.Sprintf("%s%v", s.Name, keysOf(s.Lists.Tools)))
	}
	if own {
		out = append(out, "(own)")
	}
	return strings.Join(out, " ")
}

// TestOwnLists holds that what a server lists for one caller is shown to that one, and news of it told to nobody else.
func TestOwnLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{lists: map[string]string{"ada": "x y"}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"), entry("b", "x"))
		want := func(who, want string) {
			t.Helper()
			synctest.Wait()
			if got := seen(set, who); got != want {
				t.Errorf("%s sees %s, want %s", who, got, want)
			}
		}
		heard := func(want ...string) {
			t.Helper()
			synctest.Wait()
			n.mu.Lock()
			defer n.mu.Unlock()
			if !slices.Equal(n.heard, want) {
				t.Errorf("heard %q, want %q", n.heard, want)
			}
			n.heard = nil
		}
		want("ada", "a[x] b[x]") // nobody has asked for her
		ask(t, set, "a", "ada")
		ask(t, set, "a", "bob")
		heard("ada: lists")
		want("ada", "a[x y] b[x] (own)")
		want("bob", "a[x] b[x]")
		want("-", "a[x] b[x]")

		n.rooms["bob"][0].change(tools("x", "z"))
		time.Sleep(time.Second)
		heard("bob: lists")
		want("bob", "a[x z] b[x] (own)")
		want("ada", "a[x y] b[x] (own)")
		want("-", "a[x] b[x]")

		n.rooms["bob"][0].change(tools("x"))
		time.Sleep(time.Second)
		heard("bob: lists")
		want("bob", "a[x] b[x]")
	})
}

// TestOwnListsOfALostConnection holds that lists of one caller outlive their connection for a while, like all lists.
func TestOwnListsOfALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{lists: map[string]string{"ada": "x y"}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		ask(t, set, "a", "ada")
		set.opts.DialFor = func(context.Context, manager.Server, *Owner) (Conn, error) { return nil, errors.New("nobody at home") }
		n.rooms["ada"][0].die("it fell over")
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if got := seen(set, "ada"); got != "a[x y] (own)" {
			t.Errorf("after 29 s ada sees %s", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := seen(set, "ada"); got != "a[x]" {
			t.Errorf("after 31 s ada sees %s", got)
		}
		if want := []string{"ada: lists", "ada: lists"}; !slices.Equal(n.heard, want) {
			t.Errorf("heard %q", n.heard)
		}
	})
}

// TestPrepare holds that the lists of a caller are read before they are shown, where a server is known to have different ones,
// and where it is called with credentials of each caller.
func TestPrepare(t *testing.T) {
	for _, tc := range []struct {
		name    string
		sharing Sharing
		others  bool // somebody has met other lists before
		want    string
	}{
		{"a server like others", Sharing{}, false, "a[x]"},
		{"a server that lists differently", Sharing{}, true, "a[x y] (own)"},
		{"a server with credentials of each", Sharing{Personal: true}, false, "a[x y] (own)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &inn{sharing: tc.sharing, lists: map[string]string{"ada": "x y", "bob": "x z"}}
				set := n.raise(t, PoolLimits{}, entry("a", "x"))
				if tc.others {
					ask(t, set, "a", "bob")
				}
				set.Prepare(t.Context(), calling("ada"), time.Minute)
				set.Prepare(t.Context(), calling("-"), time.Minute)
				if got := seen(set, "ada"); got != tc.want {
					t.Errorf("ada sees %s, want %s", got, tc.want)
				}
			})
		})
	}
}

// TestHiddenToolsOfOne holds that tools that an entry takes away are not there for callers with connections of their own either,
// also when that is said while they stand.
func TestHiddenToolsOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{lists: map[string]string{"ada": "x y"}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		ask(t, set, "a", "ada")
		ask(t, set, "a", "bob")
		for hidden, want := range map[string]string{"y": "a[x], a[x]", "x": "a[y] (own), a[]", "": "a[x y] (own), a[x]"} {
			after := entry("a", "x")
			after.DisabledTools = []string{hidden}
			if _, err := set.Reload([]manager.Server{after}); err != nil {
				t.Fatal(err)
			}
			got := seen(set, "ada") + ", " + seen(set, "bob")
			if strings.ReplaceAll(got, "a[x] (own)", "a[x]") != want {
				t.Errorf("without %q: %s, want %s", hidden, got, want)
			}
		}
	})
}

// TestUpdatesOfOne holds that each caller hears of its own resources, over its own connection, and nobody of another's.
func TestUpdatesOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		set.WatchFor("a", []Want{{calling("ada"), "memo://2"}, {calling("ada"), "memo://1"}, {calling("bob"), "memo://1"}, {nil, "memo://3"}, {calling("ada"), "memo://1"}})
		time.Sleep(time.Second)
		synctest.Wait()
		for who, want := range map[string]string{"ada": "[memo://1 memo://2]", "bob": "[memo://1]", "": "[memo://3]"} {
			if got := fmt.Sprint(n.rooms[who][0].watched); got != want {
				t.Errorf("%q watches %s, want %s", who, got, want)
			}
		}
		n.rooms["ada"][0].updated("memo://1")
		n.rooms[""][0].updated("memo://3")
		if want := []string{"ada: a memo://1", "all: a memo://3"}; !slices.Equal(n.heard, want) {
			t.Errorf("heard %q", n.heard)
		}
		n.rooms["ada"][0].die("it fell over")
		time.Sleep(time.Second)
		synctest.Wait()
		if got := fmt.Sprint(n.rooms["ada"][1].watched); got != "[memo://1 memo://2]" {
			t.Errorf("the new connection watches %s", got)
		}
		set.WatchFor("a", []Want{{calling("bob"), "memo://1"}})
		synctest.Wait()
		if got := fmt.Sprint(n.rooms["ada"][1].watched, n.rooms["bob"][0].watched, n.rooms[""][0].watched); got != "[] [memo://1] []" {
			t.Errorf("then they watch %s", got)
		}
	})
}

// TestAbsent holds what a caller sees whose connection could not be made, and that its own lists take the place of that.
func TestAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{sharing: Sharing{Personal: true}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		set.opts.Absent = func(string, *Owner) *Lists {
			return &Lists{Tools: []Item{{Key: "sign_in", Raw: []byte(`{"name":"sign_in"}`)}}}
		}
		let := false
		set.opts.DialFor = func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) {
			if !let {
				return nil, client.ErrUnauthorized
			}
			return n.open(ctx, s, whose(o))
		}
		set.Prepare(t.Context(), calling("ada"), time.Minute)
		if got := seen(set, "ada") + ", " + seen(set, "bob"); got != "a[sign_in] (own), a[x]" {
			t.Errorf("they see %s", got)
		}
		let = true
		set.Renew("a", set.OwnerOf("a", calling("ada")))
		set.Prepare(t.Context(), calling("ada"), time.Minute)
		if got := seen(set, "ada"); got != "a[x]" {
			t.Errorf("then ada sees %s", got)
		}
		let = false
		n.rooms["ada"][0].die("it fell over")
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if got := seen(set, "ada"); got != "a[sign_in] (own)" {
			t.Errorf("after the end of her login ada sees %s", got)
		}
	})
}
