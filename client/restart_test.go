package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// once answers one call and goes.
func once() {
	child(with(legacy(nil), script{"tools/call": func(p *peer, m *jsonrpc.Message) {
		result(`{"content":[{"type":"text","text":"done"}]}`)(p, m)
		os.Exit(0)
	}}))
}

// mortal dies of the tool "die".
func mortal() {
	listening := says(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`)
	child(with(modern(nil), script{"subscriptions/listen": listening, "tools/call": func(p *peer, m *jsonrpc.Message) {
		if name, _ := jsonrpc.Member(m.Params, "name"); string(name) == `"die"` {
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(9)
		}
		result(`{"content":[{"type":"text","text":"done"}]}`)(p, m)
	}}))
}

// short starts well and ends by itself, with its first answer.
func short() {
	open := modern(nil)["server/discover"]
	child(with(modern(nil), script{"server/discover": func(p *peer, m *jsonrpc.Message) {
		open(p, m)
		os.Exit(4)
	}}))
}

// quick is the default policy, but for pauses.
var quick = client.Restart{First: 10 * time.Millisecond, Longest: 20 * time.Millisecond}

// TestC043ChildThatDiesIsStartedAgain: what it had not answered fails and says why, what comes later reaches its successor,
// of which there is one. Seen to fail with the flight left out of lost: the second call met a closed connection.
func TestC043ChildThatDiesIsStartedAgain(t *testing.T) {
	noLeak(t)
	cmd, starts := command(t, "mortal")
	var faults atomic.Int32
	c, err := client.DialStdio(t.Context(), cmd, client.Options{Restart: quick, OnError: func(error) { faults.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	changed := make(chan struct{}, 10)
	c.OnToolsChange(func() { changed <- struct{}{} })
	_, err = c.CallTool(t.Context(), "die", nil)
	var exit *stdio.ExitError
	if !errors.Is(err, mcp.CodeConnectionClosed) || !errors.As(err, &exit) || exit.Code != 9 || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("a call under way: %v", err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if out, err := c.CallTool(t.Context(), "x", nil); err != nil || text(out) != "done" {
				t.Errorf("after that: %q, %v", text(out), err)
			}
		})
	}
	all.Wait()
	if starts() != 2 || c.Err() != nil || faults.Load() == 0 {
		t.Errorf("%d starts, %v, %d reports", starts(), c.Err(), faults.Load())
	}
	arrives(t, changed) // what may have changed with the process
}

// A legacy server that serves one call a process is used like any other.
func TestChildThatServesOnce(t *testing.T) {
	noLeak(t)
	cmd, starts := command(t, "once")
	c, err := client.DialStdio(t.Context(), cmd, client.Options{Restart: quick})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 3 {
		if out, err := c.CallTool(t.Context(), "x", nil); err != nil || text(out) != "done" {
			t.Fatalf("call %d: %q, %v", i, text(out), err)
		}
		for starts() < i+2 {
			time.Sleep(5 * time.Millisecond) // its end is noticed a moment after its answer
		}
	}
}

// A child that does not stay is given up, and the client tells why.
func TestRestartGivesUp(t *testing.T) {
	noLeak(t)
	cmd, starts := command(t, "short")
	policy := quick
	policy.Attempts = 3
	c, err := client.DialStdio(t.Context(), cmd, client.Options{Restart: policy})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	<-c.Done()
	var exit *stdio.ExitError
	if err := c.Err(); starts() != 4 || !errors.As(err, &exit) || exit.Code != 4 || !strings.Contains(err.Error(), "3 failures in a row") {
		t.Errorf("%d starts, %v", starts(), err)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, mcp.CodeConnectionClosed) {
		t.Errorf("a call after the end: %v", err)
	}
}

// TestRestartFailsCallsAtOnce: once an attempt has failed, calls do not wait for further ones.
func TestRestartFailsCallsAtOnce(t *testing.T) {
	noLeak(t)
	cmd, _ := command(t, "mortal")
	link := t.TempDir() + "/server"
	if err := os.Symlink(cmd.Path, link); err != nil {
		t.Skip(err)
	}
	cmd.Path = link
	c, err := client.DialStdio(t.Context(), cmd, client.Options{Restart: client.Restart{First: time.Hour, Longest: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CallTool(t.Context(), "die", nil); err == nil {
		t.Error("no error")
	}
	for range 2 {
		var missing *stdio.StartError
		if err := c.Ping(t.Context()); !errors.Is(err, mcp.CodeNotConnected) || !errors.As(err, &missing) {
			t.Errorf("got %v", err)
		}
	}
	if err := c.Close(); err != nil { // while the next attempt waits
		t.Error(err)
	}
	if !errors.Is(c.Err(), transport.ErrClosed) {
		t.Errorf("ended for %v", c.Err())
	}
}

// TestC042ChildThatCrashesAtStart: the error comes within a second and holds what the child has said.
func TestC042ChildThatCrashesAtStart(t *testing.T) {
	noLeak(t)
	quickest := time.Hour
	for range 5 { // what waits for a time does so always; a machine that is busy does not
		start := time.Now()
		_, err := client.DialStdio(t.Context(), client.Command{Path: "sh", Args: []string{"-c", "echo boom >&2; exit 3"}}, client.Options{})
		var exit *stdio.ExitError
		if !errors.As(err, &exit) || exit.Code != 3 || !strings.Contains(err.Error(), "boom") {
			t.Errorf("got %v", err)
		}
		quickest = min(quickest, time.Since(start))
	}
	if quickest > time.Second {
		t.Errorf("it took %s", quickest)
	}
}

func TestStreamOfOldTransportIsOpenedAgain(t *testing.T) {
	noLeak(t)
	s := serveOld(t, nil)
	c, err := client.DialSSE(t.Context(), s.URL+"/sse", client.Options{Restart: quick})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.over <- struct{}{} // one stream ends
	for strings.Count(strings.Join(s.sent(), " "), "GET") < 2 {
		time.Sleep(time.Millisecond)
	}
	if out, err := c.CallTool(t.Context(), "echo", nil); err != nil || text(out) != "hi" {
		t.Errorf("got %q, %v", text(out), err)
	}
}

func TestRestartPause(t *testing.T) {
	policy := client.Restart{}.WithDefaults()
	for failures, full := range map[int]time.Duration{
		0: 0, 1: 500 * time.Millisecond, 2: time.Second, 3: 2 * time.Second, 7: 32 * time.Second, 8: time.Minute, 1 << 40: time.Minute,
	} {
		if d := policy.Pause(failures); d < full/2 || d > full {
			t.Errorf("after %d failures %s, want %s to %s", failures, d, full/2, full)
		}
	}
}

// TestProbeOnASibling: the process that serves never sees the probe. One that stays silent is ended, perhaps before it has come
// to its start.
func TestProbeOnASibling(t *testing.T) {
	noLeak(t)
	for name, tc := range map[string]struct {
		want string
		wait time.Duration // for the answer to the probe; short where none comes
	}{
		"modern": {"2026-07-28", time.Minute},
		"silent": {"2025-11-25", 500 * time.Millisecond},
		"dies":   {"2025-11-25", time.Minute},
		"mortal": {"2026-07-28", time.Minute},
	} {
		cmd, starts := command(t, name)
		c, err := client.DialStdio(t.Context(), cmd, client.Options{ProbeSibling: true, ProbeTimeout: tc.wait})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for starts() < 2 && name != "silent" {
			time.Sleep(10 * time.Millisecond) // a modern server is asked nothing before a call, and may still be starting
		}
		if c.ProtocolVersion() != tc.want || starts() > 2 {
			t.Errorf("%s: revision %s after %d starts", name, c.ProtocolVersion(), starts())
		}
		if name == "mortal" {
			if out, err := c.CallTool(t.Context(), "x", nil); err != nil || text(out) != "done" {
				t.Errorf("got %q, %v", text(out), err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for _, seen := range processes(cmd) {
			if len(seen) > 2 && slices.Contains(seen, "server/discover") {
				t.Errorf("%s: one process has got %q", name, seen)
			}
		}
	}
}

// TestC109CloseFromManySides closes a hundred times at once, also while the connection is opened again, and from a hook.
func TestC109CloseFromManySides(t *testing.T) {
	noLeak(t)
	cmd, _ := command(t, "short")
	made := make(chan *client.Client, 1)
	var hooks sync.WaitGroup
	hooks.Add(1)
	var once sync.Once
	c, err := client.DialStdio(context.Background(), cmd, client.Options{Restart: quick, OnError: func(error) {
		once.Do(func() {
			defer hooks.Done()
			(<-made).Close()
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	made <- c
	hooks.Wait() // the child has ended, and the hook has closed the client
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if !errors.Is(c.Err(), transport.ErrClosed) {
		t.Errorf("ended for %v", c.Err())
	}
}
