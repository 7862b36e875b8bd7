package pipe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
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

// inline makes a handler that runs everything on the reader, at first.
func inline(call func(ctx context.Context, in *engine.Incoming) *era.Outcome) *handler {
	pace := &engine.Pace{}
	return &handler{call: call, pace: func(*engine.Incoming) *engine.Pace { return pace }}
}

// untilCancelled waits for the end of the context and answers all the same.
func untilCancelled(ctx context.Context, _ *engine.Incoming) *era.Outcome {
	<-ctx.Done()
	return result(`{}`)
}

// both runs a test with handlers on the reader and on goroutines of their own.
func both(t *testing.T, call func(ctx context.Context, in *engine.Incoming) *era.Outcome, test func(t *testing.T, h *handler)) {
	t.Helper()
	for name, h := range map[string]func() *handler{
		"inline": func() *handler { return inline(call) }, "spawned": func() *handler { return &handler{call: call} },
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, h()) }) })
	}
}

func TestBothErasOnOnePipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, &handler{}, engine.Options{})
		w.send(modernCall("1", "a"))
		w.want(modernAnswer("1", ""))
		w.handshake("2025-06-18")
		for i := range 3 {
			id := fmt.Sprint(i)
			w.send(legacyCall(id, "a"))
			w.want(legacyAnswer(id, ""))
			w.send(modernCall(id, "a"))
			w.want(modernAnswer(id, ""))
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		if all := w.faults.list(); len(all) > 0 {
			t.Errorf("faults: %q", all)
		}
	})
}

func TestFramesThatAreRefused(t *testing.T) {
	cases := []struct{ name, frame, want string }{
		{"no JSON", `hello`, refusal("", "-32700", "not valid JSON: invalid character 'h' at start of value (at byte 0)")},
		{"no message", `{"jsonrpc":"2.0","id":3}`, refusal("3", "-32600", `a message has a \"method\", a \"result\" or an \"error\"`)},
		{"broken answer", `{"jsonrpc":"2.0","id":3,"result":1,"error":2}`, refusal("", "-32600", "an answer holds a result or an error, not both (at byte 33)")},
		{"array", `[` + modernCall("1", "a") + `]`, refusal("", "-32600", "element 0 of the array names a protocol version in _meta; send such messages one by one")},
		{"empty array", ` []`, refusal("", "-32600", "an empty array of messages")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := serve(t, &handler{}, engine.Options{})
				w.send(c.frame, modernCall("2", "a"))
				w.want(c.want, modernAnswer("2", ""))
			})
		})
	}
}

func TestFramesBeforeAHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, &handler{}, engine.Options{})
		w.send(legacyCall(`"a"`, "x"))
		if got := w.next(); !strings.Contains(got, `"id":"a"`) || !strings.Contains(got, "-32600") || !strings.Contains(got, "initialize") {
			t.Errorf("got %s", got)
		}
		w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		w.want(legacyAnswer("2", ""))
		w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}`)
		w.quiet()
		if all := w.faults.list(); len(all) != 3 {
			t.Errorf("faults: %q", all)
		}
	})
}

// tooLong is a Conn whose first frame was over the limit.
type tooLong struct {
	transport.Conn
	told bool
}

func (c *tooLong) Read(ctx context.Context) ([]byte, error) {
	if !c.told {
		c.told = true
		return nil, &transport.FrameError{Limit: 10, Text: "the line is longer than 10 bytes"}
	}
	return c.Conn.Read(ctx)
}

func TestOversizedFrameIsRefusedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair(0)
		w := &world{t: t, client: near, faults: &faults{}, ended: make(chan error, 1)}
		e := engine.New(&handler{}, engine.Options{OnError: w.faults.add})
		go func() {
			w.ended <- pipe.Serve(context.Background(), &tooLong{Conn: far}, e, codecs(t, era.ServerSide), pipe.Options{})
		}()
		w.send(modernCall("1", "a"))
		w.want(refusal("", "-32600", "the line is longer than 10 bytes"), modernAnswer("1", ""))
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestDuplicateIDs(t *testing.T) {
	both(t, func(ctx context.Context, in *engine.Incoming) *era.Outcome {
		if toolName(in) == "wait" {
			<-ctx.Done()
		}
		return result(`{}`)
	}, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		w.handshake("2025-11-25")
		w.send(legacyCall("1", "wait"))
		inUse := refusal("1", "-32600", "id 1 is in use by a request that still runs")
		w.send(modernCall("1", "echo"), legacyCall("1", "echo"))
		w.want(inUse, inUse)
		w.send(modernCall(`"1"`, "echo")) // another id
		w.want(modernAnswer(`"1"`, ""))
		w.send(cancelled("1"))
		synctest.Wait()
		w.send(legacyCall("1", "echo")) // free again
		w.want(legacyAnswer("1", ""))
	})
}

func TestCancellation(t *testing.T) {
	var causes chan error
	both(t, func(ctx context.Context, _ *engine.Incoming) *era.Outcome {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return result(`{}`)
	}, func(t *testing.T, h *handler) {
		causes = make(chan error, 1)
		w := serve(t, h, engine.Options{})
		w.send(cancelled("1"), modernCall("1", "a")) // what comes too early means nothing
		began := time.Now()
		w.send(cancelled(`"1"`), cancelled("2"), cancelled("1.5"), cancelled("1"), cancelled("1"))
		synctest.Wait()
		for len(causes) == 0 && time.Since(began) < time.Second {
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if took := time.Since(began); took > 5*time.Millisecond {
			t.Errorf("the cancellation took %s", took)
		}
		w.quiet()
		if cause := <-causes; !errors.Is(cause, engine.ErrCancelled) {
			t.Errorf("the cause is %v", cause)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestCancellationAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, &handler{}, engine.Options{})
		w.send(modernCall("1", "a"))
		w.want(modernAnswer("1", ""))
		w.send(cancelled("1"))
		w.quiet()
		if all := w.faults.list(); len(all) > 0 {
			t.Errorf("faults: %q", all)
		}
	})
}

// A first frame that takes the reader long to decode must still be known to the cancellation behind it.
func TestOrderOfRegistration(t *testing.T) {
	both(t, untilCancelled, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		for i := range 50 {
			id := fmt.Sprint(i)
			w.send(modernCall(id, "a"), cancelled(id))
		}
		synctest.Wait()
		time.Sleep(time.Second)
		if !w.engine.Peers()[0].Idle() {
			t.Error("a cancelled request still runs")
		}
		w.quiet()
	})
}

func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var order []string
		w := serve(t, &handler{call: func(_ context.Context, in *engine.Incoming) *era.Outcome {
			<-gate
			order = append(order, in.ID().String())
			return result(`{}`)
		}}, engine.Options{})
		for i := range 256 + 1024 + 2 {
			w.send(modernCall(fmt.Sprint(i), "a"))
		}
		busy := "Too many requests are running at once; try again in a moment"
		w.want(refusal("1280", "-32603", busy), refusal("1281", "-32603", busy))
		w.send(cancelled("300"), modernCall("1282", "a")) // a cancelled one leaves the queue
		w.quiet()
		gate <- struct{}{}
		if got := w.next(); !strings.Contains(got, "complete") {
			t.Errorf("got %s", got)
		}
		synctest.Wait()
		for range 256 + 1024 - 1 {
			gate <- struct{}{}
			if got := w.next(); !strings.Contains(got, "complete") {
				t.Fatalf("got %s", got)
			}
		}
		w.quiet()
		if slices.Contains(order, "300") || !slices.Contains(order, "1282") || len(order) != 1280 {
			t.Errorf("%d ran", len(order))
		}
		if i, j := slices.Index(order, "256"), slices.Index(order, "1279"); i > j {
			t.Error("the queue is not first in, first out")
		}
	})
}

func TestPanicsAreContained(t *testing.T) {
	both(t, func(_ context.Context, in *engine.Incoming) *era.Outcome {
		switch toolName(in) {
		case "panic":
			panic("secret")
		case "goexit":
			runtime.Goexit()
		}
		return result(`{}`)
	}, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		for _, how := range []string{"panic", "goexit"} {
			w.send(modernCall("1", how))
			w.want(refusal("1", "-32603", "Internal error"))
			w.send(modernCall("1", "fine"))
			w.want(modernAnswer("1", ""))
		}
		all := w.faults.list()
		if len(all) != 2 || !strings.Contains(all[0], "tools/call panicked: secret") || !strings.Contains(all[1], "ended its goroutine") {
			t.Errorf("faults: %q", all)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestHandshake(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	synctest.Test(t, func(t *testing.T) {
		fail := true
		w := serve(t, callOnly(func(ctx context.Context, in *engine.Incoming) *era.Outcome {
			if fail {
				fail = false
				return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "not yet")}
			}
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
			}
			return result(`{"protocolVersion":"` + in.Codec.Revision() + `"}`)
		}), engine.Options{})
		w.send(hello)
		w.want(refusal("1", "-32603", "not yet"))
		w.send(hello, cancelled("1")) // a refused handshake may be repeated, and none can be cancelled
		w.want(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`)
		w.send(hello)
		if got := w.next(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600`) {
			t.Errorf("a second handshake got %s", got)
		}
	})
}

// callOnly is a handler without any knowledge of its own.
type callOnly func(ctx context.Context, in *engine.Incoming) *era.Outcome

func (f callOnly) Call(ctx context.Context, in *engine.Incoming) *era.Outcome { return f(ctx, in) }
func (f callOnly) Notice(context.Context, *era.Notice, transport.Exchange)    {}
