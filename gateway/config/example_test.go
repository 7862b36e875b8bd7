package config_test

import (
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/config"
)

func ExampleRead() {
	const text = `{
  "gateway": {"listen": "127.0.0.1:9000", "servers": {"issues": {"alias": "i"}}},
  "mcpServers": {"issues": {"url": "https://issues.example/mcp"}}
}`
	c, err := config.Read(strings.NewReader(text), "rialto.json", config.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Listen, c.Path, c.CallTimeout, c.Naming.Aliases, c.Servers)

	_, err = config.Read(strings.NewReader(strings.Replace(text, "listen", "lisen", 1)), "rialto.json", config.Options{})
	fmt.Println(err)
	// Output:
	// 127.0.0.1:9000 /mcp 1m0s map[issues:i] [server "issues" (http)]
	// rialto.json:2:24: gateway.lisen: this key is not known; did you mean listen?
}
