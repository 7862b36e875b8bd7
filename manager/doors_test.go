package manager_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// shelf gives a server of a world a resource, a template and a prompt, whose answers hang or come like those of its tools.
func shelf(h *host) {
	wait := func(ctx context.Context) error {
		h.calls.Add(1)
		if h.hang.Load() {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	h.s.AddResource(mcp.Resource{URI: "memo://one", Name: "one"}, func(ctx context.Context, _ *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("memo://one", "", "first")}}, wait(ctx)
	})
	h.s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "memo://n/{id}", Name: "n"},
		func(ctx context.Context, req *server.Request, vars map[string]string) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(req.Name(), "", "number "+vars["id"])}}, wait(ctx)
		})
	h.s.AddPrompt(mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "name"}}},
		func(ctx context.Context, _ *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Hello " + args["name"])}}}, wait(ctx)
		})
}

// TestResourcesAndPrompts lists, reads and fills in across servers, also when the connection is lost under it: neither does
// any harm when it is done twice, unless the caller will not have it.
func TestResourcesAndPrompts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		shelf(w.host("a"))
		shelf(w.host("b"))
		m := w.open(manager.Options{}, servers("a", "b")...)
		resources, err := m.Resources(t.Context(), manager.PageOptions{})
		if err != nil || len(resources.Items) != 2 || resources.Items[1].Name(resources.Items[1].Value.URI) != name("b", "memo://one") {
			t.Errorf("%+v, %v", resources, err)
		}
		templates, err := m.ResourceTemplates(t.Context(), manager.PageOptions{})
		if err != nil || len(templates.Items) != 2 || templates.Items[0].Value.URITemplate != "memo://n/{id}" {
			t.Errorf("%+v, %v", templates, err)
		}
		prompts, err := m.Prompts(t.Context(), manager.PageOptions{})
		if err != nil || len(prompts.Items) != 2 || prompts.Items[1].Server != "b" {
			t.Errorf("%+v, %v", prompts, err)
		}
		if s := m.Status()[1]; s.Prompts != 1 || s.Resources != 1 || s.Templates != 1 {
			t.Errorf("%+v", s)
		}
		read := func(o ...manager.CallOptions) (string, error) {
			r, err := m.ReadResource(t.Context(), name("b", "memo://n/7"), o...)
			if err != nil {
				return "", err
			}
			return r.Contents[0].Text, nil
		}
		fill := func(o ...manager.CallOptions) (string, error) {
			r, err := m.GetPrompt(t.Context(), name("b", "greet"), map[string]string{"name": "you"}, o...)
			if err != nil {
				return "", err
			}
			return r.Messages[0].Content.(*mcp.TextContent).Text, nil
		}
		for what, f := range map[string]func(...manager.CallOptions) (string, error){"number 7": read, "Hello you": fill} {
			if got, err := f(); err != nil || got != what {
				t.Errorf("%q, %v", got, err)
			}
			for _, never := range []bool{false, true} {
				time.Sleep(time.Minute)
				w.host("b").hang.Store(true)
				time.AfterFunc(time.Second, func() { w.host("b").hang.Store(false); w.kill("b") })
				o := manager.CallOptions{}
				if never {
					o.Retry = manager.RetryNever
				}
				var unknown *manager.UnknownOutcomeError
				got, err := f(o)
				if never != errors.As(err, &unknown) || !never && got != what {
					t.Errorf("never %v: %q, %v", never, got, err)
				}
			}
		}
		for _, err := range []error{
			second(m.ReadResource(t.Context(), name("nobody", "x"))), second(m.GetPrompt(t.Context(), name("nobody", "x"), nil)),
			second(m.Client("nobody")), m.Do(t.Context(), "nobody", manager.RetrySafe, nil),
		} {
			if !errors.Is(err, manager.ErrUnknownServer) || !errors.Is(err, manager.ErrNotRun) {
				t.Errorf("of a server that is not there: %v", err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestDo makes calls that the manager has no method for, on the connection itself and behind the breaker.
func TestDo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{RetryWait: -1}, servers("a")...)
		c, err := m.Client("a")
		if err != nil || c.Ping(t.Context()) != nil {
			t.Fatal(err)
		}
		if err := m.Do(t.Context(), "a", manager.RetrySafe, func(_ context.Context, mine *client.Client) error {
			if mine != c {
				t.Error("it is another connection")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		tries := 0
		lost := func(context.Context, *client.Client) error { tries++; return mcp.CodeConnectionClosed }
		var unknown *manager.UnknownOutcomeError
		err = m.Do(t.Context(), "a", manager.RetryAlways, lost) // calls do not wait for a repetition
		if !errors.As(err, &unknown) || tries != 1 || !strings.Contains(err.Error(), "so it was not repeated") {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{Retries: 4}, servers("a")...)
		tries := 0
		err := m.Do(t.Context(), "a", manager.RetryAlways, func(context.Context, *client.Client) error { tries++; return mcp.CodeConnectionClosed })
		if tries != 5 || !strings.Contains(err.Error(), "after 5 tries") {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
}

// TestRepetitionThatWaitsInVain holds that a call which is to be repeated waits no longer than RetryWait for its server, and
// stops waiting at once when the manager is closed.
func TestRepetitionThatWaitsInVain(t *testing.T) {
	for _, closed := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, "a")
			m := w.open(manager.Options{RetryWait: 3 * time.Second}, servers("a")...)
			w.host("a").hang.Store(true)
			time.AfterFunc(time.Second, func() {
				w.setAway("a", true)
				w.kill("a")
			})
			want := 4 * time.Second
			if closed {
				want = 2 * time.Second
				time.AfterFunc(want, m.Close)
			}
			begun := time.Now()
			_, err := m.Call(t.Context(), name("a", "echo"), nil, manager.CallOptions{Retry: manager.RetryAlways})
			var unknown *manager.UnknownOutcomeError
			if took := time.Since(begun); !errors.As(err, &unknown) || took != want {
				t.Errorf("closed %v: %v after %s", closed, err, took)
			}
		})
	}
}

// TestC046FileWithAMistake holds that a file with a mistake is refused whole, with the line, and that everything stays as it
// was: calls under way too.
func TestC046FileWithAMistake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		file := filepath.Join(t.TempDir(), "mcp.json")
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m := w.open(manager.Options{})
		write("{\"mcpServers\": {\n \"a\": {\"command\": \"a\"}}}")
		if changes, err := m.ReloadFile(file, manager.ReadOptions{}); err != nil || fmt.Sprint(changes) != "{[a] [] [] []}" {
			t.Fatalf("%+v, %v", changes, err)
		}
		m.Settled(t.Context())
		done := make(chan error, 1)
		w.host("a").hang.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			_, err := m.Call(ctx, name("a", "echo"), nil)
			done <- err
		}()
		synctest.Wait()
		for _, broken := range []string{
			"{\"mcpServers\": {\n \"b\": {\"command\": \"b\"},\n \"a\": {\"command\": 7}}}",
			"{\"mcpServers\": {\n \"b\": {\"command\": \"b\"},\n \"a\" {}}}",
		} {
			write(broken)
			var faults *manager.ConfigErrors
			if changes, err := m.ReloadFile(file, manager.ReadOptions{}); !errors.As(err, &faults) || faults.List[0].Line != 3 || changes.Added != nil {
				t.Errorf("%+v, %v", changes, err)
			}
		}
		if got := states(m); got != "a ready" || w.dials("a") != 1 || w.dials("b") != 0 {
			t.Errorf("%s, dials %d and %d", got, w.dials("a"), w.dials("b"))
		}
		select {
		case err := <-done:
			t.Errorf("the call has ended: %v", err)
		default:
			cancel()
			<-done
		}
	})
}

// TestListWithoutEnd holds that a list of a server is cut where it has more entries than anybody can want.
func TestListWithoutEnd(t *testing.T) {
	var names []string
	for i := range 20_001 {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	bubble(t, func(t *testing.T) {
		p := &puppet{tools: func(int) string { return toolArray(names...) }}
		m, _ := watched(t, p, manager.Options{})
		if got := toolNames(t, m); len(got) != 20_000 {
			t.Errorf("%d tools", len(got))
		}
	})
}

// TestTriesAreSpread holds that servers which were lost together are not tried together again, and ever more seldom.
func TestTriesAreSpread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var names []string
		for i := range 50 {
			names = append(names, fmt.Sprint(i))
		}
		at := make(chan time.Duration, 10_000)
		begun := time.Now()
		m, err := manager.Open(servers(names...), manager.Options{
			Dial: func(context.Context, manager.Server, client.Options) (*client.Client, error) {
				at <- time.Since(begun)
				return nil, errors.New("nobody at home")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		m.Close()
		close(at)
		together, tries := make(map[time.Duration]int), 0
		for when := range at {
			together[when]++
			tries++
		}
		if per := tries / len(names); per < 60 || per > 140 {
			t.Errorf("%d tries of each in an hour", per)
		}
		for when, n := range together {
			if when != 0 && n > 2 {
				t.Errorf("%d tries at once after %s", n, when)
			}
		}
	})
}

// TestEntriesOverHTTP connects by the entry alone: its headers are sent, beside those of the options, over either transport.
func TestEntriesOverHTTP(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "web", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "who"}, func(_ context.Context, req *server.Request, _ noInput) (string, error) {
		return req.Header("X-Who") + " " + req.Header("X-Host"), nil
	})
	streamable, events := httptest.NewServer(s.Handler()), httptest.NewServer(s.SSEHandler())
	defer streamable.Close()
	defer events.Close()
	entry := manager.Server{Name: "web", Transport: manager.HTTP, URL: streamable.URL, Headers: map[string]string{"X-Who": "entry"}}
	old := entry
	old.Name, old.Transport, old.URL = "old", manager.SSE, events.URL+"/sse"
	m, err := manager.Open([]manager.Server{entry, old}, manager.Options{
		Client: client.Options{Headers: http.Header{"X-Who": {"options"}, "X-Host": {"here"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, server := range []string{"web", "old"} {
		result, err := m.Call(t.Context(), name(server, "who"), nil)
		if err != nil || result.Text() != "entry here" {
			t.Errorf("%s: %v, %v", server, result, err)
		}
	}
}
