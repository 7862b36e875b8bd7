package config

import (
	"slices"

	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// ServerSettings is what the gateway's section says of one server, but for its alias, which stands in [Config.Naming]. The
// zero value is what holds where it says nothing.
type ServerSettings struct {
	// TrustHints says that a call of its tools may be made again where their hints say that this does no harm.
	TrustHints bool

	// Share says who may be on one connection to it.
	Share upstream.Share

	// Auth says with which credentials callers are called for; nil means those of the gateway, as the entry says.
	Auth *Credentials

	// Required says that the gateway is not ready without it, and does not start.
	Required bool

	// Shows says what of its lists is shown; its OnDown is that of [Config.OnDown] where it is empty.
	Shows shape.Server

	// Roots are those that it is told of in place of [Config.Roots]; nil when nothing is said.
	Roots []Root

	// Tuning says how it is handled.
	Tuning upstream.Tuning
}

// perServer lists the settings of one server, which go into own.
func (s *section) perServer(name string, own *ServerSettings) []setting {
	var alias string
	return slices.Concat([]setting{
		{"alias", s.text(&alias, func(alias string) error { return s.alias(name, alias) })},
		{"trustHints", s.boolean(&own.TrustHints)},
		{"required", s.boolean(&own.Required)},
		{"share", s.text((*string)(&own.Share), checkShare)},
		{"auth", s.credentials(name, own)},
		{"roots", s.roots(&own.Roots)},
	}, s.shows(&own.Shows), s.handling(&own.Tuning))
}

// servers reads what the section says about single servers.
func (s *section) servers(v *manager.Value) {
	if !s.is(v, manager.Object) {
		return
	}
	configured := make(map[string]bool, len(s.file.Names))
	for _, name := range s.file.Names {
		configured[name] = true
	}
	for _, child := range v.Children() {
		if !configured[child.Name()] {
			s.problems.Add(child, "there is no server of this name in the file; %s", advice(child.Name(), s.file.Names))
			continue
		}
		var own ServerSettings
		s.object(child, s.perServer(child.Name(), &own))
		s.config.PerServer[child.Name()] = own
	}
}

// normalPerServer is what the section says of one server, without what it does not say.
func (c *Config) normalPerServer(name string) (own ordered) {
	if alias, ok := c.Naming.Aliases[name]; ok {
		own = append(own, member{"alias", alias})
	}
	settings := c.PerServer[name]
	if settings.TrustHints {
		own = append(own, member{"trustHints", true})
	}
	if settings.Required {
		own = append(own, member{"required", true})
	}
	if settings.Share != upstream.ShareSafely {
		own = append(own, member{"share", settings.Share})
	}
	if settings.Auth != nil {
		own = append(own, member{"auth", settings.Auth.shown})
	}
	if settings.Roots != nil {
		own = append(own, member{"roots", normalRoots(settings.Roots)})
	}
	return slices.Concat(own, normalShows(settings.Shows), normalHandling(settings.Tuning))
}
