package config

import (
	"errors"
	"maps"
	"strconv"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/manager"
)

// fromFile adds the gateway's section to what the manager has read. err is the manager's.
func fromFile(f *manager.File, err error, opts Options) (*Config, error) {
	if f == nil {
		return nil, err
	}
	problems := &manager.ConfigErrors{}
	c := Default()
	c.PerServer = make(map[string]ServerSettings)
	s := &section{config: c, file: f, opts: opts, problems: problems, warnings: &manager.ConfigErrors{}}
	if len(f.Names) > maxServers {
		problems.Add(f.Root, "the file has more than %d servers; split it over several gateways", maxServers)
	} else if v := f.Root.Member(sectionKey); v != nil {
		if opts.Stores != nil && !s.asWritten() {
			f.Prepare(referring(f, v, opts), opts.reader())
		}
		s.object(v, s.settings())
		s.named(v)
		s.checkServeAll(v)
	}
	broken := !problems.Empty()
	if entries, ok := errors.AsType[*manager.ConfigErrors](err); ok {
		problems.Join(entries)
	}
	if broken {
		return nil, problems.Err()
	}
	c.Servers, c.Inputs, c.Names, c.Source = f.Servers, f.Inputs, f.Names, f.Source
	c.Warnings = s.told(entriesOf(f))
	c.entries, c.unused = entriesOf(f), unused{maps.Clone(c.PerServer), maps.Clone(c.Naming.Aliases)}
	maps.DeleteFunc(c.Naming.Aliases, func(server, _ string) bool {
		_, usable := f.Server(server)
		return !usable
	})
	maps.DeleteFunc(c.PerServer, func(server string, _ ServerSettings) bool {
		_, usable := f.Server(server)
		return !usable
	})
	return c, problems.Err()
}

// section reads the gateway's section into a Config.
type section struct {
	config   *Config
	file     *manager.File
	opts     Options // that the file was read with
	problems *manager.ConfigErrors
	warnings *manager.ConfigErrors // of what may be meant, and hardly is
	note     *[]string             // texts with variables are noted here and not expanded; nil expands them
}

// setting is one key and what is done with its value.
type setting struct {
	key  string
	read func(*manager.Value)
}

func (s *section) settings() []setting {
	c := s.config
	return []setting{
		{"listen", s.text(&c.Listen, checkListen)},
		{"path", s.text(&c.Path, checkPath)},
		{"allowedHosts", s.texts(&c.AllowedHosts, checkHost)},
		{"allowedOrigins", s.texts(&c.AllowedOrigins, checkOrigin)},
		{"insecure", s.insecure},
		{"auth", s.auth},
		{"prefix", s.text((*string)(&c.Naming.Mode), checkMode)},
		{"separator", s.text(&c.Naming.Separator, func(separator string) error {
			if separator == "" {
				return errors.New("the separator is empty; write 1 to 4 of '_' and '-'")
			}
			return route.Naming{Separator: separator}.Validate(nil)
		})},
		{"maxNameLength", s.number(&c.Naming.MaxLength, func(n int) error { return route.Naming{MaxLength: n}.Validate(nil) })},
		{"connectTimeout", s.duration(&c.ConnectTimeout)},
		{"listTimeout", s.duration(&c.ListTimeout)},
		{"callTimeout", s.duration(&c.CallTimeout)},
		{"totalTimeout", s.duration(&c.TotalTimeout)},
		{"startWait", s.duration(&c.StartWait)},
		{"pool", func(v *manager.Value) { s.object(v, s.pool()) }},
		{"pageSize", s.number(&c.PageSize, checkPageSize)},
		{"requireAll", s.boolean(&c.RequireAll)},
		{"stateKeys", s.stateKeys},
		{"secrets", s.secrets},
		{"onDown", s.text((*string)(&c.OnDown), checkOnDown)},
		{"audit", s.audit},
		{"policy", func(v *manager.Value) { s.object(v, s.policy()) }},
		{"roots", s.roots(&c.Roots)},
		{"serveAll", s.boolean(&c.ServeAll)},
		{"bundles", s.bundles},
		{"search", s.search},
		{"extensions", s.texts(&c.Extensions, checkExtension)},
		{"servers", s.servers},
	}
}

// object reads the members of v and reports keys that are not among the settings.
func (s *section) object(v *manager.Value, settings []setting) {
	if !s.is(v, manager.Object) {
		return
	}
	byKey := make(map[string]setting, len(settings))
	keys := make([]string, len(settings))
	for i, one := range settings {
		byKey[one.key], keys[i] = one, one.key
	}
	for _, child := range v.Children() {
		if one, known := byKey[child.Name()]; known {
			one.read(child)
			continue
		}
		s.problems.Add(child, "this key is not known; %s", advice(child.Name(), keys))
	}
}

// alias adds an alias when it stands beside those before it.
func (s *section) alias(server, alias string) error {
	aliases := maps.Clone(s.config.Naming.Aliases)
	if aliases == nil {
		aliases = map[string]string{}
	}
	aliases[server] = alias
	if err := (route.Naming{Aliases: aliases}).Validate(s.file.Names); err != nil {
		return err
	}
	s.config.Naming.Aliases = aliases
	return nil
}

func (s *section) is(v *manager.Value, kind manager.Kind) bool {
	if v.Kind() != kind {
		s.problems.Add(v, "this must be %s, not %s", kind, v.Kind())
	}
	return v.Kind() == kind
}

func (s *section) check(v *manager.Value, err error) bool {
	if err != nil {
		s.problems.Add(v, "%s", err.Error())
	}
	return err == nil
}

func (s *section) text(to *string, check func(string) error) func(*manager.Value) {
	return func(v *manager.Value) {
		if s.is(v, manager.Text) && s.check(v, check(v.Text())) {
			*to = v.Text()
		}
	}
}

func (s *section) texts(to *[]string, check func(string) error) func(*manager.Value) {
	return func(v *manager.Value) {
		if !s.is(v, manager.List) {
			return
		}
		for _, child := range v.Children() {
			if s.is(child, manager.Text) && s.check(child, check(child.Text())) {
				*to = append(*to, child.Text())
			}
		}
	}
}

func (s *section) number(to *int, check func(int) error) func(*manager.Value) {
	return func(v *manager.Value) {
		if !s.is(v, manager.Number) {
			return
		}
		n, err := strconv.Atoi(v.Text())
		if err != nil {
			err = errors.New("this must be a whole number")
		} else {
			err = check(n)
		}
		if s.check(v, err) {
			*to = n
		}
	}
}

func (s *section) boolean(to *bool) func(*manager.Value) {
	return func(v *manager.Value) {
		if s.is(v, manager.Boolean) {
			*to = v.Text() == "true"
		}
	}
}
