package examples

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/manager/mount"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// readFile reads a file of VS Code, say. When some entries are wrong, the file comes back with the others, beside the error.
func readFile(path string, ask func(manager.Input) (string, error)) (*manager.File, error) {
	workspace, err := manager.WorkspaceOf(path)
	if err != nil {
		return nil, err
	}
	return manager.ReadFile(path, manager.ReadOptions{Lookup: os.LookupEnv, Ask: ask, Workspace: workspace})
}

// addNotes gives the file with one more entry. The path leads from the root: in a file of VS Code it begins with "servers".
func addNotes(f *manager.File) ([]byte, error) {
	return f.Put(json.RawMessage(`{"command": "notes-server"}`), "mcpServers", "notes")
}

// serveToo puts a server of this program into a mux, as the section "server" of the same file says.
func serveToo(f *manager.File, mux *http.ServeMux) error {
	section, err := mount.Read(f)
	if err != nil {
		return err
	}
	s := section.Server()
	server.AddTool(s, mcp.Tool{Name: "tickets", Description: "Lists open tickets"}, tickets)
	section.Mount(mux, s)
	return nil
}

func tickets(context.Context, *server.Request, struct{}) ([]string, error) {
	return []string{"lamp is broken"}, nil
}

// A file with one entry that is right and one that is not, with a section for a server of this program.
func Example_managerFile() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "mcp.json")
	text := `{
  "server": {"name": "desk", "version": "1.2.0", "path": "/desk"},
  "inputs": [{"id": "key", "type": "promptString", "password": true}],
  "mcpServers": {
    "web": {"url": "https://example.com/mcp", "headers": {"X-Key": "${input:key}"}}, // asks
    "broken": {"args": []}
  }
}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	f, err := readFile(path, func(in manager.Input) (string, error) { return "secret of " + in.ID, nil })
	fmt.Println(len(f.Servers), f.Servers[0].Headers["X-Key"], err != nil)

	changed, err := addNotes(f)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s", changed)

	mux := http.NewServeMux()
	if err := serveToo(f, mux); err != nil {
		panic(err)
	}
	web := httptest.NewServer(mux)
	defer web.Close()
	c, err := client.DialHTTP(context.Background(), web.URL+"/desk", client.Options{})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	result, err := c.CallTool(context.Background(), "tickets", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(c.ServerInfo().Name, result.Text())
	// Output:
	// 1 secret of key true
	// {
	//   "server": {"name": "desk", "version": "1.2.0", "path": "/desk"},
	//   "inputs": [{"id": "key", "type": "promptString", "password": true}],
	//   "mcpServers": {
	//     "web": {"url": "https://example.com/mcp", "headers": {"X-Key": "${input:key}"}}, // asks
	//     "broken": {"args": []},
	//     "notes": {"command": "notes-server"}
	//   }
	// }
	// desk ["lamp is broken"]
}
