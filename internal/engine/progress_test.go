package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// tells delivers progress of the first call: on its own stream, or on the GET stream of its session.
func tells(t *testing.T, via *streams, own bool, progress string) {
	t.Helper()
	frame := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":` + progress + `}}`
	m, err := jsonrpc.Decode([]byte(frame), negotiate.Lift)
	if err != nil {
		t.Fatal(err)
	}
	x := &related{exchange{message: m, codec: via.codec, peer: via.peer}, jsonrpc.ID{}}
	if own {
		x.id = jsonrpc.IntID(1)
	}
	via.engine.Deliver(t.Context(), x)
}

// answers delivers the answer of the first call on its own stream.
func answers(t *testing.T, via *streams) {
	t.Helper()
	m, err := jsonrpc.Decode([]byte(done), negotiate.Lift)
	if err != nil {
		t.Fatal(err)
	}
	via.engine.Deliver(t.Context(), &related{exchange{message: m, codec: via.codec, peer: via.peer}, jsonrpc.IntID(1)})
}

func value(params json.RawMessage) string {
	raw, _ := jsonrpc.Member(params, "progress")
	return string(raw)
}

// A server may split the progress of a call between its own stream and the GET stream. Each step is handed over when it
// comes, and none after a higher one.
func TestProgressOnTwoStreams(t *testing.T) {
	for _, c := range []struct{ name, steps, want string }{ // o is the call's own stream, g the GET stream
		{"GET stream alone", "g1 g2 g3", "1 2 3"},
		{"own stream alone", "o1 o2 o3", "1 2 3"},
		{"split", "g1 o2 g3 o4", "1 2 3 4"},
		{"overtaken", "o2 g1 g3 o3", "2 3"},
		{"repeated", "o1 g1 o1 o2", "1 2"},
		{"fractions", "g0.5 o0.75 g0.70 o1e0", "0.5 0.75 1e0"},
		{"below zero", "g-5 o-4", "-5 -4"},
		{"not numbers", `g"x" o1 g"y"`, `"x" 1 "y"`}, // left for the callback to judge
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, via := clientOn(t, mcp.Version20250618, call(empty))
				var got []string // no lock: only one callback runs at a time
				via.end = func(context.Context) (bool, error) {
					for step := range strings.FieldsSeq(c.steps) {
						tells(t, via, step[0] == 'o', step[1:])
						synctest.Wait()
					}
					if all := strings.Join(got, " "); all != c.want {
						t.Errorf("before the answer: got %s, want %s", all, c.want)
					}
					answers(t, via)
					return false, nil
				}
				if _, err := p.Call(t.Context(), via, tool(), engine.CallOptions{OnProgress: func(raw json.RawMessage) { got = append(got, value(raw)) }}); err != nil {
					t.Fatal(err)
				}
				if all := strings.Join(got, " "); all != c.want {
					t.Errorf("got %s, want %s", all, c.want)
				}
			})
		})
	}
}

// While a callback is slow, what comes on either stream waits: callbacks do not overlap, the newest value is never lost, and
// the answer comes after the last.
func TestProgressWithASlowCallback(t *testing.T) {
	const steps = 5000
	synctest.Test(t, func(t *testing.T) {
		p, via := clientOn(t, mcp.Version20250618, call(empty))
		running, calls, last := false, 0, ""
		via.end = func(context.Context) (bool, error) {
			for i := range steps { // while the first is being taken
				tells(t, via, false, fmt.Sprint(i+1))
			}
			answers(t, via)
			return false, nil
		}
		_, err := p.Call(t.Context(), via, tool(), engine.CallOptions{OnProgress: func(raw json.RawMessage) {
			if running {
				t.Error("two callbacks run at once")
			}
			running = true
			time.Sleep(time.Millisecond)
			running = false
			calls, last = calls+1, value(raw)
		}})
		if err != nil || last != fmt.Sprint(steps) {
			t.Errorf("the last was %s, %v", last, err)
		}
		if calls > 1001 {
			t.Errorf("%d steps were kept for a slow callback", calls)
		}
		tells(t, via, false, fmt.Sprint(steps+1))
		synctest.Wait()
		if last != fmt.Sprint(steps) {
			t.Error("a callback ran after the call had returned")
		}
	})
}

// What waits is bounded in bytes as well.
func TestProgressWithLargeMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, via := clientOn(t, mcp.Version20250618, call(empty))
		var got []string
		first := make(chan struct{})
		via.end = func(context.Context) (bool, error) {
			tells(t, via, false, "0")
			synctest.Wait()
			for i := range 20 {
				tells(t, via, false, fmt.Sprintf(`%d,"message":%q`, i+1, strings.Repeat("x", 300<<10)))
			}
			close(first)
			answers(t, via)
			return false, nil
		}
		_, err := p.Call(t.Context(), via, tool(), engine.CallOptions{OnProgress: func(raw json.RawMessage) {
			<-first
			got = append(got, value(raw))
		}})
		if want := []string{"0", "18", "19", "20"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, want %q; %v", got, want, err)
		}
	})
}

// A call that is given up ends while progress still floods in, and hands over none of what waits.
func TestProgressOfACallGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, via := clientOn(t, mcp.Version20250618, call(empty))
		via.end = func(ctx context.Context) (bool, error) {
			for i := 0; ctx.Err() == nil; i++ {
				tells(t, via, i%2 == 0, fmt.Sprint(i))
			}
			return false, ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		_, err := p.Call(ctx, via, tool(), engine.CallOptions{OnProgress: func(json.RawMessage) {
			if calls++; calls == 3 {
				cancel()
			}
		}})
		if err != context.Canceled || calls != 3 {
			t.Errorf("%d callbacks, then %v", calls, err)
		}
	})
}

// On a shared stream, too, a peer that tells more than the callback can take holds up no time limit.
func TestProgressFloodOnASharedStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, via := clientOn(t, mcp.Version20250618, call(empty))
		ended := make(chan struct{})
		via.end = func(context.Context) (bool, error) { // the answer is to come on another stream
			go func() {
				defer close(ended)
				for i := 0; !p.Idle(); i++ {
					tells(t, via, false, fmt.Sprint(i))
					time.Sleep(time.Millisecond)
				}
			}()
			return true, nil
		}
		began := time.Now()
		_, err := p.Call(t.Context(), via, tool(), engine.CallOptions{Timeout: time.Second, OnProgress: func(json.RawMessage) {
			time.Sleep(5 * time.Millisecond)
		}})
		if took := time.Since(began); !errors.Is(err, mcp.CodeRequestTimeout) || took > 1010*time.Millisecond {
			t.Errorf("after %s: %v", took, err)
		}
		<-ended
	})
}

// A callback that panics does so for the caller of Call, wherever it runs.
func TestProgressCallbackPanics(t *testing.T) {
	for _, own := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p, via := clientOn(t, mcp.Version20250618, call(empty))
			via.end = func(context.Context) (bool, error) {
				tells(t, via, own, "1")
				synctest.Wait()
				tells(t, via, own, "2")
				answers(t, via)
				return false, nil
			}
			calls := 0
			value := func() (value any) {
				defer func() { value = recover() }()
				_, err := p.Call(t.Context(), via, tool(), engine.CallOptions{OnProgress: func(json.RawMessage) {
					calls++
					panic("mine")
				}})
				t.Errorf("the call returned: %v", err)
				return nil
			}()
			if value != "mine" || calls != 1 || !p.Idle() {
				t.Errorf("on its own stream %t: recovered %v after %d callbacks, idle %t", own, value, calls, p.Idle())
			}
		})
	}
}
