package pipe_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/pipe"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// listener answers every request with a subscription to tools and one resource.
func listener(ctx context.Context, in *engine.Incoming) *era.Outcome {
	if in.Method() != mcp.MethodListen {
		return result(`{}`)
	}
	return in.Listen(ctx, mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"book:1"}})
}

func listen(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{},` + claim + `}}`
}

func stamped(method, members, id string) string {
	if members != "" {
		members += ","
	}
	return `{"jsonrpc":"2.0","method":"` + method + `","params":{` + members + `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
}

func acknowledged(id string) string {
	return stamped("notifications/subscriptions/acknowledged", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["book:1"]}`, id)
}

func endOfListen(id string) []string {
	return []string{
		stamped("notifications/cancelled", `"requestId":`+id, id),
		`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"io.modelcontextprotocol/subscriptionId":` + id + `}}}`,
	}
}

func TestListen(t *testing.T) {
	both(t, listener, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		w.send(listen(`"L"`))
		w.wantAll(acknowledged(`"L"`))
		w.send(modernCall("1", "a")) // the pipe is free
		w.want(modernAnswer("1", ""))
		if n := w.engine.Listens(); n != 1 {
			t.Errorf("%d listens are open", n)
		}

		began := time.Now()
		for range 10 {
			w.engine.Announce(engine.ToolsChanged, "")
			w.engine.Announce(engine.PromptsChanged, "")
			time.Sleep(time.Millisecond)
		}
		w.wantAll(stamped("notifications/tools/list_changed", "", `"L"`))
		if took := time.Since(began); took != 20*time.Millisecond {
			t.Errorf("announced after %s", took)
		}
		w.engine.Announce(engine.ResourceUpdated, "book:2")
		w.engine.Announce(engine.ResourceUpdated, "book:1")
		w.wantAll(stamped("notifications/resources/updated", `"uri":"book:1"`, `"L"`))
		w.quiet()

		w.send(listen(`"L"`))
		w.want(refusal(`"L"`, "-32600", `id \"L\" is in use by a request that still runs`))

		w.send(cancelled(`"L"`))
		w.quiet() // nothing is written for a listen that the client ends
		w.engine.Announce(engine.ToolsChanged, "")
		w.quiet()
		if n := w.engine.Listens(); n != 0 {
			t.Errorf("%d listens are left", n)
		}
		if all := w.faults.list(); len(all) > 0 {
			t.Errorf("faults: %q", all)
		}
	})
}

func TestListenEndsGracefully(t *testing.T) {
	ends := map[string]func(w *world, half *halfClosed){
		"end of input": func(_ *world, half *halfClosed) { close(half.over) },
		"shutdown":     func(w *world, _ *halfClosed) { w.engine.Shutdown(context.Background()) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := transport.Pair(0)
				half := &halfClosed{Conn: far, over: make(chan struct{})}
				w := &world{t: t, client: near, faults: &faults{}, ended: make(chan error, 1)}
				w.engine = engine.New(&handler{call: listener}, engine.Options{OnError: w.faults.add})
				go func() {
					w.ended <- pipe.Serve(context.Background(), half, w.engine, codecs(t, era.ServerSide), pipe.Options{OnError: w.faults.add})
				}()
				w.send(listen("7"))
				w.wantAll(acknowledged("7"))
				began := time.Now()
				end(w, half)
				w.wantAll(endOfListen("7")...)
				if err := <-w.ended; err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("it took %s", took)
				}
				if all := w.faults.list(); len(all) > 0 {
					t.Errorf("faults: %q", all)
				}
			})
		})
	}
}

func TestListenLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, &handler{call: listener}, engine.Options{MaxListens: 1, MaxInFlight: 1})
		w.send(listen("1"))
		w.wantAll(acknowledged("1"))
		w.send(listen("2"))
		w.want(refusal("2", "-32603", "Subscription limit reached; end a subscription that is no longer needed"))
		w.send(modernCall("3", "a")) // a listen takes no place of a call
		w.want(modernAnswer("3", ""))
		w.send(cancelled("1"))
		synctest.Wait()
		w.send(listen("2"))
		w.wantAll(acknowledged("2"))
	})
}

// slow is a Conn whose peer takes nothing while it is held.
type slow struct {
	transport.Conn
	hold chan struct{}
}

func (c *slow) Write(ctx context.Context, frame []byte) error {
	select {
	case <-c.hold:
	case <-ctx.Done():
		return ctx.Err()
	}
	return c.Conn.Write(ctx, frame)
}

func TestChangesForASlowListenerAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair(0)
		conn := &slow{Conn: far, hold: make(chan struct{}, 1000)}
		w := &world{t: t, client: near, faults: &faults{}, ended: make(chan error, 1)}
		w.engine = engine.New(&handler{call: listener}, engine.Options{OnError: w.faults.add})
		go func() {
			w.ended <- pipe.Serve(context.Background(), conn, w.engine, codecs(t, era.ServerSide), pipe.Options{})
		}()
		conn.hold <- struct{}{}
		w.send(listen("1"))
		w.wantAll(acknowledged("1"))
		for range 100 {
			w.engine.Announce(engine.ToolsChanged, "")
			w.engine.Announce(engine.ResourceUpdated, "book:1")
			time.Sleep(25 * time.Millisecond)
		}
		for range 100 {
			conn.hold <- struct{}{}
		}
		counts := map[string]int{}
		for frame := w.next(); frame != ""; frame = w.next() {
			method, _, _ := strings.Cut(frame[len(`{"jsonrpc":"2.0","method":"`):], `"`)
			counts[method]++
		}
		// One was under way, one more of each waited.
		if n := counts["notifications/resources/updated"]; n < 1 || n > 2 {
			t.Errorf("%d updates", n)
		}
		if n := counts["notifications/tools/list_changed"]; n < 1 || n > 2 {
			t.Errorf("%d list changes", n)
		}
		for range 100 {
			conn.hold <- struct{}{}
		}
		w.finish()
	})
}

func TestLegacyHearsOnlyAfterTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, &handler{}, engine.Options{})
		announce := func() {
			w.engine.Announce(engine.ToolsChanged, "")
			w.engine.Announce(engine.ResourceUpdated, "book:1")
		}
		announce()
		w.quiet()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		w.next()
		announce()
		w.quiet()
		w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		synctest.Wait()
		peer := w.engine.Peers()[0]
		announce() // nobody has subscribed to the book
		w.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		w.quiet()
		if _, err := peer.Subscribe(t.Context(), "book:1"); err != nil {
			t.Fatal(err)
		}
		w.engine.Announce(engine.ResourceUpdated, "book:1")
		w.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"book:1"}}`)
		if err := peer.Unsubscribe(t.Context(), "book:1"); err != nil {
			t.Fatal(err)
		}
		w.engine.Announce(engine.ResourceUpdated, "book:1")
		w.quiet()
	})
}
