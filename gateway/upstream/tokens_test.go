package upstream

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestTokensOfCallers holds that a connection which was made for what its owner has shown is told apart by the scopes of that, gets
// the newest token of its owner, and is made anew for a token that comes after one that was of no use.
func TestTokensOfCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{sharing: Sharing{Personal: true, ByScopes: true}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		var owners []*Owner
		set.opts.DialFor = func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) {
			owners = append(owners, o)
			if o.Token() == "old" {
				return nil, client.ErrUnauthorized
			}
			return n.open(ctx, s, whose(o))
		}
		call := func(token string, scopes ...string) error {
			who := person("ada")
			who.Scopes = scopes
			_, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: &Caller{Principal: who, Token: func() string { return token }}})
			return err
		}
		if err := call("old", "read"); err == nil {
			t.Error("the old token is of use")
		}
		if err := call("old", "read"); err == nil || len(owners) != 1 {
			t.Errorf("the same token again: %v after %d tries", err, len(owners))
		}
		if err := call("new", "read"); err != nil || len(owners) != 2 {
			t.Errorf("another token: %v after %d tries", err, len(owners))
		}
		if err := call("newer", "read"); err != nil || len(owners) != 2 || owners[1].Token() != "newer" {
			t.Errorf("a newer one: %v after %d tries, of %q", err, len(owners), owners[1].Token())
		}
		if err := call("other", "write", "read"); err != nil || len(owners) != 3 {
			t.Errorf("other scopes: %v after %d tries", err, len(owners))
		}
		if err := call("other", "read", "write"); err != nil || len(owners) != 3 || owners[1].Token() != "newer" {
			t.Errorf("the same in another order: %v after %d tries", err, len(owners))
		}
	})
}

// TestNewTokenOfWhoListens holds that a connection which its owner listens on is tried again at once when the owner comes with another
// token: it is not given up for that, and its next try may be a minute away.
func TestNewTokenOfWhoListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{sharing: Sharing{Personal: true, ByScopes: true}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		set.opts.DialFor = func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) {
			if o.Token() == "old" {
				return nil, client.ErrUnauthorized
			}
			return n.open(ctx, s, whose(o))
		}
		with := func(token string) *Caller {
			return &Caller{Principal: person("ada"), Token: func() string { return token }}
		}
		set.WatchFor("a", []Want{{with("old"), "memo://1"}})
		synctest.Wait()
		begun := time.Now()
		for try := range 2 { // the first one may still find it as it was
			_, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: with("new")})
			synctest.Wait()
			if try == 1 && err != nil {
				t.Errorf("with a new token: %v", err)
			}
		}
		if took := time.Since(begun); took > time.Second || len(n.rooms["ada"]) != 1 || fmt.Sprint(n.rooms["ada"][0].watched) != "[memo://1]" {
			t.Errorf("after %s: %s", took, n.opened())
		}
	})
}

// TestTokensStayWithExchanges holds that the token of a caller is kept where it is exchanged, and nowhere else.
func TestTokensStayWithExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{sharing: Sharing{Personal: true}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		set.opts.DialFor = func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) {
			if o.Token() != "" {
				t.Error("the token is there")
			}
			return n.open(ctx, s, whose(o))
		}
		c := calling("ada")
		c.Token = func() string { return "secret" }
		if _, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: c}); err != nil {
			t.Fatal(err)
		}
	})
}
