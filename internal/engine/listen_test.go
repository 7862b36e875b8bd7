package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

const (
	ack     = `send {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"`
	tools   = `send {"jsonrpc":"2.0","method":"notifications/tools/list_changed"`
	updated = `send {"jsonrpc":"2.0","method":"notifications/resources/updated"`
)

func listens(ctx context.Context, in *engine.Incoming) *era.Outcome {
	return in.Listen(ctx, mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"book:1"}})
}

func listen(t *testing.T) *exchange { return modern(t, mcp.MethodListen, `"notifications":{}`) }

// onBothWires runs a listen in the background, on a wire that parks and on one that does not.
func onBothWires(t *testing.T, test func(t *testing.T, e *engine.Engine, x *exchange, over <-chan struct{}, leave func())) {
	for name, parks := range map[string]bool{"parked": true, "held": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine.New(call(listens), engine.Options{})
				x := listen(t)
				x.parks = parks
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan struct{})
				go func() { defer close(over); e.Receive(ctx, x) }()
				synctest.Wait()
				leave := cancel
				if parks {
					leave = func() { cancel(); x.gone() }
				}
				test(t, e, x, over, leave)
				<-over
				if n := e.Listens(); n != 0 {
					t.Errorf("%d listens are left", n)
				}
			})
		})
	}
}

func TestStatelessListen(t *testing.T) {
	onBothWires(t, func(t *testing.T, e *engine.Engine, x *exchange, _ <-chan struct{}, leave func()) {
		e.Announce(engine.ToolsChanged, "")
		e.Announce(engine.ResourceUpdated, "book:1")
		time.Sleep(time.Second)
		e.Announce(engine.PromptsChanged, "")
		leave()
		time.Sleep(time.Second)
		e.Announce(engine.ToolsChanged, "")
		time.Sleep(time.Second)
		x.want(t, ack, updated, tools, "drop")
	})
}

func TestStatelessListenIsEndedByShutdown(t *testing.T) {
	onBothWires(t, func(t *testing.T, e *engine.Engine, x *exchange, over <-chan struct{}, leave func()) {
		if err := e.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		select {
		case <-over: // also where the wire cannot park: nothing holds the connection any more
		case <-time.After(time.Minute):
			t.Error("Receive does not return")
		}
		leave()
		x.want(t, ack, `result {"jsonrpc":"2.0","id":1,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":1`)
		late := listen(t)
		e.Receive(t.Context(), late)
		late.want(t, `error busy {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server is shutting down"`)
	})
}

// slowAck is an exchange that takes its time for what is sent.
type slowAck struct{ *exchange }

func (x slowAck) Send(ctx context.Context, frame []byte) error {
	time.Sleep(time.Second)
	return x.exchange.Send(ctx, frame)
}

func TestTheAcknowledgementComesFirst(t *testing.T) {
	cases := map[string]struct {
		meanwhile func(e *engine.Engine)
		want      []string
	}{
		"a change":   {func(e *engine.Engine) { e.Announce(engine.ResourceUpdated, "book:1") }, []string{ack, updated}},
		"a shutdown": {func(e *engine.Engine) { e.Shutdown(context.Background()) }, []string{ack, "result"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine.New(call(listens), engine.Options{})
				x := listen(t)
				go e.Receive(t.Context(), slowAck{x})
				synctest.Wait()
				c.meanwhile(e)
				time.Sleep(10 * time.Second)
				x.want(t, c.want...)
			})
		})
	}
}

func TestListenWithoutAStream(t *testing.T) {
	e := engine.New(call(listens), engine.Options{})
	x := listen(t)
	x.refuses = transport.ErrUndeliverable
	e.Receive(t.Context(), x)
	x.want(t, "error not acceptable")
	if n := e.Listens(); n != 0 {
		t.Errorf("%d listens are left", n)
	}
}

// A listener that cannot be reached any more loses its stream and harms nobody else.
func TestListenerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(call(listens), engine.Options{})
		bad, good := listen(t), listen(t)
		e.Receive(t.Context(), bad)
		e.Receive(t.Context(), good)
		bad.refuses = errors.New("broken pipe")
		e.Announce(engine.ToolsChanged, "")
		time.Sleep(time.Second)
		bad.want(t, ack, "drop")
		good.want(t, ack, tools)
		if n := e.Listens(); n != 1 {
			t.Errorf("%d listens are open", n)
		}
	})
}

// A shutdown does not wait longer than its context for streams that take nothing.
func TestShutdownKeepsToItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		e := engine.New(call(listens), engine.Options{})
		for range 3 {
			e.Receive(t.Context(), &stuckAnswer{listen(t), stuck})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := e.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %s", took)
		}
		close(stuck)
	})
}

type stuckAnswer struct {
	*exchange
	stuck chan struct{}
}

func (x *stuckAnswer) Answer(context.Context, []byte, int, int64) error {
	<-x.stuck
	return nil
}

// TestShutdownInTheMiddleOfAnAcknowledgement holds that a shutdown waits for a listen that is being opened: its client gets the
// acknowledgement and then the end, before connections are closed.
func TestShutdownInTheMiddleOfAnAcknowledgement(t *testing.T) {
	for name, refuses := range map[string]error{"sent": nil, "not sent": errors.New("gone")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine.New(call(listens), engine.Options{})
				x := listen(t)
				x.held, x.refuses = make(chan struct{}), refuses
				go e.Receive(t.Context(), x)
				synctest.Wait()
				down := make(chan error, 1)
				go func() { down <- e.Shutdown(context.Background()) }()
				synctest.Wait()
				select {
				case <-down:
					t.Fatal("the shutdown did not wait")
				default:
				}
				close(x.held)
				if err := <-down; err != nil {
					t.Error(err)
				}
				if refuses == nil {
					x.want(t, ack, `result {"jsonrpc":"2.0","id":1,"result":`)
				}
				if n := e.Listens(); n != 0 {
					t.Errorf("%d listens are left", n)
				}
			})
		})
	}
}
