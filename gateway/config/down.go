package config

import (
	"cmp"
	"fmt"

	"github.com/rialto-mcp/rialto/gateway/shape"
)

// checkOnDown demands one of the three.
func checkOnDown(text string) error {
	switch shape.OnDown(text) {
	case shape.Keep, shape.Hide, shape.Fail:
		return nil
	}
	return fmt.Errorf("%q is not known; write keep, hide or fail", text)
}

// Requires tells whether a server must be there.
func (c *Config) Requires(server string) bool { return c.RequireAll || c.PerServer[server].Required }

// Plan is what the section says of the lists of all servers.
func (c *Config) Plan() *shape.Plan {
	servers := make(map[string]shape.Server, len(c.Servers))
	for _, s := range c.Servers {
		own := c.PerServer[s.Name].Shows
		own.OnDown = cmp.Or(own.OnDown, c.OnDown)
		if c.Credentials(s.Name).Personal() { // its lists are those of each caller
			own.OnDown = shape.Keep
		}
		servers[s.Name] = own
	}
	return shape.New(servers)
}
