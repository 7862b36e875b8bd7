package mcptest

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// Wire is one way to connect a client to a server, in one era.
type Wire struct {
	Name   string // "modern over http", say
	Modern bool
	HTTP   bool

	mode client.Mode
	dial func(t testing.TB, s *server.Server, opts client.Options) *client.Client
}

// Wires lists every wire in every era: {modern, legacy} over {memory, stdio, http}.
func Wires() []Wire {
	var wires []Wire
	for _, era := range []struct {
		name string
		mode client.Mode
	}{{"modern", client.Modern}, {"legacy", client.Legacy}} {
		modern := era.mode == client.Modern
		wires = append(wires,
			Wire{Name: era.name + " over memory", Modern: modern, mode: era.mode, dial: dialMemory},
			Wire{Name: era.name + " over stdio", Modern: modern, mode: era.mode, dial: dialStdio},
			Wire{Name: era.name + " over http", Modern: modern, HTTP: true, mode: era.mode, dial: dialHTTP},
		)
	}
	return wires
}

// Dial connects a new client to the server over this wire. Both ends are closed with the test; the server may be shared by
// several wires.
func (w Wire) Dial(t testing.TB, s *server.Server, opts ...client.Options) *client.Client {
	t.Helper()
	o := first(opts)
	o.Mode = w.mode
	return w.dial(t, s, o)
}

// Pair connects a client to a server in memory. The era is that of the options: modern unless they say otherwise.
func Pair(t testing.TB, s *server.Server, opts ...client.Options) *client.Client {
	t.Helper()
	return dialMemory(t, s, first(opts))
}

func first(opts []client.Options) client.Options {
	if len(opts) == 0 {
		return client.Options{}
	}
	return opts[0]
}

func dialMemory(t testing.TB, s *server.Server, opts client.Options) *client.Client {
	t.Helper()
	near, far := transport.Pair(0)
	return connect(t, s, near, far, opts)
}

// dialStdio runs the framing of standard input and output over two pipes; processes have their own tests.
func dialStdio(t testing.TB, s *server.Server, opts client.Options) *client.Client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	near := stdio.Open(outR, inW, stdio.Options{})
	far := stdio.Open(inR, outW, stdio.Options{})
	return connect(t, s, near, far, opts)
}

// connect serves one end and dials at the other.
func connect(t testing.TB, s *server.Server, near, far transport.Conn, opts client.Options) *client.Client {
	t.Helper()
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(context.Background(), far); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	c, err := client.Connect(context.Background(), near, opts)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
		serving.Wait()
	})
	return c
}

func dialHTTP(t testing.TB, s *server.Server, opts client.Options) *client.Client {
	t.Helper()
	url := Serve(t, s)
	c, err := client.DialHTTP(context.Background(), url, opts)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
	})
	return c
}

// Serve serves a server over HTTP on a free port of this machine until the test ends, and returns its URL.
func Serve(t testing.TB, s *server.Server) string {
	t.Helper()
	handler := s.Handler()
	web := httptest.NewUnstartedServer(handler)
	web.Config.BaseContext = func(net.Listener) context.Context { return context.Background() }
	web.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if closer, ok := handler.(interface{ Shutdown(context.Context) error }); ok {
			if err := closer.Shutdown(ctx); err != nil {
				t.Errorf("shut the handler down: %v", err)
			}
		}
		web.Close()
	})
	return web.URL + "/mcp"
}
