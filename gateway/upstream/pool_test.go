package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// inn is a server with rooms: each connection knows whose it is and answers with that.
type inn struct {
	mu    sync.Mutex
	rooms map[string][]*fake // by whose they are, "" for the gateway's own, in the order they were opened
	lists map[string]string  // the tools of somebody, where they are not "x"
	heard []string
	hold  chan struct{} // holds calls of tools; nil does not

	stateless bool
	sharing   Sharing
}

// statelessFake is a connection whose server keeps nothing between calls.
type statelessFake struct{ *fake }

func (statelessFake) Stateful() bool { return false }

func (n *inn) open(ctx context.Context, s manager.Server, whose string) (Conn, error) {
	if s.Command == "" {
		return nil, errors.New("nobody at home")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	has := "x"
	if own := n.lists[whose]; own != "" {
		has = own
	}
	f := newFake(tools(strings.Fields(has)...))
	f.call = func(Call) (*Answer, error) {
		n.mu.Lock()
		hold := n.hold
		n.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-f.done:
				return nil, mcp.CodeConnectionClosed
			}
		}
		return &Answer{Result: fmt.Appendf(nil, `%q`, s.Name+" of "+whose)}, nil
	}
	n.rooms[whose] = append(n.rooms[whose], f)
	if n.stateless {
		return statelessFake{f}, nil
	}
	return f, nil
}

func whose(o *Owner) string {
	out := o.Session
	if o.Principal != nil {
		out = strings.TrimSpace(o.Principal.Subject + " " + o.Session)
	}
	return out
}

func (n *inn) hear(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = append(n.heard, what)
}

// raise makes a set of servers and connects to them. It must run in a bubble.
func (n *inn) raise(t *testing.T, limits PoolLimits, servers ...manager.Server) *Set {
	n.rooms = make(map[string][]*fake)
	set := New(servers, Options{
		Dial:        func(ctx context.Context, s manager.Server) (Conn, error) { return n.open(ctx, s, "") },
		DialFor:     func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) { return n.open(ctx, s, whose(o)) },
		Sharing:     func(string) Sharing { return n.sharing },
		Pool:        limits,
		OnOwnChange: func(o *Owner, k Kinds) { n.hear(whose(o) + ": lists") },
		OnOwnUpdate: func(o *Owner, server, uri string) { n.hear(whose(o) + ": " + server + " " + uri) },
		OnUpdate:    func(server, uri string) { n.hear("all: " + server + " " + uri) },
		OnState:     func(s Status) { n.hear("state of " + s.Name + " " + string(s.State)) },
	})
	set.Start()
	t.Cleanup(set.Close)
	set.Settled(t.Context())
	synctest.Wait()
	n.heard = nil
	return set
}

// opened shows for whom connections were opened, how many in all, and where all of them are closed.
func (n *inn) opened() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for who, rooms := range n.rooms {
		if who == "" {
			who = "gateway"
		}
		closed := true
		for _, f := range rooms {
			f.mu.Lock()
			closed = closed && f.closed
			f.mu.Unlock()
		}
		if closed {
			who += " closed"
		}
		out = append(out, fmt.Sprintf("%s %d", who, len(rooms)))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func person(name string) *mcp.Principal { return &mcp.Principal{Issuer: "here", Subject: name} }

// calling is a caller: "ada", "ada s1" in a session, "- s1" in a session without a principal, "-" nobody.
func calling(who string) *Caller {
	name, session, _ := strings.Cut(who, " ")
	c := &Caller{Session: session}
	if name != "-" {
		c.Principal = person(name)
	}
	return c
}

// ask calls a tool for somebody and gives what the connection says of itself.
func ask(t *testing.T, set *Set, server, who string) string {
	t.Helper()
	answer, err := set.Call(t.Context(), server, Call{Method: mcp.MethodCallTool, Caller: calling(who)})
	if err != nil {
		return err.Error()
	}
	return strings.Trim(string(answer.Result), `"`)
}

// TestIdleConnections holds that a connection of a caller is closed when nobody has needed it for a while, never under a call
// or while its owner listens, and opened again with the next call.
func TestIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{Idle: time.Minute}, entry("a", "x"))
		after := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := n.opened(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		ask(t, set, "a", "ada")
		after(50*time.Second, "ada 1, gateway 1")
		ask(t, set, "a", "ada")
		after(50*time.Second, "ada 1, gateway 1")
		after(11*time.Second, "ada closed 1, gateway 1")
		ask(t, set, "a", "ada")
		after(0, "ada 2, gateway 1")

		n.hold = make(chan struct{})
		done := make(chan struct{})
		go func() { ask(t, set, "a", "ada"); close(done) }() // ends with hold
		after(time.Hour, "ada 2, gateway 1")
		close(n.hold)
		<-done
		after(59*time.Second, "ada 2, gateway 1")

		set.WatchFor("a", []Want{{calling("ada"), "memo://1"}})
		after(time.Hour, "ada 2, gateway 1")
		set.WatchFor("a", nil)
		after(59*time.Second, "ada 2, gateway 1")
		after(2*time.Second, "ada closed 2, gateway 1")
	})
}

// TestMostConnections holds that there are never more connections of callers than the limits say: the one that has been idle
// longest makes room, one that is in use does not, and where all are the call says so.
func TestMostConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{Each: 2, Most: 3}, entry("a", "x"), entry("b", "x"))
		use := func(server, who, want string) {
			t.Helper()
			if got := ask(t, set, server, who); !strings.Contains(got, " of ") && !strings.Contains(got, "in use") {
				t.Errorf("%s at %s: %s", who, server, got)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if got := n.opened(); got != want {
				t.Errorf("after %s at %s:\n got %s\nwant %s", who, server, got, want)
			}
		}
		use("a", "ada", "ada 1, gateway 2")
		use("a", "bob", "ada 1, bob 1, gateway 2")
		use("a", "ada", "ada 1, bob 1, gateway 2")
		use("a", "cyd", "ada 1, bob closed 1, cyd 1, gateway 2") // two at most at a
		use("b", "dan", "ada 1, bob closed 1, cyd 1, dan 1, gateway 2")
		use("b", "eve", "ada closed 1, bob closed 1, cyd 1, dan 1, eve 1, gateway 2") // three at most in all

		n.hold = make(chan struct{})
		var held sync.WaitGroup
		for _, who := range []string{"cyd", "fay"} {
			held.Go(func() { ask(t, set, "a", who) }) // ends with hold
			synctest.Wait()
		}
		if got := ask(t, set, "a", "gus"); got != `server "a": all connections that it has for single callers are in use (2); try again later` {
			t.Errorf("gus gets %q", got)
		}
		held.Go(func() { ask(t, set, "b", "eve") })
		synctest.Wait()
		got := ask(t, set, "b", "hal")
		if got != `server "b": all connections that the gateway has for single callers are in use (3); try again later` {
			t.Errorf("hal gets %q", got)
		}
		_, err := set.Call(t.Context(), "b", Call{Method: mcp.MethodCallTool, Caller: calling("hal")})
		var full *FullError
		if !errors.Is(err, manager.ErrNotRun) || !errors.As(err, &full) {
			t.Errorf("hal gets %v", err)
		}
		close(n.hold)
		held.Wait()
		n.mu.Lock()
		n.hold = nil
		n.mu.Unlock()
		if got := ask(t, set, "b", "hal"); got != "b of hal" {
			t.Errorf("then hal gets %q", got)
		}
	})
}

// TestLostConnectionOfOne holds that the end of one caller's connection is felt by that caller alone, and that it comes back.
func TestLostConnectionOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		ask(t, set, "a", "ada")
		ask(t, set, "a", "bob")
		n.rooms["ada"][0].die("it fell over")
		time.Sleep(time.Second)
		synctest.Wait()
		if got := ask(t, set, "a", "ada") + ", " + ask(t, set, "a", "bob") + ", " + ask(t, set, "a", "-"); got != "a of ada, a of bob, a of " {
			t.Errorf("they get %s", got)
		}
		if got := n.opened(); got != "ada 2, bob 1, gateway 1" {
			t.Errorf("got %s", got)
		}
		if len(n.heard) > 0 {
			t.Errorf("all hear of it: %q", n.heard)
		}
	})
}

// TestBreakerOfOne holds that a connection that leaves one caller without answers is closed to that one alone.
func TestBreakerOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		ask(t, set, "a", "ada")
		n.rooms["ada"][0].call = func(Call) (*Answer, error) { return nil, mcp.CodeRequestTimeout }
		for range 5 {
			ask(t, set, "a", "ada")
		}
		if got := ask(t, set, "a", "ada"); !strings.Contains(got, "it has not answered lately") {
			t.Errorf("ada gets %s", got)
		}
		if got := ask(t, set, "a", "bob") + ", " + ask(t, set, "a", "-"); got != "a of bob, a of " {
			t.Errorf("others get %s", got)
		}
	})
}

// TestCloseOfThePool holds that Close ends the connections of callers too, under calls, and that no call opens another.
func TestCloseOfThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		ask(t, set, "a", "ada")
		ask(t, set, "a", "bob")
		set.Close()
		set.Close()
		if got := n.opened(); got != "ada closed 1, bob closed 1, gateway closed 1" {
			t.Errorf("got %s", got)
		}
		if _, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: calling("cyd")}); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}
