package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

// Keep takes up servers that this configuration lacks for the sole reason that a store of secrets could not be asked, as left says,
// the error that came with it. They come from the configuration before, with what they were read with then, where their entries
// stand in the file as they did; the settings beside them are those of now. It answers their names. Entries that have changed are
// not taken up: what they said before is not meant any more. Nor are those of which a store says that it has no value.
func (c *Config) Keep(before *Config, left error) (kept []string) {
	var mistakes *manager.ConfigErrors
	if !errors.As(left, &mistakes) || mistakes.More > 0 {
		return nil
	}
	all := make([]manager.Server, 0, len(c.Servers))
	for _, name := range c.Names {
		named := func(s manager.Server) bool { return s.Name == name }
		if i := slices.IndexFunc(c.Servers, named); i >= 0 {
			all = append(all, c.Servers[i])
			continue
		}
		entry, i := c.entries[name], slices.IndexFunc(before.Servers, named)
		if i < 0 || entry == nil || string(before.Servers[i].Value.Raw()) != string(entry.Raw()) || !downOnly(mistakes, entry.Path()) {
			continue
		}
		kept, all = append(kept, name), append(all, before.Servers[i])
		if own, ok := c.unused.PerServer[name]; ok {
			c.PerServer[name] = own
		}
		if alias, ok := c.unused.Aliases[name]; ok {
			c.Naming.Aliases[name] = alias
		}
	}
	c.Servers = all
	return kept
}

// downOnly tells whether nothing else is wrong with an entry than that stores could not be asked.
func downOnly(mistakes *manager.ConfigErrors, path string) bool {
	for _, m := range mistakes.List {
		if (m.Key == path || strings.HasPrefix(m.Key, path+".") || strings.HasPrefix(m.Key, path+"[")) && !m.StoreDown {
			return false
		}
	}
	return true
}

// entriesOf are the entries of a file as they stand there, by their names.
func entriesOf(f *manager.File) map[string]*manager.Value {
	from := f.Root
	switch f.Shape {
	case manager.ShapeMCPServers:
		from = from.Member("mcpServers")
	case manager.ShapeServers:
		from = from.Member("servers")
	}
	entries := make(map[string]*manager.Value)
	for _, v := range from.Children() {
		entries[v.Name()] = v
	}
	return entries
}

// unused is what the section says of servers whose entries cannot be used.
type unused struct {
	PerServer map[string]ServerSettings
	Aliases   map[string]string
}
