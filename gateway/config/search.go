package config

import (
	"fmt"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/manager"
)

const mostThreshold = 100_000_000

// search reads when clients get a search in place of a list of tools. Null is never, as when nothing is said.
func (s *section) search(v *manager.Value) {
	if v.Kind() == manager.Null {
		return
	}
	search, mode := &bridge.Search{}, "search"
	s.object(v, []setting{
		{"mode", s.text(&mode, func(mode string) error {
			if mode != "search" && mode != "off" {
				return fmt.Errorf("the mode %q is not known; write search or off", mode)
			}
			return nil
		})},
		{"above", s.number(&search.Above, checkThreshold)},
		{"tokens", s.number(&search.Tokens, checkThreshold)},
		{"always", s.texts(&search.Always, checkPattern)},
	})
	if mode == "search" {
		s.config.Search = search
	}
}

func checkThreshold(n int) error {
	if n < 1 || n > mostThreshold {
		return fmt.Errorf("this must be from 1 to %d; leave it out for no bound", mostThreshold)
	}
	return nil
}

// normalSearch is null where nothing is searched.
func (c *Config) normalSearch() any {
	if c.Search == nil {
		return nil
	}
	out := ordered{{"mode", "search"}}
	if c.Search.Above > 0 {
		out = append(out, member{"above", c.Search.Above})
	}
	if c.Search.Tokens > 0 {
		out = append(out, member{"tokens", c.Search.Tokens})
	}
	return append(out, member{"always", list(c.Search.Always)})
}
