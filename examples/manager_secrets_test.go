package examples

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

// readWithStore reads a file whose texts may say ${desk:NAME}.
func readWithStore(text string, desk map[string]string) (*manager.File, error) {
	ask := func(_ context.Context, name string) (string, error) { // called for several names at once
		if value, ok := desk[name]; ok {
			return value, nil
		}
		return "", errors.New("the desk has nothing of that name; put it there") // shown, so it must tell no secret
	}
	return manager.Read(strings.NewReader(text), "mcp.json", manager.ReadOptions{
		Lookup:  os.LookupEnv,
		Secrets: map[string]manager.SecretFunc{"desk": ask},
	})
}

// A store that has nothing for an entry leaves out that entry alone.
func Example_secrets() {
	f, err := readWithStore(`{"mcpServers": {
  "issues": {"url": "https://issues.example/mcp", "headers": {"Authorization": "Bearer ${desk:issues}"}},
  "notes": {"command": "notes-server", "env": {"KEY": "${desk:notes}"}}}}`, map[string]string{"issues": "hush"})
	fmt.Println(f.Servers[0].Headers["Authorization"])
	fmt.Println(err)
	// Output:
	// Bearer hush
	// mcp.json:3:55: mcpServers.notes.env.KEY: server "notes": ${desk:notes} has no value: the desk has nothing of that name; put it there
}
