package interop

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// crew is five servers of a manager, and a tool of each that can be called at any time.
type crew struct {
	m     *manager.Manager
	tools map[string]call
	news  chan struct{} // holds at most one token: something below is different

	mu     sync.Mutex
	said   map[string][]manager.Status // what the manager has said of a server and nobody has waited for
	hurry  string                      // the server whose calls wait for a second only
	faults map[string][]string         // of the callers, by server
	worst  map[string]time.Duration
	good   map[string]int
}

type call struct {
	tool string
	args map[string]any
}

func newCrew(m *manager.Manager, tools map[string]call) *crew {
	c := &crew{m: m, tools: tools, news: make(chan struct{}, 1), said: make(map[string][]manager.Status)}
	c.harvest()
	m.OnEvent(func(e manager.Event) { // until the manager is closed
		if e.Lists == 0 {
			c.change(func() { c.said[e.Server] = append(c.said[e.Server], e.Status) })
		}
	})
	return c
}

// change does something to what a test waits for.
func (c *crew) change(do func()) {
	c.mu.Lock()
	do()
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// wait waits until something holds, which is looked at with mu held. It tells whether it does.
func (c *crew) wait(holds func() bool) bool {
	over := time.NewTimer(driveLimit)
	defer over.Stop()
	for {
		c.mu.Lock()
		done := holds()
		c.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-c.news:
		case <-over.C:
			return false
		}
	}
}

// callAll calls the tools of servers all the time until ctx ends.
func (c *crew) callAll(ctx context.Context) (wait func()) {
	var callers sync.WaitGroup
	for server, call := range c.tools {
		callers.Go(func() {
			for ctx.Err() == nil {
				begun := time.Now()
				result, err := c.m.Call(ctx, manager.Name{Server: server, Name: call.tool}, call.args, c.options(server))
				took := time.Since(begun)
				switch {
				case ctx.Err() != nil:
				case err != nil:
					c.note(server, err.Error(), took)
				case result.IsError:
					c.note(server, result.Text(), took)
				default:
					c.note(server, "", took)
				}
				time.Sleep(20 * time.Millisecond) // a caller in no hurry
			}
		})
	}
	return callers.Wait
}

func (c *crew) options(server string) (o manager.CallOptions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if server == c.hurry {
		o.Timeout = time.Second
	}
	return o
}

func (c *crew) note(server, fault string, took time.Duration) {
	c.change(func() {
		if fault != "" {
			c.faults[server] = append(c.faults[server], fault)
			return
		}
		c.good[server]++
		c.worst[server] = max(c.worst[server], took)
	})
}

// harvest tells what has become of the calls since the last time.
func (c *crew) harvest() (good map[string]int, faults map[string][]string, worst map[string]time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	good, faults, worst = c.good, c.faults, c.worst
	c.good, c.faults, c.worst = map[string]int{}, map[string][]string{}, map[string]time.Duration{}
	return good, faults, worst
}

// answers waits for the next answers of a server: from the second on, they are to calls that began after this.
func (c *crew) answers(t *testing.T, server string) {
	t.Helper()
	const enough = 3
	var begun int
	c.change(func() { begun = c.good[server] })
	if !c.wait(func() bool { return c.good[server] >= begun+enough }) {
		_, faults, _ := c.harvest()
		t.Fatalf("%s answers no more calls: %.300q", server, faults[server])
	}
}

// others holds that all servers but one answer all calls, and in time. It returns what the calls of that one failed with.
func (c *crew) others(t *testing.T, but string) []string {
	t.Helper()
	for server := range c.tools {
		if server != but {
			c.answers(t, server)
		}
	}
	good, faults, worst := c.harvest()
	for server := range c.tools {
		if server != but && (len(faults[server]) > 0 || worst[server] > 10*time.Second) {
			t.Errorf("while %s was ill, %s answered %d calls, the slowest in %s, and failed with %.300q", but, server, good[server], worst[server], faults[server])
		}
	}
	return faults[but]
}

// until waits for a server to be in a state for a reason, or to have been in it since the last wait.
func (c *crew) until(t *testing.T, server string, state manager.State, reason string) {
	t.Helper()
	fits := func(s manager.Status) bool { return s.State == state && strings.Contains(s.Reason, reason) }
	now := func(s manager.ServerStatus) bool { return s.Name == server && fits(s.Status) }
	if !c.wait(func() bool {
		if i := slices.IndexFunc(c.said[server], fits); i >= 0 {
			c.said[server] = c.said[server][i+1:]
			return true
		}
		return slices.ContainsFunc(c.m.Status(), now)
	}) {
		t.Fatalf("%s has not become %s (%s): %+v", server, state, reason, c.m.Status())
	}
}

// forget drops what the manager has said of a server, so that only what comes from now on is waited for.
func (c *crew) forget(server string) { c.change(func() { delete(c.said, server) }) }
