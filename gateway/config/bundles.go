package config

import (
	"errors"
	"maps"
	"regexp"
	"slices"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/manager"
)

// Bundle is one virtual server: a part of what the servers have, under the path of the endpoint and its name.
type Bundle struct {
	Title        string // "" is the gateway's own
	Instructions string // for models; "" is none
	Prefix       route.Mode
	Shows        shape.Bundle
}

const mostBundles = 100

var bundleName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// bundles reads the virtual servers, by their names.
func (s *section) bundles(v *manager.Value) {
	if !s.is(v, manager.Object) {
		return
	}
	if len(v.Children()) > mostBundles {
		s.problems.Add(v, "there are more than %d bundles; split them over several gateways", mostBundles)
		return
	}
	s.config.Bundles = make(map[string]Bundle)
	for _, child := range v.Children() {
		if !bundleName.MatchString(child.Name()) {
			s.problems.Add(child, "the name of a bundle stands in its address; write 1 to 64 letters, digits, '_' and '-'")
			continue
		}
		var b Bundle
		s.object(child, s.bundle(&b))
		if shows := b.Shows; child.Kind() == manager.Object && shows.Servers == nil && shows.Tools == nil && shows.Prompts == nil && shows.Resources == nil {
			s.problems.Add(child, "the bundle shows nothing; name servers, or patterns of tools, prompts or resources")
		}
		s.config.Bundles[child.Name()] = b
	}
}

// checkServeAll refuses a gateway that serves nothing.
func (s *section) checkServeAll(section *manager.Value) {
	if !s.config.ServeAll && len(s.config.Bundles) == 0 {
		s.problems.Add(section.Member("serveAll"), "there are no bundles, so that nothing would be served; add bundles, or leave this out")
	}
}

func (s *section) bundle(b *Bundle) []setting {
	return []setting{
		{"title", s.text(&b.Title, checkText)},
		{"instructions", s.text(&b.Instructions, checkText)},
		{"servers", s.some(&b.Shows.Servers, s.checkServer)},
		{"tools", s.some(&b.Shows.Tools, checkPattern)},
		{"prompts", s.some(&b.Shows.Prompts, checkPattern)},
		{"resources", s.some(&b.Shows.Resources, checkPattern)},
		{"prefix", s.text((*string)(&b.Prefix), checkMode)},
		{"rename", s.renames(&b.Shows.Rename, longestToolName)},
	}
}

// some reads a list of texts where an empty one is not the same as none.
func (s *section) some(to *[]string, check func(string) error) func(*manager.Value) {
	read := s.texts(to, check)
	return func(v *manager.Value) {
		*to = []string{}
		read(v)
	}
}

func (s *section) checkServer(name string) error {
	if !slices.Contains(s.file.Names, name) {
		return errors.New("there is no server of this name in the file; " + advice(name, s.file.Names))
	}
	return nil
}

func checkMode(mode string) error {
	if mode == "" { // means the default in route, but is no way to write it
		return errors.New("the mode is empty; write collision, always or never")
	}
	return route.Naming{Mode: route.Mode(mode)}.Validate(nil)
}

// normalBundles is all that is said of bundles, without what is not said.
func (c *Config) normalBundles() ordered {
	out := ordered{}
	for _, name := range slices.Sorted(maps.Keys(c.Bundles)) {
		b, one := c.Bundles[name], ordered{}
		for _, text := range []struct{ key, text string }{{"title", b.Title}, {"instructions", b.Instructions}} {
			if text.text != "" {
				one = append(one, member{text.key, text.text})
			}
		}
		for _, some := range []struct {
			key  string
			list []string
		}{{"servers", b.Shows.Servers}, {"tools", b.Shows.Tools}, {"prompts", b.Shows.Prompts}, {"resources", b.Shows.Resources}} {
			if some.list != nil {
				one = append(one, member{some.key, some.list})
			}
		}
		if b.Prefix != "" {
			one = append(one, member{"prefix", b.Prefix})
		}
		if len(b.Shows.Rename) > 0 {
			one = append(one, member{"rename", b.Shows.Rename})
		}
		out = append(out, member{name, one})
	}
	return out
}
