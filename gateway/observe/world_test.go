package observe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/observe"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
	"github.com/rialto-mcp/rialto/transport"
)

// world is a server behind a bridge that is observed.
type world struct {
	bridge *bridge.Bridge
	audit  *observe.Audit
	file   string
	url    string
}

func versions(modern bool) []string {
	if modern {
		return mcp.ModernVersions()
	}
	return mcp.LegacyVersions()
}

// newWorld puts the steps behind that of the observer.
func newWorld(t *testing.T, modern bool, o observe.AuditOptions, log *slog.Logger, fill func(*server.Server), steps ...bridge.Step) *world {
	t.Helper()
	w := &world{file: filepath.Join(t.TempDir(), "audit.jsonl")}
	o.File = w.file
	var err error
	w.audit, err = observe.OpenAudit(o, func(text string) { t.Error(text) })
	if err != nil {
		t.Fatal(err)
	}
	seen := observe.New(w.audit, log)
	s := server.New(mcp.Implementation{Name: "behind", Version: "1"}, server.Options{
		Versions: versions(modern), Tasks: tasks.New(tasks.Options{PollInterval: 10 * time.Millisecond}),
	})
	fill(s)
	set := upstream.New([]manager.Server{{Name: "a"}}, upstream.Options{
		Dial: func(ctx context.Context, _ manager.Server) (upstream.Conn, error) {
			return upstream.Open(client.Options{}, func(o client.Options) (*client.Client, error) {
				return client.Connect(ctx, serve(t, s), o)
			})
		},
	})
	w.bridge, err = bridge.New(mcp.Implementation{Name: "front", Version: "1"}, set, bridge.Options{
		Rules: bridge.Rules{Steps: append([]bridge.Step{seen.Step, observe.Trace}, steps...), OnTask: seen.Task},
		Server: server.Options{Middleware: []server.Middleware{seen.Middleware()}, HTTP: server.HTTPOptions{
			Principal: func(r *http.Request) *mcp.Principal {
				return &mcp.Principal{Issuer: "https://as.example", Subject: r.Header.Get("X-Who"), Scopes: []string{"all"}, Claims: json.RawMessage(`{"private":1}`)}
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	set.Start()
	set.Settled(t.Context())
	w.bridge.Changed()
	ts := httptest.NewServer(w.bridge.Server().Handler())
	w.url = ts.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := w.bridge.Server().Shutdown(ctx); err != nil {
			t.Error(err)
		}
		ts.Close()
		w.bridge.Close()
		set.Close()
		w.audit.Close()
	})
	return w
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

// dial connects ann.
func (w *world) dial(t *testing.T, modern bool, o client.Options) *client.Client {
	t.Helper()
	o.Mode = client.Legacy
	if modern {
		o.Mode = client.Modern
	}
	o.Info = mcp.Implementation{Name: "probe", Version: "7"}
	if o.Headers == nil {
		o.Headers = http.Header{}
	}
	o.Headers.Set("X-Who", "ann")
	o.Headers.Set("Authorization", "Bearer do-not-log-me")
	c, err := client.DialHTTP(t.Context(), w.url, o)
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

// line is one of the audit log, as its readers see it.
type line map[string]any

// lines closes the log and reads it.
func (w *world) lines(t *testing.T) (out []line) {
	t.Helper()
	w.audit.Close()
	data, err := os.ReadFile(w.file)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		if strings.Contains(text, "do-not-log-me") {
			t.Errorf("a credential is logged: %s", text)
		}
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		out = append(out, l)
	}
	return out
}

// is demands members of a line; nil stands for one that must not be there.
func (l line) is(t *testing.T, want line) {
	t.Helper()
	for key, value := range want {
		if got := l[key]; fmt.Sprint(got) != fmt.Sprint(value) {
			t.Errorf("%s is %v, want %v, in %v", key, got, value, l)
		}
	}
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
