package config

import (
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/manager"
)

func (s *section) pin(v *manager.Value) {
	if v.Kind() == manager.Null { // as the normal form has it
		return
	}
	pin := policy.Pin{OnChange: policy.Refuse}
	s.object(v, []setting{
		{"file", s.text(&pin.File, checkFile)},
		{"onChange", s.text((*string)(&pin.OnChange), func(o string) error { return policy.OnChange(o).Check() })},
	})
	if v.Kind() == manager.Object && v.Member("file") == nil {
		s.problems.Add(v, "the pins need a file; write {\"file\": \"rialto-tools.lock.json\"}")
	}
	s.config.Policy.Pin = pin
}

// normalPin is null where there is none.
func normalPin(p policy.Pin) any {
	if p.File == "" {
		return nil
	}
	return ordered{{"file", p.File}, {"onChange", p.OnChange}}
}
