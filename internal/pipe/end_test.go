package pipe_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/pipe"
	"github.com/rialto-mcp/rialto/transport"
)

func TestEndOfInputAnswersWhatWasRead(t *testing.T) {
	both(t, func(context.Context, *engine.Incoming) *era.Outcome {
		time.Sleep(time.Second)
		return result(`{}`)
	}, func(t *testing.T, h *handler) {
		near, far := transport.Pair(0)
		half := &halfClosed{Conn: far, over: make(chan struct{})}
		e := engine.New(h, engine.Options{MaxInFlight: 1})
		ended := make(chan error, 1)
		go func() { ended <- pipe.Serve(context.Background(), half, e, codecs(t, era.ServerSide), pipe.Options{}) }()
		w := &world{t: t, client: near, faults: &faults{}, ended: ended}
		w.send(modernCall("1", "a"), modernCall("2", "a"), modernCall("3", "a")) // one runs, two are queued
		time.Sleep(10 * time.Millisecond)                                        // all three have been read, by a second leader where the first one runs
		close(half.over)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		w.want(modernAnswer("1", ""), modernAnswer("2", ""), modernAnswer("3", ""))
	})
}

// halfClosed ends the input when told to, and leaves the output open.
type halfClosed struct {
	transport.Conn
	over chan struct{}
}

func (c *halfClosed) Read(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-c.over:
			cancel()
		case <-stop:
		}
	}()
	frame, err := c.Conn.Read(ctx)
	select {
	case <-c.over:
		if err != nil {
			return nil, io.EOF
		}
	default:
	}
	return frame, err
}

func TestEndOfInputIsBounded(t *testing.T) {
	both(t, untilCancelled, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		w.send(modernCall("1", "a"))
		synctest.Wait()
		began := time.Now()
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("Serve returned after %s, want about 5 s", took)
		}
	})
}

func TestEndOfContext(t *testing.T) {
	both(t, untilCancelled, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		w.send(modernCall("1", "a"))
		synctest.Wait()
		why := errors.New("why")
		began := time.Now()
		w.cancel(why)
		if err := <-w.ended; !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		if n := len(w.engine.Peers()); n != 0 {
			t.Errorf("%d peers are left", n)
		}
	})
}

// deaf is a Conn that takes no more frames.
type deaf struct {
	transport.Conn
	err error
}

func (c *deaf) Write(context.Context, []byte) error { return c.err }

func TestWriteFailureEndsServe(t *testing.T) {
	broken := errors.New("no space left")
	for _, c := range []struct{ fail, want error }{{broken, broken}, {io.ErrClosedPipe, nil}} {
		synctest.Test(t, func(t *testing.T) {
			near, far := transport.Pair(0)
			e := engine.New(&handler{}, engine.Options{})
			ended := make(chan error, 1)
			go func() {
				ended <- pipe.Serve(context.Background(), &deaf{far, c.fail}, e, codecs(t, era.ServerSide), pipe.Options{})
			}()
			if err := near.Write(t.Context(), []byte(modernCall("1", "a"))); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestShutdownEndsServe(t *testing.T) {
	both(t, untilCancelled, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		w.send(modernCall("1", "a"))
		synctest.Wait()
		if err := w.engine.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
		_, far := transport.Pair(0)
		if err := pipe.Serve(t.Context(), far, w.engine, codecs(t, era.ServerSide), pipe.Options{}); !errors.Is(err, engine.ErrShutdown) {
			t.Errorf("a connection after the shutdown got %v", err)
		}
	})
}

func TestCloseFromInsideAHandler(t *testing.T) {
	both(t, func(_ context.Context, in *engine.Incoming) *era.Outcome {
		in.Peer.Close(nil)
		return result(`{}`)
	}, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{CloseGrace: 2 * time.Second})
		began := time.Now()
		w.send(modernCall("1", "a"))
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestManyClosesAtOnce(t *testing.T) {
	both(t, untilCancelled, func(t *testing.T, h *handler) {
		w := serve(t, h, engine.Options{})
		w.send(modernCall("1", "a"), modernCall("2", "a"))
		synctest.Wait()
		peer := w.engine.Peers()[0]
		done := make(chan struct{})
		for range 100 {
			go func() { peer.Close(nil); done <- struct{}{} }()
		}
		for range 100 {
			<-done
		}
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	})
}
