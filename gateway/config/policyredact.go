package config

import (
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/manager"
)

const maxRedactions = 50

func (s *section) redaction(v *manager.Value, to *policy.Redaction) {
	s.must(v, "name")
	before := len(s.problems.List)
	s.object(v, []setting{
		{"name", s.text(&to.Name, func(name string) error {
			for _, r := range s.config.Policy.Redact {
				if r.Name == name {
					return fmt.Errorf("there is another redaction of the name %q; give each its own", name)
				}
			}
			return named(name)
		})},
		{"find", func(v *manager.Value) {
			known := func(form string) error { return policy.Redaction{Find: []string{form}}.Check() }
			if v.Kind() != manager.Text {
				s.texts(&to.Find, known)(v)
			} else if s.check(v, known(v.Text())) {
				to.Find = []string{v.Text()}
			}
		}},
		{"pattern", func(v *manager.Value) {
			s.everywhere(v)
			s.text(&to.Pattern, func(pattern string) error { return policy.Redaction{Pattern: pattern}.Check() })(v)
		}},
		{"in", s.text((*string)(&to.In), oneOf(string(policy.InArguments), string(policy.InResults), string(policy.InBoth)))},
		{"do", s.text((*string)(&to.Do), oneOf(string(policy.Mask), string(policy.Withhold)))},
		{"servers", s.texts(&to.Servers, func(name string) error {
			if !slices.Contains(s.file.Names, name) {
				return fmt.Errorf("there is no server of this name in the file; %s", advice(name, s.file.Names))
			}
			return nil
		})},
	})
	if len(s.problems.List) == before {
		s.check(v, to.Check())
	}
}

func normalRedactions(all []policy.Redaction) []ordered {
	out := []ordered{}
	for _, r := range all {
		one := ordered{{"name", r.Name}}
		if len(r.Find) > 0 {
			one = append(one, member{"find", r.Find})
		}
		if r.Pattern != "" {
			one = append(one, member{"pattern", r.Pattern})
		}
		if r.In != "" {
			one = append(one, member{"in", r.In})
		}
		if r.Do != "" {
			one = append(one, member{"do", r.Do})
		}
		if len(r.Servers) > 0 {
			one = append(one, member{"servers", r.Servers})
		}
		out = append(out, one)
	}
	return out
}
