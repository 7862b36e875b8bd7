package config

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/secret"
	"github.com/rialto-mcp/rialto/manager"
)

// maxHelpers bounds the programs that print secrets.
const maxHelpers = 50

// Helper is a program that prints secrets for references with its name: ${op:dev/token} for that with the name op.
type Helper struct {
	Name    string
	Command []string // the program and its arguments, in which {ref} stands for what is asked for

	shown []string
}

// readStores reads a file in two steps: entries may refer to stores that the section names.
func readStores(r io.Reader, name string, opts Options) (*Config, error) {
	plain, err := manager.Read(r, name, manager.ReadOptions{Sections: []string{sectionKey}, Only: []string{}})
	if plain == nil {
		return nil, err
	}
	opts.secrets = opts.stores(name, helpersOf(plain))
	f, err := manager.Read(bytes.NewReader(plain.Source), name, opts.reader())
	return fromFile(f, err, opts)
}

// stores gives what references of a file may name.
func (o Options) stores(name string, helpers map[string][]string) map[string]manager.SecretFunc {
	if o.Stores == nil {
		return secret.Schemes(helpers)
	}
	from := *o.Stores
	from.Helpers = helpers
	if from.Folder == "" {
		from.Folder = filepath.Dir(name)
	}
	return secret.Stores(from)
}

// helpersOf reads the helpers of a file before anything else is read. What is wrong with them is told with the section.
func helpersOf(f *manager.File) map[string][]string {
	helpers := make(map[string][]string)
	s := &section{config: &Config{}, file: f, problems: &manager.ConfigErrors{}}
	if v := f.Root.Member(sectionKey).Member("secrets"); v != nil {
		s.secrets(v)
	}
	for _, h := range s.config.Helpers {
		helpers[h.Name] = h.Command
	}
	return helpers
}

// secrets reads the helpers.
func (s *section) secrets(v *manager.Value) {
	if !s.is(v, manager.Object) {
		return
	}
	if len(v.Children()) > maxHelpers {
		s.problems.Add(v, "there are more than %d helpers; one program may give many secrets", maxHelpers)
		return
	}
	for _, child := range v.Children() {
		var command []string
		before := len(s.problems.List)
		s.texts(&command, func(string) error { return nil })(child)
		if len(s.problems.List) == before && s.check(child, secret.CheckHelper(child.Name(), command)) {
			s.config.Helpers = append(s.config.Helpers, Helper{child.Name(), command, shownCommand(child)})
		}
	}
}

// shownCommand hides what arguments of servers hide, but never where the reference goes: --secret-id {ref} is no secret, and a
// command without a reference could not be read again.
func shownCommand(v *manager.Value) []string {
	shown := maskArgs(v)
	for i, child := range v.Children() {
		switch {
		case !strings.Contains(child.Text(), secret.Placeholder) || strings.Contains(shown[i], secret.Placeholder):
		case child.Text() == secret.Placeholder:
			shown[i] = secret.Placeholder
		default:
			shown[i] = mask + secret.Placeholder
		}
	}
	return shown
}

// normalSecrets shows the helpers.
func (c *Config) normalSecrets() ordered {
	out := ordered{}
	for _, h := range c.Helpers {
		out = append(out, member{h.Name, list(h.shown)})
	}
	return out
}

// referring notes the texts of the section that stores are asked for, in a first reading of it that is thrown away.
func referring(f *manager.File, v *manager.Value, opts Options) []string {
	c := Default()
	c.PerServer = make(map[string]ServerSettings)
	s := &section{config: c, file: f, opts: opts, problems: &manager.ConfigErrors{}, note: &[]string{}}
	s.object(v, s.settings())
	return *s.note
}
