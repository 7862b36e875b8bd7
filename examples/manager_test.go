package examples

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// openAll connects to the servers that the text of a file names. One that cannot be reached keeps no other from working.
func openAll(text string, env func(name string) (string, bool)) (*manager.Manager, error) {
	f, err := manager.Read(strings.NewReader(text), "mcp.json", manager.ReadOptions{Lookup: env})
	if err != nil {
		return nil, err // with lines
	}
	return manager.Open(f.Servers, manager.Options{
		Client:     client.Options{Info: mcp.Implementation{Name: "desk", Version: "1.0.0"}},
		TrustHints: func(s manager.Server) bool { return s.Name == "notes" }, // what it says is harmless may be repeated
	})
}

// useAll looks at all servers and calls a tool of one of them.
func useAll(ctx context.Context, m *manager.Manager) error {
	m.Settled(ctx) // every server has been tried once
	for _, s := range m.Status() {
		fmt.Printf("%s: %s (%s)\n", s.Name, s.State, s.Reason)
	}
	page, err := m.Tools(ctx, manager.PageOptions{})
	if err != nil {
		return err
	}
	for _, tool := range page.Items {
		fmt.Println(tool.Name(tool.Value.Name))
	}
	result, err := m.Call(ctx, manager.Name{Server: "notes", Name: "count"}, nil)
	var unknown *manager.UnknownOutcomeError
	switch {
	case errors.Is(err, manager.ErrNotRun):
		return fmt.Errorf("nothing was sent: %w", err) // the server is down, or its breaker open
	case errors.As(err, &unknown):
		return fmt.Errorf("it may have been done: %w", err)
	case err != nil:
		return err
	}
	fmt.Println(result.Text())
	return nil
}

// Many servers at once: one of them answers, one does not exist.
func Example_manager() {
	s := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "count"}, func(context.Context, *server.Request, struct{}) (string, error) { return "3 notes", nil })
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	m, err := openAll(`{"mcpServers": {
		"notes": {"url": "${NOTES}"},
		"gone": {"command": "no-such-program-anywhere"} // a mistake
	}}`, func(string) (string, bool) { return web.URL, true })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := useAll(ctx, m); err != nil {
		fmt.Println(err)
	}
	// Output:
	// notes: ready ()
	// gone: failed (the program "no-such-program-anywhere" was not found in PATH)
	// notes/count
	// 3 notes
}
