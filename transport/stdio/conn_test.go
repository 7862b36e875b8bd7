package stdio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/conntest"
)

// short keeps tests of refusing peers short.
var short = Options{FlushTimeout: 50 * time.Millisecond}

func osPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestContract(t *testing.T) {
	wires := map[string]conntest.Open{
		"os pipes": func(t *testing.T) (near, far transport.Conn) {
			inR, inW := osPipe(t)
			outR, outW := osPipe(t)
			return Open(inR, outW, short), Open(outR, inW, short)
		},
		"io pipes": func(t *testing.T) (near, far transport.Conn) {
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			return Open(inR, outW, short), Open(outR, inW, short)
		},
		"one socket": func(t *testing.T) (near, far transport.Conn) {
			a, b := net.Pipe()
			return Open(a, a, short), Open(b, b, short)
		},
	}
	for name, open := range wires {
		t.Run(name, func(t *testing.T) { conntest.Run(t, open) })
	}
}

// After the end of input the answers to what was read still leave.
func TestAnswersAfterEOF(t *testing.T) {
	conntest.CheckGoroutines(t)
	var out bytes.Buffer
	c := Open(strings.NewReader("1\n2\n3"), &out, Options{})
	var read []string
	for {
		frame, err := c.Read(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, string(frame))
	}
	for _, frame := range read {
		if err := c.Write(t.Context(), []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil || out.String() != "1\n2\n3\n" {
		t.Errorf("wrote %q, %v", out.String(), err)
	}
}

// A peer that reads nothing: Write waits, and ends with its context; nothing is torn when the peer reads again.
func TestWriteWaitsForThePeer(t *testing.T) {
	conntest.CheckGoroutines(t)
	r, w := osPipe(t)
	in, _ := osPipe(t)
	c := Open(in, w, Options{})
	big := bytes.Repeat([]byte("x"), 1<<20)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Write(ctx, big); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if err := c.Write(ctx, []byte("2")); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("with a context that is over: %v", err)
	}
	got := make(chan []string)
	go func() { got <- lines(t, r, -1) }()
	if err := c.Write(t.Context(), []byte("3")); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if frames := <-got; len(frames) != 2 || frames[0] != string(big) || frames[1] != "3" {
		t.Errorf("%d frames arrived, torn or lost", len(frames))
	}
}

func TestCloseEndsAWriteThatWaits(t *testing.T) {
	conntest.CheckGoroutines(t)
	outs := map[string]func(t *testing.T) io.Writer{
		"os pipe": func(t *testing.T) io.Writer { _, w := osPipe(t); return w },
		"io pipe": func(t *testing.T) io.Writer { _, w := io.Pipe(); return w },
	}
	for name, out := range outs {
		t.Run(name, func(t *testing.T) {
			in, _ := osPipe(t)
			c := Open(in, out(t), short)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for c.Write(t.Context(), bytes.Repeat([]byte("x"), 1<<20)) == nil {
					}
				})
			}
			for !c.(*pipe).writing() {
				time.Sleep(time.Millisecond)
			}
			if err := c.Close(); !errors.Is(err, errUntaken) {
				t.Errorf("got %v", err)
			}
			wg.Wait()
			if err := c.Write(t.Context(), []byte("1")); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func (p *pipe) writing() bool {
	p.writer.mu.Lock()
	defer p.writer.mu.Unlock()
	return p.writer.active
}

func TestWriteErrorSticks(t *testing.T) {
	r, w := osPipe(t)
	in, _ := osPipe(t)
	c := Open(in, w, Options{})
	defer c.Close()
	r.Close()
	for range 2 {
		if err := c.Write(t.Context(), []byte("1")); !brokenPipe(err) {
			t.Errorf("got %v", err)
		}
	}
}

// gate is a sink that lets a test see and hold each write.
type gate struct {
	writes  chan []byte
	release chan struct{}
}

func (g gate) write(_ context.Context, p []byte) (int, error) {
	g.writes <- bytes.Clone(p)
	<-g.release
	return len(p), nil
}
func (gate) interruptible() bool { return true }
func (gate) interrupt()          {}

// What gathers behind a write under way leaves with the next one, in one piece.
func TestWritesMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{make(chan []byte), make(chan struct{})}
		w := frameWriter{out: g}
		go w.write(t.Context(), []byte("0"), false)
		if first := <-g.writes; string(first) != "0\n" {
			t.Fatalf("first write %q", first)
		}
		for i := range 64 {
			if err := w.write(t.Context(), fmt.Appendf(nil, "%d", i+1), false); err != nil {
				t.Fatal(err)
			}
		}
		g.release <- struct{}{}
		second := <-g.writes
		if n := bytes.Count(second, []byte("\n")); n != 64 {
			t.Errorf("%d frames in the second write", n)
		}
		g.release <- struct{}{}
		if err := w.close(time.Second); err != nil {
			t.Error(err)
		}
	})
}

// A frame that has left is no failure of its writer, whatever becomes of the peer and of frames that have gathered behind it
// meanwhile; later writers hear of it.
//
// Seen to fail: a child that read its last request and exited at once failed the write of that request.
func TestEndAfterAWrite(t *testing.T) {
	for _, behind := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			g := gate{make(chan []byte, 8), make(chan struct{}, 8)}
			w := frameWriter{out: g}
			done := make(chan error, 1)
			go func() { done <- w.write(t.Context(), []byte("last request"), false) }()
			<-g.writes
			for range behind {
				if err := w.write(t.Context(), []byte("another"), false); err != nil {
					t.Fatal(err)
				}
			}
			exit := &ExitError{Code: 9}
			w.fail(exit)
			g.release <- struct{}{}
			if err := <-done; err != nil {
				t.Errorf("%d behind it: %v", behind, err)
			}
			if err := w.write(t.Context(), []byte("later"), false); !errors.Is(err, exit) {
				t.Errorf("%d behind it, a later write: %v", behind, err)
			}
		})
	}
}

// What may gather is bounded; the writers beyond wait.
func TestGatheringIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{make(chan []byte, 8), make(chan struct{}, 8)}
		w := frameWriter{out: g}
		half := bytes.Repeat([]byte("x"), maxGathered/2)
		done := make(chan error, 4)
		for range 4 {
			go func() { done <- w.write(t.Context(), half, false) }()
			synctest.Wait()
		}
		if len(done) != 1 { // one writes, one has gathered, two wait
			t.Fatalf("%d returned", len(done))
		}
		for range 4 {
			g.release <- struct{}{}
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestReadOfRegularFile(t *testing.T) {
	conntest.CheckGoroutines(t)
	name := t.TempDir() + "/frames"
	if err := os.WriteFile(name, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	c := Open(file, io.Discard, Options{})
	for _, want := range []string{"1", "2"} {
		if frame, err := c.Read(t.Context()); err != nil || string(frame) != want {
			t.Errorf("got %q, %v", frame, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := file.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file was left open: %v", err)
	}
}

func TestWriteDoesNotAllocate(t *testing.T) {
	r, w := osPipe(t)
	in, _ := osPipe(t)
	c := Open(in, w, Options{})
	defer c.Close()
	go io.Copy(io.Discard, r)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	frame := bytes.Repeat([]byte("x"), 400)
	n := testing.AllocsPerRun(200, func() {
		if err := c.Write(ctx, frame); err != nil {
			t.Fatal(err)
		}
	})
	if n > 3 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	go io.Copy(io.Discard, r)
	c := Open(strings.NewReader(""), w, Options{})
	defer c.Close()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	frame := bytes.Repeat([]byte("z"), 440)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := c.Write(ctx, frame); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func ExampleOpen() {
	ctx := context.Background()
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	conn := Open(in, os.Stdout, Options{})
	defer conn.Close()
	if _, err := conn.Read(ctx); err != nil {
		fmt.Println(err)
	}
	_, err := conn.Read(ctx)
	fmt.Println(err)
	// Output: EOF
}
