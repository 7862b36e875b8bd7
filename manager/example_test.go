package manager_test

import (
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

func ExampleRead() {
	const text = `{
  // everything the team uses
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "some-server", "${HOME}/notes"]},
    "issues": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "old": {"url": "https://example.com/sse", "timeout": "5s",},
  },
}`
	env := map[string]string{"HOME": "/home/ada", "TOKEN": "secret"}
	lookup := func(name string) (string, bool) { value, ok := env[name]; return value, ok }

	f, err := manager.Read(strings.NewReader(text), "mcp.json", manager.ReadOptions{Lookup: lookup})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range f.Servers {
		fmt.Println(s.Name, s.Transport, s.Command, s.Args, s.URL, s.Timeout)
	}
	// Output:
	// files stdio npx [-y some-server /home/ada/notes]  0s
	// issues http  [] https://example.com/mcp 0s
	// old sse  [] https://example.com/sse 5s
}

// One bad entry does not hide the others.
func ExampleRead_errors() {
	const text = `{
  "mcpServers": {
    "good": {"command": "a"},
    "bad": {"command": "b", "env": {"TOKEN": "${TOKEN}"}},
    "worse": {"type": "websocket", "args": "x"}
  }
}`
	lookup := func(string) (string, bool) { return "", false }
	f, err := manager.Read(strings.NewReader(text), "mcp.json", manager.ReadOptions{Lookup: lookup})
	fmt.Println(f.Names, f.Servers)
	fmt.Println(err)
	// Output:
	// [good bad worse] [server "good" (stdio)]
	// mcp.json:4:46: mcpServers.bad.env.TOKEN: server "bad": the variable TOKEN is not set; set it, or write ${TOKEN:-default}
	// mcp.json:5:23: mcpServers.worse.type: this type of server is not known; write stdio, http or sse
	// mcp.json:5:44: mcpServers.worse.args: this must be a list of texts, not text in quotes
}
