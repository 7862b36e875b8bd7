package config

import (
	"errors"

	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/manager"
)

// scan reads one word, or an object with what is to be let be.
func (s *section) scan(v *manager.Value) {
	to := &s.config.Policy.Scan
	do := s.text((*string)(&to.Do), func(word string) error { return policy.ScanDo(word).Check() })
	if v.Kind() == manager.Text {
		do(v)
		return
	}
	s.object(v, []setting{
		{"do", do},
		{"ignore", s.texts(&to.Ignore, func(what string) error {
			if what == "" {
				return errors.New("write server/name, or the name of a server")
			}
			return nil
		})},
	})
}

func normalScan(s policy.Scan) ordered { return ordered{{"do", s.Do}, {"ignore", list(s.Ignore)}} }
