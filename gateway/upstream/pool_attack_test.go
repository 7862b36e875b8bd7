package upstream

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestRaceForTheLastPlace holds that of many callers who come at one moment as many get a connection as there are places, and all
// others are told that there is none, and that no connection is opened for those.
func TestRaceForTheLastPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{hold: make(chan struct{})}
		set := n.raise(t, PoolLimits{Each: 2}, entry("a", "x"))
		var got, full atomic.Int32
		var calls sync.WaitGroup
		for i := range 50 {
			calls.Go(func() {
				_, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: calling(fmt.Sprint("p", i))})
				var none *FullError
				switch {
				case err == nil:
					got.Add(1)
				case errors.As(err, &none):
					full.Add(1)
				}
			})
		}
		synctest.Wait()
		close(n.hold)
		calls.Wait()
		if got.Load() != 2 || full.Load() != 48 || len(n.rooms) != 3 { // the gateway has one too
			t.Errorf("%d have got a connection, %d have not; %s", got.Load(), full.Load(), n.opened())
		}
	})
}

// TestShareOfOneCaller holds that the sessions of one principal take no more than its share of the connections, to one server and to
// all, that it makes room with its own, and that others find theirs.
func TestShareOfOneCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{sharing: Sharing{Share: ShareSession}, hold: make(chan struct{})}
		set := n.raise(t, PoolLimits{Most: 6, Each: 5}, entry("a", "x"), entry("b", "x")) // 3 each
		var calls sync.WaitGroup
		begin := func(server, who string) {
			calls.Go(func() {
				if _, err := set.Call(t.Context(), server, Call{Method: mcp.MethodCallTool, Caller: calling(who)}); err != nil {
					t.Errorf("%s of %s: %v", server, who, err)
				}
			})
			synctest.Wait()
		}
		for _, who := range []string{"ann s1", "ann s2", "ann s3"} {
			begin("a", who)
		}
		for server, want := range map[string]string{
			"a": `server "a": this caller has as many connections to it as one may have, and all are in use (3); try again later`,
			"b": `server "b": this caller has as many connections of the gateway as one may have, and all are in use (3); try again later`,
		} {
			if got := ask(t, set, server, "ann s4"); got != want {
				t.Errorf("one more to %s: %s", server, got)
			}
		}
		begin("a", "bob s5")
		begin("a", "- s6")
		close(n.hold)
		calls.Wait()
		if got := ask(t, set, "a", "ann s4"); got != "a of ann s4" {
			t.Errorf("when hers are idle: %s", got)
		}
		synctest.Wait()
		if got := n.opened(); strings.Count(got, "closed") != 1 || strings.Contains(got, "bob s5 closed") || strings.Contains(got, ", s6 closed") {
			t.Errorf("who made room: %s", got)
		}
		set.LimitPool(PoolLimits{Most: 6, Each: 5, Share: 100})
		for _, who := range []string{"ann s7", "ann s8"} { // hers are five then
			if got := ask(t, set, "b", who); got != "b of "+who {
				t.Errorf("without a share: %s", got)
			}
		}
	})
}

// TestRoomUnderEveryLimit holds that a connection of one's own elsewhere, which makes room under the share of its owner, makes none
// under the limit of the server: there another one goes as well, or the call fails and nothing has gone.
func TestRoomUnderEveryLimit(t *testing.T) {
	for _, busy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := &inn{}
			set := n.raise(t, PoolLimits{Most: 4, Each: 2}, entry("a", "x"), entry("b", "x"), entry("c", "x")) // 2 for each caller
			for _, server := range []string{"b", "c"} {
				if got := ask(t, set, server, "ann"); got != server+" of ann" {
					t.Error(got)
				}
			}
			n.hold = make(chan struct{})
			var calls sync.WaitGroup
			for _, who := range []string{"bob", "cid"} {
				calls.Go(func() { ask(t, set, "a", who) })
			}
			synctest.Wait()
			want, left := "a of ann", 3 // one of hers and one of theirs have gone, and one has come
			if busy {
				want, left = `server "a": all connections that it has for single callers are in use (2); try again later`, 4
			} else {
				close(n.hold)
				calls.Wait()
			}
			if got := ask(t, set, "a", "ann"); got != want {
				t.Errorf("busy %t: %s", busy, got)
			}
			synctest.Wait()
			set.pool.mu.Lock()
			if n := len(set.pool.tenants); n != left {
				t.Errorf("busy %t: %d connections", busy, n)
			}
			set.pool.mu.Unlock()
			if busy {
				close(n.hold)
				calls.Wait()
			}
		})
	}
}

// TestCallersComeFasterThanConnectionsEnd holds that there are never more connections than twice the limit, those included that make
// room and take their time to end, and that there is room again when these have ended.
func TestCallersComeFasterThanConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{Each: 5}, entry("a", "x"))
		var open, most atomic.Int32
		inner := set.opts.DialFor
		set.opts.DialFor = func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) {
			conn, err := inner(ctx, s, o)
			if now := open.Add(1); now > most.Load() {
				most.Store(now)
			}
			conn.(*fake).onClose = func() {
				time.Sleep(5 * time.Second) // as a program takes that does not listen
				open.Add(-1)
			}
			return conn, err
		}
		refused := 0
		for i := range 100 {
			if got := ask(t, set, "a", fmt.Sprint("p", i)); got == `server "a": the connections that make room for others are not closed yet; try again later` {
				refused++
			}
		}
		if most.Load() > 10 || refused != 90 {
			t.Errorf("%d connections at once, %d calls refused", most.Load(), refused)
		}
		time.Sleep(6 * time.Second)
		if got := ask(t, set, "a", "later"); got != "a of later" {
			t.Errorf("later: %s", got)
		}
	})
}

// inBubble counts the goroutines of the bubble: those outside of it, of the runtime's finalizers say, come and go by themselves.
func inBubble() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), ", synctest bubble ")
}

// TestCallersLeaveNothingBehind holds that no goroutine and no connection is left of callers who have come and gone, while the gateway
// runs on.
func TestCallersLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{sharing: Sharing{Share: ShareSession}}
		set := n.raise(t, PoolLimits{Each: 3}, entry("a", "x"))
		before := inBubble()
		for i := range 200 {
			who := fmt.Sprintf("p%d s%d", i%7, i)
			ask(t, set, "a", who)
			set.WatchFor("a", []Want{{calling(who), "memo://1"}})
			synctest.Wait()
			switch i % 4 {
			case 0:
				set.EndSession(fmt.Sprint("s", i))
			case 1:
				set.Dismiss("a")
			case 2:
				set.DismissOwners(func(*mcp.Principal) bool { return true })
			}
		}
		set.WatchFor("a", nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if now := inBubble(); now > before {
			t.Errorf("%d goroutines, %d before", now, before)
		}
		for who, rooms := range n.rooms {
			for _, f := range rooms {
				if !f.closed && who != "" {
					t.Errorf("a connection of %q is left open", who)
				}
			}
		}
		if len(set.pool.tenants)+len(set.pool.leaving) != 0 {
			t.Errorf("%v, and %v leave", set.pool.tenants, set.pool.leaving)
		}
	})
}

// TestProgramOfOneThatEndsAtOnce holds how often a program is started for one caller that ends as soon as it is there: with pauses
// that grow to a minute while its owner listens, as for every server, and not at all when nobody needs it.
func TestProgramOfOneThatEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		inner := set.opts.DialFor
		var starts atomic.Int32
		set.opts.DialFor = func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) {
			starts.Add(1)
			conn, err := inner(ctx, s, o)
			conn.(*fake).die("it fell over")
			return conn, err
		}
		set.WatchFor("a", []Want{{calling("ada"), "memo://1"}})
		time.Sleep(time.Hour)
		if n := starts.Load(); n < 60 || n > 150 {
			t.Errorf("%d starts in an hour", n)
		}
		set.WatchFor("a", nil)
		time.Sleep(6 * time.Minute)
		before := starts.Load()
		time.Sleep(time.Hour)
		if n := starts.Load(); n != before {
			t.Errorf("%d starts for nobody", n-before)
		}
		if got := ask(t, set, "a", "bob") + ask(t, set, "a", "-"); got == "" {
			t.Error("others get nothing")
		}
	})
}
