package pipe_test

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// overPipes is a server over the pipes of the system, which hold answers back, and the end that feeds it bytes.
func overPipes(t *testing.T, h *handler) (*world, io.Writer) {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	client := stdio.Open(outR, inW, stdio.Options{})
	return serveOn(t, client, stdio.Open(inR, outW, stdio.Options{}), h, engine.Options{}), inW
}

// TestHeldAnswersLeave: an answer that was held back, because more had arrived, leaves although what follows it has no
// answer, or a late one, or is no message at all.
func TestHeldAnswersLeave(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	quick := &engine.Pace{}
	h := &handler{
		call: func(_ context.Context, in *engine.Incoming) *era.Outcome {
			if toolName(in) == "stuck" {
				<-stuck
			}
			return result(`{}`)
		},
		pace: func(in *engine.Incoming) *engine.Pace {
			if toolName(in) == "slow" {
				return nil
			}
			return quick
		},
	}
	cases := []struct {
		name  string
		after string // arrives with the first request
		then  string // part of what comes after the first answer; empty for nothing
	}{
		{"another request", modernCall("2", "quick"), modernAnswer("2", "")},
		{"a request with a goroutine of its own", modernCall("2", "slow"), modernAnswer("2", "")},
		{"a request that hangs", modernCall("2", "stuck"), ""},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/x","params":{` + claim + `}}`, ""},
		{"a notification of no handshake", `{"jsonrpc":"2.0","method":"notifications/x"}`, ""},
		{"garbage", `{]`, `"error":`},
		{"an array of nothing", `[]`, `"error":`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w, raw := overPipes(t, h)
			if _, err := io.WriteString(raw, modernCall("0", "quick")+"\n"); err != nil { // so that the reader knows what comes is no byte order mark
				t.Fatal(err)
			}
			w.want(modernAnswer("0", ""))
			if _, err := io.WriteString(raw, modernCall("1", "quick")+"\n"+c.after+"\n"); err != nil {
				t.Fatal(err)
			}
			w.want(modernAnswer("1", ""))
			if got := w.nextWithin(50 * time.Millisecond); (got == "") != (c.then == "") || !strings.Contains(got, c.then) {
				t.Errorf("then came %s", got)
			}
		})
	}
}

// TestManyAtOnce: of what is gathered nothing is lost and nothing comes twice. Where a handler takes long, the reading goes on
// beside it, so the order may be another.
func TestManyAtOnce(t *testing.T) {
	quick := &engine.Pace{}
	w, raw := overPipes(t, &handler{pace: func(*engine.Incoming) *engine.Pace { return quick }})
	const rounds, each = 20, 64
	for range rounds { // the ids of answers that have been read are free again
		var requests strings.Builder
		missing := make(map[string]bool)
		for id := range each {
			requests.WriteString(modernCall(strconv.Itoa(id), "quick") + "\n")
			missing[modernAnswer(strconv.Itoa(id), "")] = true
		}
		if _, err := io.WriteString(raw, requests.String()); err != nil {
			t.Fatal(err)
		}
		for range each {
			got := w.next()
			if !missing[got] {
				t.Fatalf("got %s, while %d answers are missing", got, len(missing))
			}
			delete(missing, got)
		}
	}
}
