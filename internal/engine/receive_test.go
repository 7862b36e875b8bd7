package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

func TestStatelessLimits(t *testing.T) {
	ann, bob := &mcp.Principal{Subject: "ann"}, &mcp.Principal{Subject: "bob"}
	cases := []struct {
		name  string
		opts  engine.Options
		who   []*mcp.Principal
		taken string // y for each that runs, n for each that is refused
	}{
		{"one limit for all without a principal", engine.Options{MaxAnonymous: 2, MaxInFlight: 9}, []*mcp.Principal{nil, nil, nil}, "yyn"},
		{"one for each principal", engine.Options{MaxAnonymous: 9, MaxInFlight: 1}, []*mcp.Principal{ann, bob, ann, nil, bob, nil}, "yynyny"},
		{"none", engine.Options{MaxAnonymous: -1, MaxInFlight: -1}, []*mcp.Principal{nil, nil, ann, ann}, "yyyy"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				e := engine.New(call(func(context.Context, *engine.Incoming) *era.Outcome {
					<-release
					return &era.Outcome{Result: json.RawMessage(`{}`)}
				}), c.opts)
				var all []*exchange
				round := func() {
					all = nil
					for _, who := range c.who {
						x := modern(t, mcp.MethodCallTool, `"name":"x"`)
						x.principal = who
						all = append(all, x)
						go e.Receive(t.Context(), x)
						synctest.Wait()
					}
				}
				for range 2 { // the places come back
					round()
					close(release)
					synctest.Wait()
					release = make(chan struct{})
					for i, x := range all {
						want := map[byte]string{'y': "result", 'n': "error busy"}[c.taken[i]]
						x.want(t, want)
					}
				}
			})
		})
	}
}

func TestAnswerToAConnectionThatIsGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := engine.New(call(func(ctx context.Context, in *engine.Incoming) *era.Outcome {
		cancel()
		if in.Live() {
			t.Error("the request lives on")
		}
		if err := in.Notify(ctx, &era.Notice{Method: mcp.NotifyProgress}); !errors.Is(err, context.Canceled) {
			t.Errorf("Notify: %v", err)
		}
		return empty(ctx, in)
	}), engine.Options{})
	x := modern(t, mcp.MethodCallTool, `"name":"x"`)
	e.Receive(ctx, x)
	x.want(t, "drop")
}

func TestRequestIsAnsweredOnce(t *testing.T) {
	for _, peer := range []bool{false, true} {
		t.Run(fmt.Sprint("peer ", peer), func(t *testing.T) {
			var kept *engine.Incoming
			e := engine.New(call(func(ctx context.Context, in *engine.Incoming) *era.Outcome {
				kept = in
				in.Finish(empty(ctx, in))
				return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "again")}
			}), engine.Options{MaxInFlight: 1})
			for range 3 { // a place given back twice would let a second one in, or fail here
				x := modern(t, mcp.MethodCallTool, `"name":"x"`)
				if peer {
					p, err := e.Open(transport.PeerSpec{Codec: x.codec, Outlet: &outlet{}})
					if err != nil {
						t.Fatal(err)
					}
					defer p.Close(nil)
					x.peer = p
				}
				e.Receive(t.Context(), x)
				kept.Finish(empty(t.Context(), kept))
				if err := kept.Notify(t.Context(), &era.Notice{Method: mcp.NotifyProgress}); err == nil {
					t.Error("a notification went out behind the answer")
				}
				x.want(t, "result")
			}
		})
	}
}

// eager is an exchange whose client makes its next request the moment it sees the answer, and before the answer's writer
// goes on.
type eager struct {
	*exchange
	next func()
}

func (x eager) Answer(ctx context.Context, frame []byte, row int, code int64) error {
	err := x.exchange.Answer(ctx, frame, row, code)
	x.next()
	return err
}

// TestIDIsFreeWithItsAnswer: a client may use the id of a request again as soon as it has the answer, whatever that is.
func TestIDIsFreeWithItsAnswer(t *testing.T) {
	for name, answer := range map[string]call{
		"result": empty,
		"error": func(context.Context, *engine.Incoming) *era.Outcome {
			return &era.Outcome{Err: mcp.Errorf(mcp.CodeInvalidParams, "no")}
		},
		"panic": func(context.Context, *engine.Incoming) *era.Outcome { panic("no") },
		"finished early": func(ctx context.Context, in *engine.Incoming) *era.Outcome {
			in.Finish(empty(ctx, in))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			e := engine.New(call(func(ctx context.Context, in *engine.Incoming) *era.Outcome {
				if calls++; calls == 1 {
					return answer(ctx, in)
				}
				return empty(ctx, in)
			}), engine.Options{})
			p, err := e.Open(transport.PeerSpec{Outlet: &outlet{}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close(nil)
			const frame = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`
			second := legacy(t, p, frame)
			first := legacy(t, p, frame)
			e.Receive(t.Context(), eager{first, func() { e.Receive(t.Context(), second) }})
			second.want(t, "result")
		})
	}
}

func TestCancelledRequestIsReleasedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var faults []string
		e := engine.New(call(func(ctx context.Context, in *engine.Incoming) *era.Outcome {
			if in.ID().String() == "1" {
				<-ctx.Done()
				in.Finish(nil) // at once twice: what comes after a cancellation is dropped
				in.Finish(nil)
			}
			<-ctx.Done()
			return empty(ctx, in)
		}), engine.Options{MaxInFlight: 2, OnError: func(err error) { faults = append(faults, err.Error()) }})
		p, err := e.Open(transport.PeerSpec{Codec: codec(t, mcp.Version20250618), Outlet: &outlet{}})
		if err != nil {
			t.Fatal(err)
		}
		request := func(id string) *exchange {
			return legacy(t, p, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"x"}}`)
		}
		first := request("1")
		e.Deliver(t.Context(), first)
		e.Deliver(t.Context(), request("2"))
		e.Deliver(t.Context(), legacy(t, p, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		synctest.Wait()
		first.want(t, "drop")
		third := request("3")
		e.Deliver(t.Context(), third)
		fourth := request("4") // two run: this one has to wait
		go e.Receive(t.Context(), fourth)
		synctest.Wait()
		fourth.want(t, "error busy")
		p.Close(nil)
		third.want(t, "drop")
		if len(faults) > 0 {
			t.Errorf("faults: %q", faults)
		}
	})
}

func TestSessionIsOverWhenItsPeerIs(t *testing.T) {
	var told []string
	e := engine.New(call(empty), engine.Options{OnError: func(err error) { told = append(told, err.Error()) }})
	out := &outlet{}
	p, err := e.Open(transport.PeerSpec{Codec: codec(t, mcp.Version20250618), Outlet: out})
	if err != nil {
		t.Fatal(err)
	}
	p.Close(nil)
	p.Close(errors.New("again"))
	out.want(t, "end")
	x := legacy(t, p, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	e.Receive(t.Context(), x)
	x.want(t, `error {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the session has ended; open a new one"}}`)
	note := legacy(t, p, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	e.Receive(t.Context(), note)
	note.want(t, "drop")
	if len(told) != 1 || !strings.Contains(told[0], "dropped notifications/roots/list_changed") {
		t.Errorf("faults: %q", told)
	}
}

// A handler that ignores its context holds Close no longer than the grace.
func TestCloseGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		stuck := make(chan struct{})
		e := engine.New(call(func(ctx context.Context, in *engine.Incoming) *era.Outcome {
			<-stuck
			return empty(ctx, in)
		}), engine.Options{CloseGrace: 3 * time.Second, OnError: func(err error) { told = append(told, err.Error()) }})
		p, err := e.Open(transport.PeerSpec{Codec: codec(t, mcp.Version20250618), Outlet: &outlet{}})
		if err != nil {
			t.Fatal(err)
		}
		x := legacy(t, p, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
		go e.Receive(t.Context(), x)
		synctest.Wait()
		began := time.Now()
		p.Close(nil)
		if took := time.Since(began); took != 3*time.Second || len(told) != 1 || !strings.Contains(told[0], "still runs") {
			t.Errorf("after %s: %q", took, told)
		}
		close(stuck)
		synctest.Wait()
		x.want(t, "drop")
	})
}

func TestDrainKeepsToItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(call(func(ctx context.Context, in *engine.Incoming) *era.Outcome {
			<-ctx.Done()
			return empty(ctx, in)
		}), engine.Options{})
		p, err := e.Open(transport.PeerSpec{Codec: codec(t, mcp.Version20250618), Outlet: &outlet{}})
		if err != nil {
			t.Fatal(err)
		}
		e.Deliver(t.Context(), legacy(t, p, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		p.Drain(ctx)
		if took := time.Since(began); took != time.Second {
			t.Errorf("Drain took %s", took)
		}
		p.Close(nil)
		p.Drain(t.Context()) // nothing is left to wait for
	})
}

// noticeHandler takes notifications.
type noticeHandler struct {
	call
	take func(n *era.Notice)
}

func (h noticeHandler) Notice(_ context.Context, n *era.Notice, _ transport.Exchange) { h.take(n) }

func TestNotificationsOfOnePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		taken, gate := 0, make(chan struct{})
		h := noticeHandler{call(empty), func(*era.Notice) {
			<-gate
			if taken++; taken == 2 {
				panic("two")
			}
		}}
		e := engine.New(h, engine.Options{OnError: func(err error) { mu.Lock(); defer mu.Unlock(); told = append(told, err.Error()) }})
		p, err := e.Open(transport.PeerSpec{Codec: codec(t, mcp.Version20250618), Outlet: &outlet{}})
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + 10000 + 3 { // one runs, 10,000 wait, three are too many
			e.Deliver(t.Context(), legacy(t, p, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`))
			if taken == 0 {
				synctest.Wait()
			}
		}
		close(gate)
		synctest.Wait()
		if taken != 10001 || len(told) != 4 || !strings.Contains(told[0], "10000 notifications wait") || !strings.Contains(told[3], "panicked: two") {
			t.Errorf("%d taken; %d faults: %.300q", taken, len(told), told)
		}
		p.Close(nil)
	})
}

// TestLargeNotificationsOfOnePeer: what waits for a slow handler is bounded in bytes too, but for one that waits alone.
func TestLargeNotificationsOfOnePeer(t *testing.T) {
	for _, c := range []struct {
		name              string
		size, sent, taken int
	}{
		{"of 1 MiB", 1 << 20, 80, 1 + 63}, // one runs; a frame is a little more than its text
		{"of 65 MiB", 65 << 20, 4, 1 + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				taken, dropped, gate := 0, 0, make(chan struct{})
				e := engine.New(noticeHandler{call(empty), func(*era.Notice) { <-gate; taken++ }}, engine.Options{OnError: func(err error) {
					if dropped++; !strings.Contains(err.Error(), "or 64 MiB of them") {
						t.Errorf("told %v", err)
					}
				}})
				p, err := e.Open(transport.PeerSpec{Codec: codec(t, mcp.Version20250618), Outlet: &outlet{}})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close(nil)
				x := legacy(t, p, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"x":"`+strings.Repeat("x", c.size)+`"}}`)
				for range 2 { // room comes back
					for range c.sent {
						e.Deliver(t.Context(), x)
						synctest.Wait()
					}
					close(gate)
					synctest.Wait()
					if taken != c.taken || dropped != c.sent-c.taken {
						t.Errorf("%d taken and %d dropped, want %d taken", taken, dropped, c.taken)
					}
					taken, dropped, gate = 0, 0, make(chan struct{})
				}
			})
		})
	}
}

func TestSubscriptionsOfOnePeerAreBounded(t *testing.T) {
	e := engine.New(call(empty), engine.Options{})
	opened, err := e.Open(transport.PeerSpec{Outlet: &outlet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close(nil)
	p := opened.(*engine.Peer)
	takes := func(uri string) bool {
		place, err := p.Subscribe(t.Context(), uri)
		return place && err == nil
	}
	for i := range 10000 {
		if !takes(fmt.Sprint(i)) {
			t.Fatalf("the subscription %d was refused", i)
		}
	}
	if takes("one more") || !takes("7") {
		t.Error("the limit is not where it should be")
	}
	if err := p.Unsubscribe(t.Context(), "7"); err != nil || !takes("one more") {
		t.Errorf("a place did not come back (%v)", err)
	}
}
