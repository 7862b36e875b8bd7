package pipe_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/transport"
)

// goroutinesLeft waits a moment for goroutines beyond a number to end, and describes them when they do not.
func goroutinesLeft(before int) string {
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return ""
		}
		time.Sleep(5 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// Under load: whoever reads, every request is answered once or cancelled, and a cancellation that is sent
// behind its request always finds it.
func TestStress(t *testing.T) {
	before := runtime.NumGoroutine()
	paces := []*engine.Pace{{}, {}, nil}
	var lost atomic.Int64
	h := &handler{
		call: func(ctx context.Context, in *engine.Incoming) *era.Outcome {
			switch toolName(in) {
			case "wait": // only ever ends by its cancellation
				select {
				case <-ctx.Done():
				case <-time.After(20 * time.Second):
					lost.Add(1)
				}
			case "nap":
				time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
			}
			return result(`{}`)
		},
		pace: func(in *engine.Incoming) *engine.Pace { return paces[len(in.ID().String())%len(paces)] },
	}
	w := serve(t, h, engine.Options{MaxQueued: -1})
	w.handshake("2025-03-26")

	var total atomic.Int64
	answers, counted := make(map[string]int), make(chan struct{})
	want := make(map[string]bool)
	go func() {
		defer close(counted)
		for {
			frame, err := w.client.Read(context.Background())
			if err != nil {
				return
			}
			for part := range strings.SplitSeq(string(frame), `"id":`) {
				if id, _, ok := strings.Cut(part, ","); ok && !strings.HasPrefix(part, "{") && !strings.HasPrefix(part, "[") {
					answers[id]++
					total.Add(1)
				}
			}
		}
	}()
	for i := range 3000 { // a number, not a time: what is sent in one differs from machine to machine, and so does the wait below
		id := fmt.Sprint(i)
		switch rand.IntN(6) {
		case 0:
			w.send(modernCall(id, "wait"), cancelled(id))
		case 1:
			w.send(modernCall(id, "nap"))
			want[id] = true
		case 2:
			w.send("[" + legacyCall(id, "nap") + "," + legacyCall(`"`+id+`"`, "wait") + "," + cancelled(`"`+id+`"`) + "]")
			want[id] = true
		case 3:
			w.send(legacyCall(id, "echo"))
			want[id] = true
		default:
			w.send(modernCall(id, "echo"))
			want[id] = true
		}
	}
	peer := w.engine.Peers()[0]
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if total.Load() >= int64(len(want)) && peer.Idle() {
			break
		}
	}
	idle := peer.Idle()
	time.Sleep(20 * time.Millisecond) // an answer too many would come now
	if err := w.finish(); err != nil {
		t.Error(err)
	}
	<-counted
	if n := lost.Load(); n > 0 || !idle {
		t.Errorf("%d cancellations were lost, idle %v", n, idle)
	}
	for id, n := range answers {
		if !want[id] || n != 1 {
			t.Errorf("%d answers for %s", n, id)
		}
	}
	if len(answers) != len(want) {
		t.Errorf("%d answers for %d requests", len(answers), len(want))
	}
	if all := w.faults.list(); len(all) > 0 {
		t.Errorf("faults: %.2000q", all)
	}
	if left := goroutinesLeft(before); left != "" {
		t.Errorf("goroutines are left:\n%s", left)
	}
}

// A peer that sends without end and reads nothing must not make this side grow without end; when it reads after all, it
// gets every answer.
func TestAPeerThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair(1)
		w := serveOn(t, near, far, inline(nil), engine.Options{MaxInFlight: 8, MaxQueued: 8})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		sent := 0
		for near.Write(ctx, []byte(modernCall(fmt.Sprint(sent), "a"))) == nil {
			sent++
		}
		if sent < 1024 || sent > 1100 {
			t.Errorf("%d requests were taken, want about as many as there may be leaders", sent)
		}
		answered := 0
		for w.next() != "" {
			answered++
		}
		if answered != sent {
			t.Errorf("%d answers for %d requests", answered, sent)
		}
		w.send(modernCall(`"end"`, "a"))
		w.want(modernAnswer(`"end"`, ""))
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}
