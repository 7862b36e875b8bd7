package bridge_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// newHotel makes a world with one server over HTTP that knows each owner of a connection by name, and shows it the tools of
// everybody and one with its name. Callers are told apart by X-Who.
func newHotel(t *testing.T, modern bool, sharing upstream.Sharing) *world {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "hotel", Version: "1"}, server.Options{
		Versions: versions(modern), HTTP: byName,
		Visible: func(_ context.Context, who server.Caller, _ server.ListKind, name string) bool {
			return !strings.HasPrefix(name, "room_of_") || who.Principal != nil && strings.HasPrefix(name, "room_of_"+who.Principal.Subject)
		},
	})
	server.AddTool(s, mcp.Tool{Name: "whoami"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return req.Principal().Subject + " in " + req.SessionID(), nil
	})
	for _, who := range []string{"ann", "bob"} {
		server.AddTool(s, mcp.Tool{Name: "room_of_" + who}, func(context.Context, *server.Request, struct{}) (string, error) { return "key of " + who, nil })
	}
	s.AddResource(mcp.Resource{URI: "memo://x", Name: "x"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	return hotelOf(t, s, sharing)
}

// hotelOf makes a world with one server that takes byName for its HTTP options.
func hotelOf(t *testing.T, s *server.Server, sharing upstream.Sharing) *world {
	t.Helper()
	w := &world{servers: map[string]*server.Server{"hotel": s}}
	url := listen(t, s)
	dial := func(ctx context.Context, who string) (upstream.Conn, error) {
		o := client.Options{Headers: http.Header{"X-Who": {who}}}
		return upstream.Open(o, func(o client.Options) (*client.Client, error) { return client.DialHTTP(ctx, url, o) })
	}
	w.set = upstream.New([]manager.Server{{Name: "hotel"}}, upstream.Options{
		Dial: func(ctx context.Context, _ manager.Server) (upstream.Conn, error) { return dial(ctx, "gateway") },
		DialFor: func(ctx context.Context, _ manager.Server, o *upstream.Owner) (upstream.Conn, error) {
			return dial(ctx, o.Principal.Subject)
		},
		Sharing:     func(string) upstream.Sharing { return sharing },
		OnChange:    func() { w.bridge.Changed() },
		OnUpdate:    func(server, uri string) { w.bridge.Updated(server, uri) },
		OnTask:      func(server, id string) { w.bridge.TaskChanged(server, id) },
		OnOwnChange: func(o *upstream.Owner, k upstream.Kinds) { w.bridge.OwnChanged(o, k) },
		OnOwnUpdate: func(o *upstream.Owner, server, uri string) { w.bridge.OwnUpdated(o, server, uri) },
	})
	w.raise(t, bridge.Options{Server: server.Options{HTTP: byName}})
	return w
}

func whoami(t *testing.T, c *client.Client) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), "whoami", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Text()
}

// TestWhoseConnection holds, in every pairing of eras, whose connection the calls of two principals go over.
func TestWhoseConnection(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		for _, tc := range []struct {
			share        upstream.Share
			legacy, then string // who the server takes ann for, by its era
		}{
			{upstream.ShareSafely, "ann", "gateway"},
			{upstream.ShareAll, "gateway", "gateway"},
			{upstream.SharePrincipal, "ann", "ann"},
			{upstream.ShareSession, "ann", "ann"},
		} {
			t.Run("share "+string(tc.share), func(t *testing.T) {
				w := newHotel(t, upModern, upstream.Sharing{Share: tc.share})
				ann, again, bob := w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "bob", client.Options{})
				want := tc.legacy
				if upModern {
					want = tc.then
				}
				first, second, other := whoami(t, ann), whoami(t, again), whoami(t, bob)
				if !strings.HasPrefix(first, want+" in ") || !strings.HasPrefix(second, want+" in ") {
					t.Errorf("ann is %q and %q, want %s", first, second, want)
				}
				if (first == other) != (want == "gateway") {
					t.Errorf("ann is %q and bob %q", first, other)
				}
				if tc.share == upstream.ShareSession && !modern && !upModern && first == second {
					t.Errorf("two sessions of ann share %q", first)
				}
				if again := whoami(t, ann); again != first {
					t.Errorf("ann was %q and is %q", first, again)
				}
			})
		}
	})
}

// TestListsOfEach holds that each principal sees, and may call, what the server lists for it, and no more; and that a change of
// one's lists is told to that one.
func TestListsOfEach(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newHotel(t, upModern, upstream.Sharing{Share: upstream.SharePrincipal, Personal: true})
		ann, bob := w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "bob", client.Options{})
		callers, subs := map[string]*client.Client{"ann": ann, "bob": bob}, make(map[string]*client.Subscription)
		hears := func(who string) {
			t.Helper()
			if e, err := subs[who].Next(t.Context()); err != nil || e.Kind != client.ToolsChanged {
				t.Errorf("%s hears %+v, %v", who, e, err)
			}
		}
		for who, c := range callers {
			s, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true})
			if err != nil {
				t.Fatal(err)
			}
			subs[who] = s
			got := toolNames(t, c)
			slices.Sort(got)
			if want := []string{"room_of_" + who, "whoami"}; !slices.Equal(got, want) {
				t.Errorf("%s sees %v, want %v", who, got, want)
			}
			if r, err := c.CallTool(t.Context(), "room_of_"+who, nil); err != nil || r.Text() != "key of "+who {
				t.Errorf("%s gets %v, %v", who, r, err)
			}
			hears(who) // that there are lists of its own now, which may be told after they were listed
		}
		if f := fault(t, bob, mcp.MethodCallTool, `{"name":"room_of_ann"}`); f.Code != mcp.CodeInvalidParams {
			t.Errorf("bob in the room of ann: %v", f)
		}
		if got := w.set.Snapshots()[0].Own; got != 2 {
			t.Errorf("%d connections of callers", got)
		}
		server.AddTool(w.servers["hotel"], mcp.Tool{Name: "room_of_ann_2"}, func(context.Context, *server.Request, struct{}) (string, error) { return "", nil })
		hears("ann")
		until(t, "ann sees both rooms", func() bool { return len(toolNames(t, ann)) == 3 })
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if e, err := subs["bob"].Next(ctx); err == nil {
			t.Errorf("bob hears %+v", e)
		}
	})
}

// TestUpdatesOfEach holds that a client hears of its resources over the connection of its principal, and no client of
// another's.
func TestUpdatesOfEach(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newHotel(t, upModern, upstream.Sharing{Share: upstream.SharePrincipal})
		s := w.servers["hotel"]
		_, ann := updates(t, w.dialAs(t, modern, "ann", client.Options{}), "memo://x")
		bobs, bob := updates(t, w.dialAs(t, modern, "bob", client.Options{}), "memo://x")
		listening := func() string {
			var who []string
			s.EachSubscription(func(c server.Caller, uri string) { who = append(who, c.Principal.Subject) })
			slices.Sort(who)
			return fmt.Sprint(who)
		}
		until(t, "both are subscribed, each for itself", func() bool { return listening() == "[ann bob]" })
		s.ResourceUpdatedFor("memo://x", func(c server.Caller) bool { return c.Principal.Subject == "ann" })
		if got := ann(); got != "memo://x" {
			t.Errorf("ann hears of %s", got)
		}
		s.ResourceUpdatedFor("memo://x", func(c server.Caller) bool { return c.Principal.Subject == "bob" })
		if got := bob(); got != "memo://x" {
			t.Errorf("bob hears of %s", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if e, err := bobs.Next(ctx); err == nil {
			t.Errorf("bob hears of something else: %+v", e)
		}
		if err := bobs.Close(); err != nil {
			t.Error(err)
		}
		until(t, "ann alone is subscribed", func() bool { return listening() == "[ann]" })
	})
}

// TestSessionEndsItsConnections holds that the connection of a session ends when its client has gone.
func TestSessionEndsItsConnections(t *testing.T) {
	w := newHotel(t, false, upstream.Sharing{Share: upstream.ShareSession})
	url := listen(t, w.bridge.Server())
	c, err := client.DialHTTP(t.Context(), url, client.Options{Mode: client.Legacy, Headers: http.Header{"X-Who": {"ann"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := whoami(t, c); !strings.HasPrefix(got, "ann in ") {
		t.Errorf("got %q", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	until(t, "its connection is closed", func() bool { return w.set.Snapshots()[0].Own == 0 })
}

// TestNoRoom holds that a caller for whom there is no connection learns why.
func TestNoRoom(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newHotel(t, upModern, upstream.Sharing{Share: upstream.SharePrincipal})
		w.set.LimitPool(upstream.PoolLimits{Each: 1})
		updates(t, w.dialAs(t, modern, "ann", client.Options{}), "memo://x")
		until(t, "ann has the only one", func() bool { return len(w.servers["hotel"].Subscriptions()) == 1 })
		f := fault(t, w.dialAs(t, modern, "bob", client.Options{}), mcp.MethodCallTool, `{"name":"whoami"}`)
		if want := `server "hotel": all connections that it has for single callers are in use (1); try again later`; f.Message != want {
			t.Errorf("bob gets %q", f.Message)
		}
	})
}
