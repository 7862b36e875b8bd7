package upstream

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// sayAs is say for a caller.
func sayAs(t *testing.T, set *Set, server, tool, who string) (string, error) {
	t.Helper()
	answer, err := set.Call(t.Context(), server, Call{Method: mcp.MethodCallTool, Params: []byte(`{"name":"` + tool + `"}`), Caller: calling(who)})
	if err != nil {
		return "", err
	}
	var result mcp.CallToolResult
	if err := result.UnmarshalJSON(answer.Result); err != nil {
		t.Fatal(err)
	}
	return result.Text(), nil
}

// alive tells whether a process is there.
func alive(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(n)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

// TestChildOfEachPrincipal holds that each principal has a process of its own, that the death of one is felt by its owner
// alone, and that none is left in the end.
func TestChildOfEachPrincipal(t *testing.T) {
	entry := child(t, "serve", nil)
	set := New([]manager.Server{entry}, Options{
		Dial: Dialing(client.Options{}, nil), Sharing: func(string) Sharing { return Sharing{Share: SharePrincipal} },
	})
	set.Start()
	t.Cleanup(set.Close)
	set.Settled(t.Context())
	pid := func(who string) string {
		t.Helper()
		text, err := sayAs(t, set, "serve", "pid", who)
		if err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		return text
	}
	shared, ada, bob := pid("-"), pid("ada"), pid("bob")
	if shared == ada || ada == bob || bob == shared {
		t.Fatalf("processes %s, %s and %s", shared, ada, bob)
	}
	if again := pid("ada"); again != ada {
		t.Errorf("ada had the process %s and has %s", ada, again)
	}
	if _, err := sayAs(t, set, "serve", "die", "ada"); err == nil {
		t.Error("the call of a process that dies has succeeded")
	}
	if got := pid("bob") + " " + pid("-"); got != bob+" "+shared {
		t.Errorf("the others had %s and %s, and have %s", bob, shared, got)
	}
	next := pid("ada") // waits for the new one
	if next == ada || alive(t, ada) {
		t.Errorf("ada has the process %s after %s", next, ada)
	}
	set.Dismiss("serve")
	until(t, "idle processes end", func() bool { return !alive(t, next) && !alive(t, bob) })
	last := pid("ada")
	set.Close()
	if alive(t, last) || alive(t, shared) {
		t.Error("processes outlive the set")
	}
}

func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !true(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after 10 s: %s", what)
		}
	}
}

// counted is a legacy server over HTTP that counts its handshakes, and the sessions that each request came in.
type counted struct {
	mu         sync.Mutex
	handshakes int
	sessions   map[string]bool
}

// TestNoTwoPrincipalsInASession_C008 holds, against a server of the legacy era over HTTP, that each principal has a session of
// its own: one handshake each, however many calls come side by side, and subscriptions that are its own.
func TestNoTwoPrincipalsInASession_C008(t *testing.T) {
	seen := &counted{sessions: make(map[string]bool)}
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, server.Options{
		Versions:     mcp.LegacyVersions(),
		Capabilities: mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{Subscribe: true}, Logging: &mcp.Capability{}},
	})
	server.AddTool(s, mcp.Tool{Name: "session"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return req.SessionID(), nil
	})
	s.AddResource(mcp.Resource{URI: "memo://x", Name: "x"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	handler := s.Handler()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.mu.Lock()
		if id := r.Header.Get("Mcp-Session-Id"); id != "" {
			seen.sessions[id] = true
		} else if r.Method == http.MethodPost {
			seen.handshakes++
		}
		seen.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	var mu sync.Mutex
	heard := map[string]int{}
	set := New([]manager.Server{{Name: "s", Transport: manager.HTTP, URL: web.URL}}, Options{
		Dial: Dialing(client.Options{Mode: client.Legacy}, nil),
		OnOwnUpdate: func(o *Owner, _, uri string) {
			mu.Lock()
			defer mu.Unlock()
			heard[o.Principal.Subject+" "+uri]++
		},
	})
	set.Start()
	t.Cleanup(set.Close)
	set.Settled(t.Context())
	people := []string{"ada", "bob", "cyd"}
	of := make(map[string]map[string]bool) // sessions, by whose they are
	var calls sync.WaitGroup
	for _, who := range append(people, "-") {
		of[who] = make(map[string]bool)
		for range 8 {
			calls.Go(func() {
				answer, err := set.Call(t.Context(), "s", Call{
					Method: mcp.MethodCallTool, Params: []byte(`{"name":"session"}`), Caller: calling(who),
				})
				if err != nil {
					t.Error(err)
					return
				}
				var result mcp.CallToolResult
				if err := result.UnmarshalJSON(answer.Result); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				of[who][result.Text()] = true
			})
		}
	}
	calls.Wait()
	all := make(map[string]string)
	for who, sessions := range of {
		for id := range sessions {
			if other, taken := all[id]; taken && other != who {
				t.Errorf("%s and %s share the session %s", who, other, id)
			}
			all[id] = who
		}
		if len(sessions) != 1 {
			t.Errorf("%s has the sessions %v", who, sessions)
		}
	}
	seen.mu.Lock()
	if len(seen.sessions) != 4 || seen.handshakes != 4 {
		t.Errorf("%d handshakes and %d sessions", seen.handshakes, len(seen.sessions))
	}
	seen.mu.Unlock()

	set.WatchFor("s", []Want{{calling("ada"), "memo://x"}})
	until(t, "ada is subscribed", func() bool { return len(s.Subscriptions()) == 1 })
	s.ResourceUpdated("memo://x")
	until(t, "ada hears", func() bool { mu.Lock(); defer mu.Unlock(); return heard["ada memo://x"] > 0 })
	mu.Lock()
	defer mu.Unlock()
	if len(heard) != 1 {
		t.Errorf("heard %v", heard)
	}
}

// TestStormOnThePool holds that calls of many callers, reloads, ends of sessions and credentials, and Close may all come at
// once.
func TestStormOnThePool(t *testing.T) {
	n := &inn{rooms: make(map[string][]*fake), sharing: Sharing{Share: ShareSession}, lists: map[string]string{"p1": "x y"}}
	set := New([]manager.Server{entry("a", "x"), entry("b", "x")}, Options{
		Dial:        func(ctx context.Context, s manager.Server) (Conn, error) { return n.open(ctx, s, "") },
		DialFor:     func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) { return n.open(ctx, s, whose(o)) },
		Sharing:     func(string) Sharing { return n.sharing },
		Pool:        PoolLimits{Each: 3, Most: 5, Idle: time.Millisecond},
		OnOwnChange: func(o *Owner, _ Kinds) {},
	})
	set.Start()
	var storm sync.WaitGroup
	for i := range 8 {
		storm.Go(func() {
			for j := range 50 {
				c := calling(fmt.Sprintf("p%d s%d", i, j%3))
				_, _ = set.Call(t.Context(), []string{"a", "b"}[j%2], Call{Method: mcp.MethodCallTool, Caller: c}) // any answer will do
				set.SnapshotsFor(c)
				switch j % 10 {
				case 3:
					set.WatchFor("a", []Want{{c, "memo://x"}})
				case 5:
					set.Dismiss("b")
				case 6:
					set.Prepare(t.Context(), c, time.Second)
					set.Freshen(Tools, c)
				case 7:
					set.EndSession("s1")
				case 8:
					set.DismissOwners(func(who *mcp.Principal) bool { return who.Subject == "p2" })
					set.Renew("a", set.OwnerOf("a", c))
				case 9:
					_, _ = set.Reload([]manager.Server{entry("a", "x"), entry("b", fmt.Sprint("x", j/10))})
				}
			}
		})
	}
	storm.Wait()
	if got := set.pool.counts(); got["a"]+got["b"] > 5 || got["a"] > 3 || got["b"] > 3 {
		t.Errorf("%v connections", got)
	}
	storm.Go(set.Close)
	storm.Go(func() { _, _ = set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: calling("p1")}) })
	storm.Wait()
	for who, rooms := range n.rooms {
		for _, f := range rooms {
			if !f.closed {
				t.Errorf("a connection of %q is left open", who)
			}
		}
	}
}
