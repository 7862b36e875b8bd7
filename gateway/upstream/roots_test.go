package upstream

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// askRoots asks for roots without saying for whom.
func (a *asker) askRoots() string { return <-a.request(mcp.MethodListRoots, `{}`) }

// declared is what the client has declared to it.
func (a *asker) declared() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return string(a.told)
}

// newsHeard is how often it was told that the roots have changed.
func (a *asker) newsHeard() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.news
}

func fixedRoots(uris ...string) func() []mcp.Root {
	list := []mcp.Root{}
	for _, uri := range uris {
		list = append(list, mcp.Root{URI: uri})
	}
	return func() []mcp.Root { return list }
}

const ofConfig = `{"roots":[{"uri":"file:///config"}]}`

// TestRootsOutsideOfCalls holds whose roots a legacy server gets that does not say for whom it asks: those of the client of the
// only call under way, on a pipe, if it has any; else those of the configuration; and that calls go side by side after it.
func TestRootsOutsideOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a := askersWith(t, OpenOptions{Roots: fixedRoots("file:///config")})
		if !strings.Contains(a.declared(), `"roots":{"listChanged":true}`) {
			t.Errorf("the server is told %s", a.declared())
		}
		ask := func(when, want string) {
			t.Helper()
			if got := a.askRoots(); got != want {
				t.Errorf("%s it gets %s, want %s", when, got, want)
			}
		}
		ask("before all calls", ofConfig)
		_, one := a.begin(l, "a", "one")
		ask("within the only call", by("a"))
		_, two := a.begin(l, "b", "two")
		ask("with two calls under way", ofConfig)
		a.finish("one")
		a.finish("two")
		for _, done := range []<-chan error{one, two} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		_, three := a.begin(l, "rootless", "three")
		ask("within a call whose client has no roots", ofConfig)
		_, four := a.begin(l, "d", "four")
		if !a.got("four") {
			t.Error("calls go one at a time after a request for roots")
		}
		a.finish("three")
		a.finish("four")
		if err := <-three; err != nil {
			t.Error(err)
		}
		if err := <-four; err != nil {
			t.Error(err)
		}
	})
}

// TestRootsOnNoStream holds that over HTTP, where calls have streams of their own, a request on none of them belongs to no call.
func TestRootsOnNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a := askersWith(t, OpenOptions{Roots: fixedRoots("file:///config"), Streams: true})
		_, one := a.begin(l, "a", "one")
		if got := a.askRoots(); got != ofConfig {
			t.Errorf("the server gets %s", got)
		}
		a.finish("one")
		if err := <-one; err != nil {
			t.Error(err)
		}
	})
}

// TestNoRoots holds that a server is told of no roots where there is no answer for it, and refused when it asks all the same;
// an empty list is an answer.
func TestNoRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a := askers(t)
		if strings.Contains(a.declared(), "roots") {
			t.Errorf("the server is told %s", a.declared())
		}
		if got := a.askRoots(); !strings.Contains(got, `"code":-32601`) || !strings.Contains(got, "no roots for this server") {
			t.Errorf("it gets %s", got)
		}
		_, one := a.begin(l, "a", "one")
		if got := a.askRoots(); got != by("a") {
			t.Errorf("within a call whose client has declared roots it gets %s", got)
		}
		a.finish("one")
		if err := <-one; err != nil {
			t.Error(err)
		}
		_, a = askersWith(t, OpenOptions{Roots: fixedRoots()})
		if got := a.askRoots(); got != `{"roots":[]}` {
			t.Errorf("with an empty list it gets %s", got)
		}
	})
}

// TestReloadOfRoots holds that a server hears when its roots have changed, and that what it asks then is not put to a client; one
// that is to be told of roots for the first time, or of none any more, is connected anew, since only a handshake can say that.
func TestReloadOfRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var roots Roots
		var asked []*asker
		set := New([]manager.Server{{Name: "a"}}, Options{
			Roots: &roots,
			Dial: func(ctx context.Context, s manager.Server) (Conn, error) {
				near, far := transport.Pair(0)
				a := newAsker(far)
				asked = append(asked, a)
				about := OpenOptions{Roots: func() []mcp.Root { return roots.of(s.Name) }}
				return OpenWith(client.Options{Mode: client.Legacy}, about, func(o client.Options) (*client.Client, error) { return client.Connect(ctx, near, o) })
			},
		})
		defer set.Close()
		set.Start()
		set.Settled(t.Context())
		synctest.Wait()
		reload := func(list ...mcp.Root) (changes manager.Changes) {
			t.Helper()
			by := map[string][]mcp.Root{}
			if list != nil {
				by["a"] = list
			}
			roots.Set(by)
			changes, err := set.Reload([]manager.Server{{Name: "a"}})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // a new connection stands
			synctest.Wait()
			return changes
		}
		reload()
		if len(asked) != 1 || asked[0].newsHeard() != 0 {
			t.Errorf("nothing has changed: %d connections", len(asked))
		}
		if c := reload(mcp.Root{URI: "file:///one"}); len(c.Changed) != 1 || len(asked) != 2 || !strings.Contains(asked[1].declared(), "roots") {
			t.Fatalf("the first roots: %v, %d connections", c, len(asked))
		}
		now := asked[1]
		if c := reload(mcp.Root{URI: "file:///two"}); len(c.Kept) != 1 || now.newsHeard() != 1 {
			t.Errorf("other roots: %v, told %d times", c, now.newsHeard())
		}
		done := make(chan error, 1)
		go func() { // ends with the call
			_, err := set.Call(t.Context(), "a", Call{
				Method: mcp.MethodCallTool, Params: []byte(`{"name":"x"}`), Caller: &Caller{Who: "c"}, HasRoots: true,
				OnRequest: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
					return json.RawMessage(`{"by":"c"}`), nil
				},
			})
			done <- err
		}()
		synctest.Wait()
		if got := now.askRoots(); got != `{"roots":[{"uri":"file:///two"}]}` {
			t.Errorf("after the news it gets %s", got)
		}
		if got := now.askRoots(); got != by("c") {
			t.Errorf("and then %s", got)
		}
		now.finish("x")
		if err := <-done; err != nil {
			t.Error(err)
		}
		if c := reload(mcp.Root{URI: "file:///two"}); len(c.Kept) != 1 || now.newsHeard() != 1 {
			t.Errorf("the same roots: %v, told %d times", c, now.newsHeard())
		}
		if c := reload(); len(c.Changed) != 1 || len(asked) != 3 || strings.Contains(asked[2].declared(), "roots") {
			t.Errorf("none any more: %v, %d connections", c, len(asked))
		}
	})
}
