package config

import (
	"errors"

	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/manager"
)

const longestPattern = 1024

// shows lists the settings that say what of the lists of a server is shown.
func (s *section) shows(own *shape.Server) []setting {
	return []setting{
		{"tools", func(v *manager.Value) { s.object(v, s.names(&own.Tools, longestToolName, s.tool)) }},
		{"prompts", func(v *manager.Value) { s.object(v, s.names(&own.Prompts, longestPromptName, s.definition)) }},
		{"resources", func(v *manager.Value) { s.object(v, s.filter(&own.Resources)) }},
		{"onDown", s.text((*string)(&own.OnDown), checkOnDown)},
	}
}

func (s *section) filter(f *shape.Filter) []setting {
	return []setting{{"allow", s.patterns(&f.Allow)}, {"deny", s.patterns(&f.Deny)}}
}

// patterns reads a list of at least one: an empty one could be taken for nothing or for everything.
func (s *section) patterns(to *[]string) func(*manager.Value) {
	read := s.texts(to, checkPattern)
	return func(v *manager.Value) {
		if v.Kind() == manager.List && len(v.Children()) == 0 {
			s.problems.Add(v, `the list is empty; leave the key out, or write "*" for everything`)
			return
		}
		s.all(v)
		read(v)
	}
}

func checkPattern(p string) error {
	if p == "" || len(p) > longestPattern {
		return errors.New("a pattern is a name of 1 to 1024 characters in which * stands for any run of them, such as delete_*")
	}
	return nil
}

// normalShows is what is said of the lists of a server, without what is not said.
func normalShows(own shape.Server) (out ordered) {
	for _, one := range []struct {
		key  string
		said ordered
	}{{"tools", normalNames(own.Tools)}, {"prompts", normalNames(own.Prompts)}, {"resources", normalFilter(own.Resources)}} {
		if one.said != nil {
			out = append(out, member{one.key, one.said})
		}
	}
	if own.OnDown != "" {
		out = append(out, member{"onDown", own.OnDown})
	}
	return out
}

func normalFilter(f shape.Filter) (out ordered) {
	if len(f.Allow) > 0 {
		out = append(out, member{"allow", f.Allow})
	}
	if len(f.Deny) > 0 {
		out = append(out, member{"deny", f.Deny})
	}
	return out
}
