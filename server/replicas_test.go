package server_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/state"
)

// turns sends requests to several servers in turn, as a load balancer does that knows no sessions.
type turns struct {
	roads []http.RoundTripper
	n     atomic.Int64
}

func (r *turns) RoundTrip(req *http.Request) (*http.Response, error) {
	return r.roads[int(r.n.Add(1))%len(r.roads)].RoundTrip(req)
}

// replicas are servers behind one address that share a store, a log and a bus in memory.
type replicas struct {
	servers  []*server.Server
	sessions *state.MemorySessions
	log      *state.MemoryLog
	web      *http.Client
}

// serveReplicas serves as many servers as there are names; each has a tool that tells which one it is.
func serveReplicas(t *testing.T, opts server.Options, names ...string) *replicas {
	t.Helper()
	r := &replicas{sessions: state.NewMemorySessions(state.SessionLimits{}), log: state.NewMemoryLog(state.LogLimits{})}
	bus := state.NewMemoryBus(state.BusLimits{})
	t.Cleanup(func() {
		if n := bus.Len(); n != 0 {
			t.Errorf("%d subscriptions of the bus are left", n)
		}
		if err := errors.Join(r.sessions.Close(), r.log.Close(), bus.Close()); err != nil {
			t.Error(err)
		}
	})
	road := &turns{}
	key := []byte(rand.Text() + rand.Text())[:32]
	for _, name := range names {
		opts.Bus, opts.HTTP.Sessions, opts.HTTP.EventLog = bus, r.sessions, r.log
		opts.StateKeys = [][]byte{key}
		s := newServer(opts)
		rawTool(t, s, "who", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			first, _ := req.InputResponses().Elicit("first")
			second, _ := req.InputResponses().Elicit("second")
			switch {
			case second != nil:
				req.Log(ctx, mcp.LevelInfo, "", "info of "+name)
				return mcp.TextResult(name + ": " + string(second.Content)), nil
			case first != nil:
				return nil, askName("second")
			}
			return nil, askName("first")
		})
		s.AddResource(mcp.Resource{URI: "book:1", Name: "one"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{}, nil
		})
		r.servers = append(r.servers, s)
		road.roads = append(road.roads, serveInBubble(t, s).Transport)
	}
	r.web = &http.Client{Transport: road}
	synctest.Wait() // all listen to the bus
	return r
}

// dial connects a client in the middle of which requests go to another replica each time.
func (r *replicas) dial(t *testing.T, mode client.Mode, opts client.Options) *client.Client {
	t.Helper()
	opts.Mode, opts.HTTPClient = mode, r.web
	opts.Elicit = func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
		return client.Accept(map[string]any{"name": strings.ToUpper(req.Message)})
	}
	c, err := client.DialHTTP(t.Context(), "http://127.0.0.1/mcp", opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestReplicas uses several servers as one: calls that ask, log levels and changes, in both eras.
func TestReplicas(t *testing.T) {
	for name, mode := range map[string]client.Mode{"legacy": client.Legacy, "modern": client.Modern} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := serveReplicas(t, server.Options{}, "a", "b")
				var mu sync.Mutex
				var logged []string
				c := r.dial(t, mode, client.Options{LogLevel: mcp.LevelWarning, OnLog: func(p mcp.LoggingMessageParams) {
					mu.Lock()
					defer mu.Unlock()
					logged = append(logged, string(p.Data))
				}})
				news, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true, ResourceSubscriptions: []string{"book:1"}})
				if err != nil {
					t.Fatal(err)
				}
				seen := map[string]bool{}
				for range 12 {
					result, err := c.CallTool(t.Context(), "who", nil)
					if err != nil || result.IsError || !strings.HasSuffix(result.Text(), `: {"name":"WHO?"}`) {
						t.Fatalf("%v, %v", result, err)
					}
					seen[result.Text()[:1]] = true
				}
				if len(seen) < 2 {
					t.Errorf("the calls ran on %v alone", seen)
				}
				if err := c.SetLevel(t.Context(), mcp.LevelInfo); err != nil {
					t.Fatal(err)
				}
				for range 3 {
					if _, err := c.CallTool(t.Context(), "who", nil); err != nil {
						t.Fatal(err)
					}
				}
				mu.Lock()
				if len(logged) != 3 {
					t.Errorf("logged %v", logged)
				}
				mu.Unlock()
				for i, s := range r.servers { // a change on each is heard, and once
					rawTool(t, s, fmt.Sprint("new", i), nothing)
					wantNews(t, news, client.ToolsChanged)
					s.ResourceUpdated("book:1")
					s.ResourceUpdated("book:2")
					wantNews(t, news, client.ResourceUpdated)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if r.sessions.Len()+r.log.Len() != 0 {
					t.Errorf("%d sessions and %d logs are left", r.sessions.Len(), r.log.Len())
				}
				for _, s := range r.servers {
					if stats := s.Stats(); stats != (server.Stats{}) {
						t.Errorf("left: %+v", stats)
					}
				}
			})
		})
	}
}

// wantNews reads one event, and sees to it that no other comes.
func wantNews(t *testing.T, news *client.Subscription, want client.EventKind) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	e, err := news.Next(ctx)
	if err != nil || e.Kind != want {
		t.Fatalf("got %+v, %v; want %v", e, err, want)
	}
	if e, err := news.Next(ctx); err == nil {
		t.Fatalf("%v came again: %+v", want, e)
	}
}

// A session that nobody uses ends everywhere, by the store's own limit; one that is used on one replica alone stays, and
// the others let go of it.
func TestIdleSessionOfReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serveReplicas(t, server.Options{}, "a", "b")
		session := r.open(t)
		ping := func() {
			t.Helper()
			r.send(t.Context(), t, http.MethodPost, session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		}
		peers := func() []int {
			return []int{r.servers[0].Stats().Peers, r.servers[1].Stats().Peers, r.sessions.Len()}
		}
		for range 4 {
			ping()
		}
		if got := peers(); !slices.Equal(got, []int{1, 1, 1}) {
			t.Fatalf("%v", got)
		}
		only := r.web.Transport.(*turns)
		only.roads = only.roads[:1]
		for range 5 {
			time.Sleep(20 * time.Minute)
			ping()
		}
		if got := peers(); !slices.Equal(got, []int{1, 0, 1}) {
			t.Errorf("used on one alone: %v", got)
		}
		time.Sleep(34 * time.Minute) // a use may be told to the store up to a tenth later
		if got := r.sessions.Len(); got != 0 {
			t.Errorf("%d sessions after the limit", got)
		}
		time.Sleep(5 * time.Minute)
		if got := peers(); !slices.Equal(got, []int{0, 0, 0}) {
			t.Errorf("later: %v", got)
		}
	})
}

// A question ends when its client has had no stream for a minute; while one is open, here or on another replica, it stays.
func TestQuestionOfAClientThatHasGone(t *testing.T) {
	for name, c := range map[string]struct {
		names  []string
		stream bool // a GET stream stays open
		took   time.Duration
	}{
		"gone":       {[]string{"a", "b"}, false, 80 * time.Second},
		"there":      {[]string{"a", "b"}, true, 10 * time.Minute},
		"one, gone":  {nil, false, 80 * time.Second},
		"one, there": {nil, true, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took := make(chan time.Duration, 1)
				watch := func(next server.Call) server.Call {
					return func(ctx context.Context, req *server.Request) (*server.Result, error) {
						began := time.Now()
						result, err := next(ctx, req)
						if req.Method() == mcp.MethodCallTool {
							took <- time.Since(began)
						}
						return result, err
					}
				}
				opts := server.Options{Middleware: []server.Middleware{watch}}
				r := &replicas{}
				if c.names != nil {
					r = serveReplicas(t, opts, c.names...)
				} else {
					s := newServer(opts)
					rawTool(t, s, "who", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return nil, askName("first") })
					r.web = serveInBubble(t, s)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				session := r.open(t)
				if c.stream {
					r.send(ctx, t, http.MethodGet, session, "")
				}
				call, leave := context.WithCancel(ctx)
				r.send(call, t, http.MethodPost, session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"who"}}`)
				leave()
				if got := <-took; got > c.took || got < c.took-30*time.Second {
					t.Errorf("it ended after %s", got)
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// open begins a session by hand.
func (r *replicas) open(t *testing.T) (session string) {
	t.Helper()
	session = r.send(t.Context(), t, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`).Get("Mcp-Session-Id")
	r.send(t.Context(), t, http.MethodPost, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return session
}

// send sends a request and returns the head of the answer. The body stays open until ctx ends.
func (r *replicas) send(ctx context.Context, t *testing.T, method, session, body string) http.Header {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := r.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d", method, body, res.StatusCode)
	}
	go func() { // ends with ctx
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}()
	return res.Header
}

// Sessions that are to be shared need what replicas share.
func TestSharedSessionsNeedABus(t *testing.T) {
	store := state.NewMemorySessions(state.SessionLimits{})
	defer store.Close()
	for name, opts := range map[string]server.Options{
		"no bus": {HTTP: server.HTTPOptions{Sessions: store, NoResume: true}},
		"no log": {HTTP: server.HTTPOptions{Sessions: store}, Bus: state.NewMemoryBus(state.BusLimits{})},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if why := fmt.Sprint(recover()); !strings.Contains(why, "Options.Bus") {
					t.Errorf("got %s", why)
				}
			}()
			newServer(opts)
		})
	}
}
