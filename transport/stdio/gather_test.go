package stdio

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// feed is an input that arrives piece by piece.
type feed chan string

func (f feed) Read(p []byte) (int, error) {
	piece, more := <-f
	if !more {
		return 0, io.EOF
	}
	return copy(p, piece), nil
}

// writes keeps each write that reaches it.
type writes struct {
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(p))
	return len(p), nil
}

// left is what has been written, with a bar between the writes.
func (w *writes) left() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ReplaceAll(strings.Join(w.all, "|"), "\n", "")
}

// gatherer opens a connection whose input has arrived already.
func gatherer(t *testing.T, input string) (transport.Gatherer, *writes) {
	t.Helper()
	out := &writes{}
	c, ok := Open(strings.NewReader(input), out, Options{}).(transport.Gatherer)
	if !ok {
		t.Fatal("the connection cannot gather")
	}
	t.Cleanup(func() { c.Close() })
	return c, out
}

func TestAnswersAreGathered(t *testing.T) {
	ctx := context.Background()
	gather := func(t *testing.T, c transport.Gatherer, answer string) {
		t.Helper()
		if err := c.Gather(ctx, []byte(answer)); err != nil {
			t.Fatal(err)
		}
	}
	// What happens after the answer to the first request, while the second one has arrived already.
	cases := []struct {
		name, input string
		then        func(t *testing.T, c transport.Gatherer)
		want        string
	}{
		{"nothing", "1\n2\n", func(*testing.T, transport.Gatherer) {}, ""},
		{"the answer to the last request", "1\n2\n", func(t *testing.T, c transport.Gatherer) {
			mustRead(t, c)
			gather(t, c, "b")
		}, "ab"},
		{"a notification", "1\n2\n", func(t *testing.T, c transport.Gatherer) {
			if err := c.Write(ctx, []byte("n")); err != nil {
				t.Fatal(err)
			}
		}, "an"},
		{"a flush", "1\n2\n", func(t *testing.T, c transport.Gatherer) {
			if c.Due() {
				t.Error("due while a request has arrived")
			}
			if err := c.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}, "a"},
		{"close", "1\n2\n", func(_ *testing.T, c transport.Gatherer) { c.Close() }, "a"},
		{"too long a time", "1\n2\n3\n", func(t *testing.T, c transport.Gatherer) {
			time.Sleep(maxHeld)
			mustRead(t, c)
			gather(t, c, "b")
		}, "ab"},
		{"too much", "1\n2\n3\n", func(t *testing.T, c transport.Gatherer) {
			mustRead(t, c)
			gather(t, c, strings.Repeat("b", keepBytes))
		}, "a" + strings.Repeat("b", keepBytes)},
		{"no answer to the last request", "1\n2\n", func(t *testing.T, c transport.Gatherer) {
			mustRead(t, c)
			if !c.Due() {
				t.Error("not due though nothing has arrived")
			}
		}, ""},
		{"the last one was alone", "1\n", func(*testing.T, transport.Gatherer) {}, "a"},
		{"empty lines follow", "1\n\r\n\n", func(*testing.T, transport.Gatherer) {}, "a"},
		{"half a line follows", "1\n2", func(*testing.T, transport.Gatherer) {}, "a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, out := gatherer(t, c.input)
				mustRead(t, conn)
				gather(t, conn, "a")
				c.then(t, conn)
				if got := out.left(); got != c.want {
					t.Errorf("written %.40q, want %.40q", got, c.want)
				}
				conn.Close()
			})
		})
	}
}

// Answers that waited for each other come out in one write each time the input has been read empty.
func TestEachArrivalIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer, out := make(feed, 1), &writes{}
		c := Open(peer, out, Options{}).(transport.Gatherer)
		defer c.Close()
		for _, arrival := range []string{"1\n2\n3\n", "4\n", "5\n6\n"} {
			peer <- arrival
			for range strings.Count(arrival, "\n") {
				if err := c.Gather(t.Context(), []byte(mustRead(t, c))); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait() // the write is over
		}
		close(peer)
		if got := out.left(); got != "123|4|56" {
			t.Errorf("written %s", got)
		}
	})
}
