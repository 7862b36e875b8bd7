// Package conntest is the contract of transport.Conn as tests, run over each implementation.
package conntest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// Open makes a connection and hands over both ends. The end called near is under test. far may be nil where the other
// end is a process that sends each frame back until its input ends, and then exits.
type Open func(t *testing.T) (near, far transport.Conn)

// patience bounds each step of a test, in place of waiting for ever.
const patience = 10 * time.Second

// Run holds a Conn to what transport.Conn promises.
func Run(t *testing.T, open Open) {
	steps := []struct {
		name string
		run  func(t *testing.T, near transport.Conn)
	}{
		{"frames come back in order", inOrder},
		{"frame sizes", sizes},
		{"line breaks are dropped", lineBreaks},
		{"empty frame refused", emptyFrame},
		{"frames belong to the reader", ownership},
		{"frame not kept after Write", notKept},
		{"many writers", manyWriters},
		{"Read ends with its context", readContext},
		{"Close unblocks Read", closeUnblocksRead},
		{"Close twice and at once", closeTwice},
		{"nothing works after Close", afterClose},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			CheckGoroutines(t)
			near, far := open(t)
			if far != nil {
				Echo(t, far)
			}
			t.Cleanup(func() { near.Close() })
			step.run(t, near)
		})
	}
	t.Run("EOF after the other side closed", func(t *testing.T) {
		CheckGoroutines(t)
		near, far := open(t)
		t.Cleanup(func() { near.Close() })
		if far == nil {
			t.Skip("the other end is a process; see its own tests")
		}
		endOfStream(t, near, far)
	})
}

// Echo sends back what it reads from far until the stream ends. It is waited for when the test ends.
func Echo(t *testing.T, far transport.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			frame, err := far.Read(context.Background())
			if err != nil {
				return
			}
			if err := far.Write(context.Background(), frame); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		far.Close()
		<-done
	})
}

func write(t *testing.T, c transport.Conn, frame string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Write(ctx, []byte(frame)); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func read(t *testing.T, c transport.Conn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	frame, err := c.Read(ctx)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(frame)
}

func inOrder(t *testing.T, c transport.Conn) {
	for i := range 200 {
		write(t, c, fmt.Sprint(i))
		if got := read(t, c); got != fmt.Sprint(i) {
			t.Fatalf("frame %d came back as %q", i, got)
		}
	}
}

func sizes(t *testing.T, c transport.Conn) {
	for _, size := range []int{1, 63 << 10, 64 << 10, 65 << 10, 5 << 20} {
		want := `"` + strings.Repeat("a", size) + `"`
		write(t, c, want)
		if got := read(t, c); got != want {
			t.Fatalf("%d bytes came back as %d", len(want), len(got))
		}
	}
}

func lineBreaks(t *testing.T, c transport.Conn) {
	write(t, c, "{\r\n\"a\":\n1}\n")
	if got := read(t, c); got != `{"a":1}` {
		t.Errorf("got %q", got)
	}
}

func emptyFrame(t *testing.T, c transport.Conn) {
	for _, frame := range []string{"", "\n", "\r\n"} {
		if err := c.Write(t.Context(), []byte(frame)); !errors.Is(err, transport.ErrEmptyFrame) {
			t.Errorf("%q: %v", frame, err)
		}
	}
	write(t, c, "1")
	if got := read(t, c); got != "1" {
		t.Errorf("then got %q", got)
	}
}

func ownership(t *testing.T, c transport.Conn) {
	write(t, c, "first")
	first, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, c, "other")
	read(t, c)
	if string(first) != "first" {
		t.Errorf("a later Read changed the frame: %q", first)
	}
}

func notKept(t *testing.T, c transport.Conn) {
	frame := []byte("before")
	if err := c.Write(t.Context(), frame); err != nil {
		t.Fatal(err)
	}
	copy(frame, "after!")
	if got := read(t, c); got != "before" {
		t.Errorf("got %q", got)
	}
}

func manyWriters(t *testing.T, c transport.Conn) {
	const writers, each = 16, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				frame := fmt.Sprintf("%d %d %s", w, i, bytes.Repeat([]byte("x"), 100*w))
				if err := c.Write(t.Context(), []byte(frame)); err != nil {
					t.Errorf("write: %v", err)
					return
				}
			}
		})
	}
	next := make([]int, writers)
	for range writers * each {
		var w, i int
		var pad string
		if frame := read(t, c); !parse(frame, &w, &i, &pad) || i != next[w] || len(pad) != 100*w {
			t.Fatalf("frame out of order or torn: %.40q", frame)
		}
		next[w]++
	}
	wg.Wait()
}

// parse reads a frame of manyWriters; writer 0 pads with nothing.
func parse(frame string, w, i *int, pad *string) bool {
	n, _ := fmt.Sscanf(frame, "%d %d", w, i)
	parts := strings.SplitN(frame, " ", 3)
	*pad = parts[len(parts)-1]
	return n == 2 && len(parts) == 3 && *w >= 0 && *w < 16
}

func readContext(t *testing.T, c transport.Conn) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Read(over); !errors.Is(err, context.Canceled) {
		t.Errorf("context over before: %v", err)
	}
	for range 5 { // a Read that was given up must leave the next one whole
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		if _, err := c.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("context over during: %v", err)
		}
		cancel()
		write(t, c, "1")
		if got := read(t, c); got != "1" {
			t.Errorf("then got %q", got)
		}
	}
}

func closeUnblocksRead(t *testing.T, c transport.Conn) {
	result := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		close(started)
		_, err := c.Read(context.Background())
		result <- err
	}()
	<-started
	closeSoon(t, c)
	expect(t, result, transport.ErrClosed)
}

func closeTwice(t *testing.T, c transport.Conn) {
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { closeSoon(t, c) })
	}
	wg.Wait()
	closeSoon(t, c)
}

func afterClose(t *testing.T, c transport.Conn) {
	closeSoon(t, c)
	if _, err := c.Read(t.Context()); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if err := c.Write(t.Context(), []byte("1")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("write: %v", err)
	}
}

func endOfStream(t *testing.T, near, far transport.Conn) {
	wrote := make(chan error, 1)
	go func() {
		err := errors.Join(far.Write(t.Context(), []byte("1")), far.Write(t.Context(), []byte("2")), far.Close())
		wrote <- err
	}()
	for _, want := range []string{"1", "2"} {
		if got := read(t, near); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	expect(t, wrote, nil)
	for range 2 {
		if _, err := near.Read(t.Context()); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	}
}

func closeSoon(t *testing.T, c transport.Conn) {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- c.Close() }()
	expect(t, result, nil)
}

func expect(t *testing.T, result <-chan error, want error) {
	t.Helper()
	select {
	case err := <-result:
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	case <-time.After(patience):
		t.Errorf("still waiting after %v", patience)
	}
}

// CheckGoroutines fails the test when goroutines it started are still there after its clean-ups.
func CheckGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		var now int
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if now = runtime.NumGoroutine(); now <= before {
				return
			}
		}
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, now, stacks[:runtime.Stack(stacks, true)])
	})
}
