package mount_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/manager/mount"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

func read(t *testing.T, text string) (*mount.Section, error) {
	t.Helper()
	f, err := manager.Read(strings.NewReader(text), "f.json", manager.ReadOptions{Sections: []string{mount.Key}})
	if err != nil {
		t.Fatal(err)
	}
	return mount.Read(f)
}

func TestRead(t *testing.T) {
	s, err := read(t, `{"server": {"name": "desk", "title": "Desk", "version": "2", "instructions": "Ask.", "path": "/desk",
		"transports": ["http", "sse"], "origins": ["https://desk.example", "null"], "hosts": ["desk.example"],
		"limits": {"maxBodyBytes": 100, "maxInFlight": 2, "maxSessions": 3, "maxStreams": 4, "maxListens": 5, "pageSize": 6,
			"idleTimeout": "7s", "askTimeout": "8s", "maxStateBytes": -1}}, // and comments
		"mcpServers": {}}`)
	if err != nil {
		t.Fatal(err)
	}
	o := s.Options
	got := fmt.Sprint(s.Info.Name, s.Info.Title, s.Info.Version, o.Instructions, s.Path, s.Transports, o.HTTP.AllowedOrigins,
		o.HTTP.AllowedHosts, o.HTTP.MaxBodyBytes, o.MaxInFlight, o.HTTP.MaxSessions, o.HTTP.MaxStreams, o.MaxListens, o.PageSize,
		o.HTTP.IdleTimeout, o.AskTimeout, o.MaxStateBytes)
	if want := "deskDesk2Ask./desk[http sse] [https://desk.example null] [desk.example] 100 2 3 4 5 6 7s 8s -1"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if s, err := read(t, `{"server": {"name": "x"}, "a": {"command": "a"}}`); err != nil || s.Path != "/mcp" || !s.Serves(manager.HTTP) || s.Serves(manager.Stdio) {
		t.Errorf("by default: %+v, %v", s, err)
	}
	if s, err := read(t, `{"mcpServers": {}}`); s != nil || err != nil {
		t.Errorf("without a section: %+v, %v", s, err)
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                               "server: the server needs a name",
		`[]`:                               "server: this has the wrong kind",
		`{"nam": "x"}`:                     "server.nam: this key is not known",
		`{"name": "x", "path": "mcp"}`:     "server.path: this must be a plain path",
		`{"name": "x", "path": "/a//b"}`:   "server.path: this must be a plain path",
		`{"name": "x", "path": "/a/../b"}`: "server.path: this must be a plain path",
		`{"name": "x", "path": "/a\tb"}`:   "server.path: this must be a plain path",
		`{"name": "x", "path": "/{x}"}`:    "server.path: this must be a plain path",
		`{"name": "x", "path": ""}`:        "server.path: this must be a plain path",
		`{"name": "x", "path": "/sse", "transports": ["http","sse"]}`: "server.path: this path belongs to the transport sse",
		`{"name": "x", "transports": []}`:                             "server.transports: nothing is served",
		`{"name": "x", "transports": null}`:                           "server.transports: nothing is served",
		`{"name": "x", "origins": ["https://a.example?hush"]}`:        "server.origins[0]: an origin is",
		`{"name": "x", "hosts": ["https://a.example"]}`:               "server.hosts[0]: a host is",
		`{"name": "x", "transports": ["http", "ws"]}`:                 "server.transports[1]: this transport is not known",
		`{"name": "x", "transports": ["sse", "sse"]}`:                 "server.transports[1]: this transport stands twice",
		`{"name": "x", "origins": ["desk.example"]}`:                  "server.origins[0]: an origin is",
		`{"name": "x", "limits": {"idleTimeout": 7}}`:                 "server.limits.idleTimeout: this has the wrong kind",
		`{"name": "x", "limits": {"maxBodyBytes": "hush"}}`:           "server.limits.maxBodyBytes: this has the wrong kind",
		"{\"name\": \"x\",\n \"limits\": {\"maxBodies\": 7}}":         "f.json:2:",
	} {
		s, err := read(t, `{"server": `+text+`}`)
		if s != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

// TestMount serves what a file describes, over both transports.
func TestMount(t *testing.T) {
	s, err := read(t, `{"server": {"name": "desk", "version": "1", "path": "/desk", "transports": ["http", "sse"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	srv := s.Server()
	server.AddTool(srv, mcp.Tool{Name: "hello"}, func(context.Context, *server.Request, struct{}) (string, error) { return "hi", nil })
	mux := http.NewServeMux()
	s.Mount(mux, srv)
	ts := httptest.NewServer(mux)
	defer ts.Close()
	m, err := manager.Open([]manager.Server{
		{Name: "new", Transport: manager.HTTP, URL: ts.URL + "/desk"}, {Name: "old", Transport: manager.SSE, URL: ts.URL + "/sse"},
	}, manager.Options{Client: client.Options{ConnectTimeout: 10 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new", "old"} {
		if result, err := m.CallTool(t.Context(), name, "hello", nil); err != nil || result.Text() != "hi" {
			t.Errorf("%s: %v, %v", name, result, err)
		}
	}
	m.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}
