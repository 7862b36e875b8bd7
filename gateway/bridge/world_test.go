package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// backend is one server behind the bridge.
type backend struct {
	name   string
	modern bool
	opts   server.Options
	http   bool // reached over HTTP, else in memory
	fill   func(*server.Server)
	roots  []mcp.Root // that the gateway tells it of; nil for none
	down   error      // what connecting fails with; nil for a server that works
}

// world is a bridge in front of backends, all in memory.
type world struct {
	bridge  *bridge.Bridge
	roots   upstream.Roots
	set     *upstream.Set
	over    func(bridge.Upstreams) bridge.Upstreams // nil for nothing
	servers map[string]*server.Server

	mu      sync.Mutex
	wires   map[string]transport.Conn // the newest of each backend
	changes int
}

func versions(modern bool) []string {
	if modern {
		return mcp.ModernVersions()
	}
	return mcp.LegacyVersions()
}

func newWorld(t *testing.T, naming route.Naming, backends ...backend) *world {
	t.Helper()
	return newWorldWith(t, bridge.Options{Rules: bridge.Rules{Naming: naming}}, backends...)
}

func newWorldWith(t *testing.T, o bridge.Options, backends ...backend) *world {
	t.Helper()
	return newWorldOver(t, o, nil, backends...)
}

// newWorldOver puts something between the bridge and its servers.
func newWorldOver(t *testing.T, o bridge.Options, over func(bridge.Upstreams) bridge.Upstreams, backends ...backend) *world {
	t.Helper()
	w := &world{over: over, servers: make(map[string]*server.Server), wires: make(map[string]transport.Conn)}
	down, urls, roots := make(map[string]error), make(map[string]string), make(map[string][]mcp.Root)
	var entries []manager.Server
	for _, b := range backends {
		entries = append(entries, manager.Server{Name: b.name})
		down[b.name], roots[b.name] = b.down, b.roots
		b.opts.Versions = versions(b.modern)
		s := server.New(mcp.Implementation{Name: b.name, Version: "1"}, b.opts)
		if b.fill != nil {
			b.fill(s)
		}
		w.servers[b.name] = s
		if b.http {
			urls[b.name] = listen(t, s)
		}
	}
	w.roots.Set(roots)
	w.set = upstream.New(entries, upstream.Options{
		Roots: &w.roots,
		Dial: func(ctx context.Context, s manager.Server) (upstream.Conn, error) {
			if err := down[s.Name]; err != nil {
				return nil, err
			}
			about := upstream.OpenOptions{Roots: func() []mcp.Root { return roots[s.Name] }, Streams: urls[s.Name] != ""}
			return upstream.OpenWith(client.Options{}, about, func(o client.Options) (*client.Client, error) {
				if url := urls[s.Name]; url != "" {
					return client.DialHTTP(ctx, url, o)
				}
				conn := serve(t, w.servers[s.Name])
				w.mu.Lock()
				w.wires[s.Name] = conn
				w.mu.Unlock()
				return client.Connect(ctx, conn, o)
			})
		},
		OnChange: func() {
			w.mu.Lock()
			w.changes++
			w.mu.Unlock()
			w.bridge.Changed()
		},
		OnUpdate: func(server, uri string) { w.bridge.Updated(server, uri) },
		OnTask:   func(server, id string) { w.bridge.TaskChanged(server, id) },

		OnOwnChange: func(o *upstream.Owner, k upstream.Kinds) { w.bridge.OwnChanged(o, k) },
		OnOwnUpdate: func(o *upstream.Owner, server, uri string) { w.bridge.OwnUpdated(o, server, uri) },
	})
	w.raise(t, o)
	return w
}

// raise puts a bridge in front of the set.
func (w *world) raise(t *testing.T, o bridge.Options) {
	t.Helper()
	var err error
	var ups bridge.Upstreams = w.set
	if w.over != nil {
		ups = w.over(ups)
	}
	w.bridge, err = bridge.New(mcp.Implementation{Name: "front", Version: "1"}, ups, o)
	if err != nil {
		t.Fatal(err)
	}
	w.set.Start()
	w.set.Settled(t.Context())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := w.bridge.Server().Shutdown(ctx); err != nil {
			t.Error(err)
		}
		w.bridge.Close()
		w.set.Close()
	})
}

// serve gives the client's end of a connection to s.
func serve(t *testing.T, s *server.Server) transport.Conn {
	near, far := transport.Pair(0)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // ends with the connection, or with the test
		defer close(done)
		if err := s.Serve(ctx, far); err != nil && !errors.Is(err, context.Canceled) {
			t.Logf("serve: %v", err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return near
}

// listen serves s over HTTP until the test ends, and gives its address.
func listen(t *testing.T, s *server.Server) string {
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		ts.Close()
	})
	return ts.URL
}

// dialHTTP is dial over HTTP.
func (w *world) dialHTTP(t *testing.T, modern bool, o client.Options) *client.Client {
	t.Helper()
	c, err := client.DialHTTP(t.Context(), listen(t, w.bridge.Server()), ofEra(modern, o))
	return whole(t, c, err)
}

// dial connects a client of one era to the bridge.
func (w *world) dial(t *testing.T, modern bool, o client.Options) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), serve(t, w.bridge.Server()), ofEra(modern, o))
	return whole(t, c, err)
}

func ofEra(modern bool, o client.Options) client.Options {
	o.Mode = client.Legacy
	if modern {
		o.Mode = client.Modern
	}
	return o
}

// whole demands that a client has connected, and that it closes well when the test ends.
func whole(t *testing.T, c *client.Client, err error) *client.Client {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// pairings runs a test for every client era in front of every upstream era.
func pairings(t *testing.T, run func(t *testing.T, clientModern, serverModern bool)) {
	era := map[bool]string{false: "legacy", true: "modern"}
	for _, c := range []bool{false, true} {
		for _, s := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s client, %s upstream", era[c], era[s]), func(t *testing.T) { run(t, c, s) })
		}
	}
}

type textIn struct {
	Text string `json:"text"`
}

type sumOut struct {
	Sum int `json:"sum"`
}

// everything registers one of each.
func everything(slow chan<- error) func(*server.Server) {
	return func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Request, in textIn) (string, error) { return in.Text, nil })
		server.AddTool(s, mcp.Tool{Name: "sum"}, func(context.Context, *server.Request, struct{}) (sumOut, error) { return sumOut{5}, nil })
		server.AddTool(s, mcp.Tool{Name: "list"}, func(context.Context, *server.Request, struct{}) ([]int, error) { return []int{1, 2}, nil })
		server.AddTool(s, mcp.Tool{Name: "fail"}, func(context.Context, *server.Request, struct{}) (string, error) {
			return "", errors.New("sorry")
		})
		server.AddTool(s, mcp.Tool{Name: "refuse"}, func(context.Context, *server.Request, struct{}) (string, error) {
			return "", mcp.Errorf(mcp.Code(1234), "vendor trouble").WithData(map[string]int{"n": 7})
		})
		server.AddTool(s, mcp.Tool{Name: "climb"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			for i := range 3 {
				req.Progress(ctx, float64(i+1), 3, "step")
			}
			req.Log(ctx, mcp.LevelWarning, "climber", "nearly there")
			req.Log(ctx, mcp.LevelDebug, "climber", "too fine")
			return "up", nil
		})
		server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Request, _ struct{}) (string, error) {
			slow <- nil
			<-ctx.Done()
			slow <- ctx.Err()
			return "", ctx.Err()
		})
		s.AddResource(mcp.Resource{URI: "memo://one", Name: "one"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("memo://one", "", "first")}}, nil
		})
		s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "memo://n/{id}", Name: "n"},
			func(_ context.Context, req *server.Request, vars map[string]string) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(req.Name(), "", "number "+vars["id"])}}, nil
			})
		complete := func(_ context.Context, _ *server.Request, value string, _ map[string]string) ([]string, error) {
			return []string{value + "1", value + "2"}, nil
		}
		s.CompleteTemplate("memo://n/{id}", "id", complete)
		s.AddPrompt(mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "name", Required: true}}},
			func(_ context.Context, _ *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("greet " + args["name"])}}}, nil
			})
		s.CompletePrompt("greet", "name", complete)
	}
}

// raw makes a call and returns its result as text.
func raw(t *testing.T, c *client.Client, method, params string) string {
	t.Helper()
	r, err := c.Raw(t.Context(), method, json.RawMessage(params), client.RawOptions{})
	if err != nil {
		t.Fatalf("%s %s: %v", method, params, err)
	}
	return string(r.Result)
}

// fault makes a call that the server must refuse.
func fault(t *testing.T, c *client.Client, method, params string) *mcp.Error {
	t.Helper()
	r, err := c.Raw(t.Context(), method, json.RawMessage(params), client.RawOptions{})
	var f *mcp.Error
	if !errors.As(err, &f) || !f.Remote {
		t.Fatalf("%s %s: got %+v and %v, want an error of the server", method, params, r, err)
	}
	return f
}
