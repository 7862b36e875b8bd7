package pipe_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
)

func TestBatch(t *testing.T) {
	both(t, func(ctx context.Context, in *engine.Incoming) *era.Outcome {
		switch toolName(in) {
		case "slow":
			time.Sleep(time.Second)
		case "wait":
			<-ctx.Done()
		}
		return result(`{}`)
	}, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		w.handshake("2025-03-26")
		batch := func(frames ...string) { w.send("[" + strings.Join(frames, " , ") + "]") }
		note := `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`

		began := time.Now()
		batch(legacyCall("1", "slow"), note, legacyCall("2", "echo"), `{"jsonrpc":"2.0","id":3,"method":"no/such"}`, legacyCall("4", "slow"))
		got := w.nextWithin(5 * time.Second)
		for _, id := range []string{"1", "2", "3", "4"} {
			if strings.Count(got, `"id":`+id+`,`) != 1 {
				t.Errorf("no answer for %s in %s", id, got)
			}
		}
		if !strings.HasPrefix(got, "[") || !strings.HasSuffix(got, "]") {
			t.Errorf("got %s", got)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("the elements did not run at once: %s", took)
		}

		batch(note, note)
		w.quiet() // nothing to answer
		batch(legacyCall("1", "wait"), cancelled("1"), legacyCall("2", "echo"))
		w.want("[" + legacyAnswer("2", "") + "]")
		batch(legacyCall("1", "wait"), cancelled("1"))
		w.quiet()
		w.send("[" + strings.Repeat(note+",", 100) + note + "]")
		w.want(refusal("", "-32600", "101 messages in one array; the limit is 100"))
		w.send(legacyCall("1", "echo"))
		w.want(legacyAnswer("1", ""))
	})
}

func TestBatchOfARevisionWithoutArrays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, &handler{}, engine.Options{})
		w.handshake("2025-06-18")
		w.send("[" + legacyCall("1", "echo") + "]")
		w.want(refusal("", "-32600", "revision 2025-06-18 has no arrays of messages; send them one by one"))
	})
}
