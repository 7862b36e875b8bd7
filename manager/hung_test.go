package manager_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// counted counts the bytes that reach a server.
type counted struct {
	net.Listener
	bytes atomic.Int64
}

func (c *counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{conn, &c.bytes}, nil
}

type countedConn struct {
	net.Conn
	bytes *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// TestRealHungServer is TestHungServerBreaks over real sockets: while the breaker is open not a byte reaches the server, and then
// one probe at a time does, under 50 callers. A call that hangs goes on waiting all the while.
func TestRealHungServer(t *testing.T) {
	for era, versions := range map[string][]string{"modern": mcp.ModernVersions(), "legacy": mcp.LegacyVersions()} {
		t.Run(era+"/refused", func(t *testing.T) {
			t.Parallel()
			w := openHanging(t, versions, manager.BreakerPolicy{First: time.Hour, Longest: time.Hour})
			bytes, before := w.count.bytes.Load(), w.calls.Load()
			var callers sync.WaitGroup
			for range 50 {
				callers.Go(func() {
					var open *manager.OpenError
					for range 20 {
						if err := w.call(t.Context(), time.Minute); !errors.As(err, &open) {
							t.Errorf("with the breaker open: %v", err)
						}
					}
				})
			}
			callers.Wait()
			if now := w.count.bytes.Load(); now != bytes || w.calls.Load() != before {
				t.Errorf("%d bytes and %d calls reached the server while its breaker was open", now-bytes, w.calls.Load()-before)
			}
			w.end(t)
		})
		t.Run(era+"/probed", func(t *testing.T) {
			t.Parallel()
			w := openHanging(t, versions, manager.BreakerPolicy{First: time.Millisecond, Probes: 3})
			before := w.calls.Load()
			refused, answered, over := make(chan struct{}), make(chan struct{}, 3), make(chan struct{})
			var callers sync.WaitGroup
			for range 50 {
				callers.Go(func() {
					for {
						err := w.call(t.Context(), time.Minute)
						told := refused
						var open *manager.OpenError
						switch {
						case err == nil: // it was a probe
							told = answered
						case !errors.As(err, &open):
							t.Errorf("with the breaker half open: %v", err)
						}
						select {
						case told <- struct{}{}:
						case <-over:
							return
						}
					}
				})
			}
			for range 2 {
				for out := false; !out; {
					select {
					case <-refused:
					case <-w.arrived:
						out = true
					}
				}
				for range 200 { // who calls while the probe is out is refused
					<-refused
				}
				w.release <- struct{}{}
				<-answered
			}
			close(over)
			if n := w.calls.Load() - before; n < 2 || n > 3 || w.most.Load() != 1 {
				t.Errorf("%d probes, %d at once", n, w.most.Load())
			}
			close(w.release) // for a third that is on its way, and for who may call again after it
			callers.Wait()
			w.end(t)
		})
	}
}

// hanging is a server that has begun to hang, and a manager whose breaker has opened for it.
type hanging struct {
	m     *manager.Manager
	count *counted

	hang                 atomic.Bool
	running, most, calls atomic.Int32
	arrived, left        chan struct{} // a call that hangs has come to the server, and is over there
	release              chan struct{} // answers one
	long                 chan error    // has what becomes of a call that nobody ends
	giveUp               context.CancelFunc
}

func openHanging(t *testing.T, versions []string, policy manager.BreakerPolicy) *hanging {
	t.Helper()
	w := &hanging{arrived: make(chan struct{}, 100), left: make(chan struct{}, 100), release: make(chan struct{}), long: make(chan error, 1)}
	s := server.New(mcp.Implementation{Name: "hangs", Version: "1"}, server.Options{Versions: versions})
	server.AddTool(s, mcp.Tool{Name: "work"}, w.work)
	inner := s.Handler()
	listens := make(chan struct{}, 10) // streams of news, which the client opens beside its calls
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			listens <- struct{}{}
		}
		inner.ServeHTTP(rw, r)
	}))
	w.count = &counted{Listener: ts.Listener}
	ts.Listener = w.count
	ts.Start()
	t.Cleanup(ts.Close)
	policy.Consecutive = 3
	m, err := manager.Open([]manager.Server{{Name: "web", Transport: manager.HTTP, URL: ts.URL}}, manager.Options{
		Breaker: policy,
		Client:  client.Options{HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	w.m = m
	m.Settled(t.Context())
	if err := w.call(t.Context(), time.Minute); err != nil {
		t.Fatalf("at first: %v", err)
	}
	if versions[0] < mcp.ModernVersions()[0] {
		<-listens
	}
	w.hang.Store(true)
	ctx, giveUp := context.WithCancel(t.Context())
	t.Cleanup(giveUp)
	w.giveUp = giveUp
	go func() { // waited for in end
		_, err := m.Call(ctx, name("web", "work"), map[string]any{"Long": true})
		w.long <- err
	}()
	<-w.arrived
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() {
			if err := w.call(t.Context(), 2*time.Second); !errors.Is(err, mcp.CodeRequestTimeout) {
				t.Errorf("a call of a server that hangs: %v", err)
			}
		})
	}
	callers.Wait()
	for range 3 { // the server has heard that they are over
		<-w.arrived
		<-w.left
	}
	w.most.Store(0)
	return w
}

// work is the tool.
func (w *hanging) work(ctx context.Context, _ *server.Request, in struct {
	Long bool `json:",omitempty"`
}) (string, error) {
	if in.Long {
		w.arrived <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	}
	w.calls.Add(1)
	if n := w.running.Add(1); n > w.most.Load() {
		w.most.Store(n)
	}
	defer w.running.Add(-1)
	if !w.hang.Load() {
		return "done", nil
	}
	w.arrived <- struct{}{}
	select {
	case <-w.release:
		return "done", nil
	case <-ctx.Done():
		w.left <- struct{}{}
		return "", ctx.Err()
	}
}

// call calls the tool.
func (w *hanging) call(ctx context.Context, timeout time.Duration) error {
	result, err := w.m.Call(ctx, name("web", "work"), nil, manager.CallOptions{CallOptions: client.CallOptions{Timeout: timeout}})
	if err == nil && result.Text() != "done" {
		return errors.New("the answer is " + result.Text())
	}
	return err
}

// end holds that the call that hangs still waits, and gives it up.
func (w *hanging) end(t *testing.T) {
	t.Helper()
	select {
	case err := <-w.long:
		t.Errorf("the call that hangs has ended: %v", err)
		return
	default:
	}
	w.giveUp()
	if err := <-w.long; !errors.Is(err, context.Canceled) {
		t.Errorf("the call that was given up: %v", err)
	}
}
