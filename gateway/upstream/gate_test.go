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

// gated is a server that holds every call until it is let go, and notes the order in which they came.
type gated struct {
	*fake
	mu    sync.Mutex
	came  []string
	now   int
	most  int
	leave chan struct{}
}

func newGated() *gated {
	g := &gated{fake: newFake(tools("x")), leave: make(chan struct{})}
	g.fake.call = func(c Call) (*Answer, error) {
		g.mu.Lock()
		g.came = append(g.came, string(c.Params))
		g.now++
		g.most = max(g.most, g.now)
		g.mu.Unlock()
		<-g.leave
		g.mu.Lock()
		g.now--
		g.mu.Unlock()
		return &Answer{Result: []byte(`{}`)}, nil
	}
	return g
}

func (g *gated) order() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.came, " ")
}

// had are the calls that came, by their names: those that are let in at one moment come in any order.
func (g *gated) had() string {
	names := strings.Fields(g.order())
	slices.Sort(names)
	return strings.Join(names, " ")
}

// crowd makes calls of several callers, one after the other, and gathers what becomes of them.
type crowd struct {
	t     *testing.T
	set   *Set
	group sync.WaitGroup
	mu    sync.Mutex
	ends  map[string]error
}

func (c *crowd) call(ctx context.Context, name string) {
	who := strings.TrimRight(name, "0123456789")
	c.group.Go(func() {
		_, err := c.set.Call(ctx, "a", Call{Method: mcp.MethodCallTool, Params: []byte(name), Caller: &Caller{Principal: &mcp.Principal{Subject: who}}})
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ends[name] = err
	})
	synctest.Wait()
}

func (c *crowd) calls(names ...string) {
	for _, name := range names {
		c.call(c.t.Context(), name)
	}
}

// failed are those that have failed so far.
func (c *crowd) failed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for name, err := range c.ends {
		if err != nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func gather(t *testing.T, flow FlowTuning) (*gated, *crowd) {
	g := newGated()
	set, _ := begin(t, &script{conns: []*fake{g.fake}}, Options{Tunings: map[string]Tuning{"a": {Flow: flow}}, Sharing: sharedByAll})
	return g, &crowd{t: t, set: set, ends: make(map[string]error)}
}

// TestInFlight holds in which order calls go to a server that gets two at once: callers take turns, however many calls each has.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := gather(t, FlowTuning{InFlight: 2})
		c.calls("ann1", "ann2", "ann3", "ann4", "ann5", "bob1", "bob2", "cy1")
		if got := g.order(); got != "ann1 ann2" {
			t.Errorf("at once: %s", got)
		}
		for range 8 {
			g.leave <- struct{}{}
			synctest.Wait()
		}
		c.group.Wait()
		if got := g.order(); got != "ann1 ann2 ann3 bob1 cy1 ann4 bob2 ann5" || g.most != 2 || c.failed() != "" {
			t.Errorf("in the order %s, %d at once; failed: %s", got, g.most, c.failed())
		}
	})
}

// TestQueueIsBounded holds who is sent away when there is no room to wait: the newest call of the caller with most of them.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := gather(t, FlowTuning{InFlight: 1, Queue: 3})
		c.calls("ann1", "ann2", "ann3", "ann4", "ann5")
		if got := c.failed(); got != "ann5" {
			t.Errorf("of ann alone: %s", got)
		}
		c.calls("bob1")
		if got := c.failed(); got != "ann4 ann5" {
			t.Errorf("when bob comes: %s", got)
		}
		c.calls("cy1", "bob2")
		if got := c.failed(); got != "ann3 ann4 ann5 bob2" && got != "ann4 ann5 bob2 cy1" {
			t.Errorf("when all have one: %s", got)
		}
		var full *FullError
		if err := c.ends["ann5"]; !errors.As(err, &full) || err.Error() != `server "a": its calls are limited to 1 at once, and 3 more wait already; try again later` {
			t.Errorf("ann is told %v", err)
		}
		close(g.leave)
		c.group.Wait()
	})
}

// TestQueueWait holds that a call waits so long and no longer, and that one that was given up leaves its place.
func TestQueueWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := gather(t, FlowTuning{InFlight: 1, Wait: 10 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		c.call(t.Context(), "ann1")
		c.call(ctx, "ann2")
		c.call(t.Context(), "ann3")
		cancel()
		synctest.Wait()
		if got := c.failed(); got != "ann2" || !errors.Is(c.ends["ann2"], context.Canceled) {
			t.Errorf("given up: %s, %v", got, c.ends["ann2"])
		}
		time.Sleep(5 * time.Second)
		c.call(t.Context(), "ann4")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if got := c.failed(); got != "ann2 ann3" || !strings.Contains(fmt.Sprint(c.ends["ann3"]), "has waited 10s for its turn; try again later") {
			t.Errorf("after its time: %s, %v", got, c.ends["ann3"])
		}
		close(g.leave)
		c.group.Wait()
		if got := g.order(); got != "ann1 ann4" {
			t.Errorf("the server got %s", got)
		}
	})
}

// TestFlowChanges holds that calls that wait go on when more are let in at once, and that no call under way is touched when fewer
// are.
func TestFlowChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := gather(t, FlowTuning{InFlight: 1})
		c.calls("ann1", "ann2", "ann3", "ann4")
		c.set.Tune(map[string]Tuning{"a": {Flow: FlowTuning{InFlight: 3}}})
		synctest.Wait()
		if got := g.had(); got != "ann1 ann2 ann3" {
			t.Errorf("three at once: %s", got)
		}
		c.set.Tune(map[string]Tuning{"a": {Flow: FlowTuning{InFlight: 1}}})
		g.leave <- struct{}{}
		g.leave <- struct{}{}
		synctest.Wait()
		if got := g.had(); got != "ann1 ann2 ann3" {
			t.Errorf("one at once again: %s", got)
		}
		c.set.Tune(nil)
		close(g.leave)
		c.group.Wait()
		if got := g.had(); got != "ann1 ann2 ann3 ann4" || c.failed() != "" {
			t.Errorf("without a bound: %s; failed: %s", got, c.failed())
		}
	})
}

// TestFlood holds that a caller who sends as much as it can, without an end, holds another one up by one call, however long that lasts.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(tools("x"))
		f.call = func(Call) (*Answer, error) {
			time.Sleep(time.Second)
			return &Answer{Result: []byte(`{}`)}, nil
		}
		set, _ := begin(t, &script{conns: []*fake{f}}, Options{Tunings: map[string]Tuning{"a": {Flow: FlowTuning{InFlight: 1}}}, Sharing: sharedByAll})
		call := func(who string) error {
			_, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: calling(who)})
			return err
		}
		over := make(chan struct{})
		var flood sync.WaitGroup
		for range 120 {
			flood.Go(func() { // ends with over
				for {
					select {
					case <-over:
						return
					default:
						if call("ann") != nil { // there is no room
							time.Sleep(250 * time.Millisecond)
						}
					}
				}
			})
		}
		synctest.Wait()
		for i := range 20 {
			begun := time.Now()
			err := call("bob")
			if took := time.Since(begun); err != nil || took > 3*time.Second { // the one at work, one of hers, and his own
				t.Errorf("call %d of bob takes %s: %v", i, took, err)
			}
			time.Sleep(time.Duration(i) * 100 * time.Millisecond)
		}
		close(over)
		flood.Wait()
	})
}

// TestWhatFreesPlaces holds that what ends a task, or brings it an answer, goes to a server that has no place left, and other requests
// about tasks do not.
func TestWhatFreesPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		f := newFake(tools("x"))
		f.call = func(c Call) (*Answer, error) {
			if c.Method == mcp.MethodCallTool {
				<-free
			}
			return &Answer{Result: []byte(`{}`)}, nil
		}
		set, _ := begin(t, &script{conns: []*fake{f}}, Options{Tunings: map[string]Tuning{"a": {Flow: FlowTuning{InFlight: 1, Queue: -1}}}, Sharing: sharedByAll})
		var work sync.WaitGroup
		work.Go(func() { // ends with free
			if _, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool, Caller: calling("ann")}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		for _, c := range []struct {
			call   Call
			passes bool
		}{
			{Call{Method: mcp.MethodCancelTask}, true},
			{Call{Method: mcp.MethodUpdateTask}, true},
			{Call{Method: mcp.MethodGetTask, Ahead: true}, true},
			{Call{Method: mcp.MethodGetTask}, false},
			{Call{Method: mcp.MethodGetPrompt}, false},
		} {
			c.call.Caller = calling("ann")
			_, err := set.Call(t.Context(), "a", c.call)
			var full *FullError
			if c.passes && err != nil || !c.passes && !errors.As(err, &full) {
				t.Errorf("%s, ahead %t: %v", c.call.Method, c.call.Ahead, err)
			}
		}
		close(free)
		work.Wait()
	})
}

// TestWhatNeedsNoPlace holds that a server which takes one call at a time, and is at work on one that lasts, still answers from what
// is kept, and that its health is not taken for bad.
func TestWhatNeedsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(forAll(time.Hour))
		set, _ := begin(t, shelved(s), Options{Sharing: sharedByAll, Tunings: map[string]Tuning{"a": {
			Flow: FlowTuning{InFlight: 1, Queue: -1}, Health: HealthTuning{Every: time.Second, Failures: 1},
		}}})
		mustCall(t, set, reader("ann", "x:1"))
		s.mu.Lock()
		s.hold = make(chan struct{})
		s.mu.Unlock()
		done := make(chan struct{})
		go func() { // ends with hold
			defer close(done)
			_, _ = set.Call(t.Context(), "a", reader("ann", "x:2")) // any answer will do
		}()
		time.Sleep(10 * time.Second)
		if answer := mustCall(t, set, reader("bob", "x:1")); !answer.Kept {
			t.Errorf("a kept answer: %s", answer.Result)
		}
		var full *FullError
		if _, err := set.Call(t.Context(), "a", reader("bob", "x:3")); !errors.As(err, &full) {
			t.Errorf("another read: %v", err)
		}
		if state := set.Snapshots()[0].State; state != manager.Ready {
			t.Errorf("it is %s", state)
		}
		close(s.hold)
		<-done
	})
}
