package app

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/manager"
)

// setting is one thing that the gateway's section says, as it is called there.
type setting struct {
	name string
	live bool // a reload takes it into use
	of   func(*config.Config) any
}

var settings = []setting{
	{"listen", true, func(c *config.Config) any { return c.Listen }},
	{"path", true, func(c *config.Config) any { return c.Path }},
	{"allowedHosts", true, func(c *config.Config) any { return c.AllowedHosts }},
	{"allowedOrigins", true, func(c *config.Config) any { return c.AllowedOrigins }},
	{"insecure", true, func(c *config.Config) any { return c.Insecure }},
	{"auth", true, func(c *config.Config) any { return c.Auth }},
	{"prefix", true, func(c *config.Config) any { return c.Naming.Mode }},
	{"separator", true, func(c *config.Config) any { return c.Naming.Separator }},
	{"maxNameLength", true, func(c *config.Config) any { return c.Naming.MaxLength }},
	{"alias", true, func(c *config.Config) any { return c.Naming.Aliases }},
	{"trustHints", true, perServer(func(s config.ServerSettings) any { return s.TrustHints })},
	{"tools", true, perServer(func(s config.ServerSettings) any { return s.Shows.Tools })},
	{"prompts", true, perServer(func(s config.ServerSettings) any { return s.Shows.Prompts })},
	{"resources", true, perServer(func(s config.ServerSettings) any { return s.Shows.Resources })},
	{"breaker", true, perServer(func(s config.ServerSettings) any { return s.Tuning.Breaker })},
	{"retry", true, perServer(func(s config.ServerSettings) any { return s.Tuning.Retry })},
	{"maxInFlight", true, perServer(func(s config.ServerSettings) any { return s.Tuning.Flow.InFlight })},
	{"queue", true, perServer(func(s config.ServerSettings) any {
		return [...]time.Duration{time.Duration(s.Tuning.Flow.Queue), s.Tuning.Flow.Wait}
	})},
	{"health", true, perServer(func(s config.ServerSettings) any { return s.Tuning.Health })},
	{"cache", true, perServer(func(s config.ServerSettings) any { return s.Tuning.Cache })},
	{"credentials", true, perServer(func(s config.ServerSettings) any { return s.Auth })},
	{"share", true, perServer(func(s config.ServerSettings) any { return s.Share })},
	{"pool.most", true, func(c *config.Config) any { return c.Pool.Most }},
	{"pool.mostPerServer", true, func(c *config.Config) any { return c.Pool.Each }},
	{"pool.callerShare", true, func(c *config.Config) any { return c.Pool.Share }},
	{"pool.idle", true, func(c *config.Config) any { return c.Pool.Idle }},
	{"roots", true, roots},
	{"serveAll", true, func(c *config.Config) any { return c.ServeAll }},
	{"search", true, func(c *config.Config) any { return c.Search }},
	{"bundles", true, func(c *config.Config) any { return c.Bundles }},
	{"extensions", true, func(c *config.Config) any { return c.Extensions }},
	{"connectTimeout", true, func(c *config.Config) any { return c.ConnectTimeout }},
	{"listTimeout", true, func(c *config.Config) any { return c.ListTimeout }},
	{"callTimeout", true, func(c *config.Config) any { return c.CallTimeout }},
	{"totalTimeout", true, func(c *config.Config) any { return c.TotalTimeout }},
	{"pageSize", true, func(c *config.Config) any { return c.PageSize }},
	{"audit", true, func(c *config.Config) any { return c.Audit }},
	{"policy.rules", true, func(c *config.Config) any { return c.Policy.Rules }},
	{"policy.default", true, func(c *config.Config) any { return c.Policy.Default }},
	{"policy.ask", true, func(c *config.Config) any { return c.Policy.Ask }},
	{"policy.pin", true, func(c *config.Config) any { return c.Policy.Pin }},
	{"policy.scan", true, func(c *config.Config) any { return c.Policy.Scan }},
	{"policy.redact", true, func(c *config.Config) any { return c.Policy.Redact }},
	{"policy.rateLimits", true, func(c *config.Config) any { return c.Policy.Limits }},
	{"required", true, perServer(func(s config.ServerSettings) any { return s.Required })},
	{"onDown", true, onDown},
	{"secrets", true, func(c *config.Config) any { return c.Helpers }},
	{"startWait", false, func(c *config.Config) any { return c.StartWait }},
	{"requireAll", false, func(c *config.Config) any { return c.RequireAll }},
	{"stateKeys", false, func(c *config.Config) any { return c.StateKeys }},
}

// roots is what the section says of roots: of all servers, and of single ones.
func roots(c *config.Config) any {
	said := perServer(func(s config.ServerSettings) any { return s.Roots })(c).(map[string]any)
	if c.Roots != nil {
		said[""] = c.Roots // no server has this name
	}
	return said
}

// onDown is what is said of servers that are down: of all, and of single ones.
func onDown(c *config.Config) any {
	said := map[string]shape.OnDown{"": c.OnDown}
	for name, s := range c.PerServer {
		if s.Shows.OnDown != "" {
			said[name] = s.Shows.OnDown
		}
	}
	return said
}

// perServer is what the section says of single servers, where it says anything.
func perServer(of func(config.ServerSettings) any) func(*config.Config) any {
	return func(c *config.Config) any {
		said := make(map[string]any)
		for name, s := range c.PerServer {
			if v := reflect.ValueOf(of(s)); v.IsValid() && !v.IsZero() {
				said[name] = v.Interface()
			}
		}
		return said
	}
}

// differ tells whether two configurations say different things. Nothing and none are the same.
func (s setting) differ(a, b *config.Config) bool {
	x, y := reflect.ValueOf(s.of(a)), reflect.ValueOf(s.of(b))
	if k := x.Kind(); (k == reflect.Map || k == reflect.Slice) && x.Len() == 0 && y.Len() == 0 {
		return false
	}
	return !reflect.DeepEqual(x.Interface(), y.Interface())
}

// changed says in words what another configuration changes; later names the settings that it would change if the gateway were
// started anew. begun is the configuration that the gateway was started with; settings that it does not use in any case are not
// told.
func changed(begun, old, next *config.Config, servers manager.Changes, unused ...string) (now string, later []string) {
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, what+" "+strings.Join(names, ", "))
		}
	}
	add("added", servers.Added)
	add("removed", servers.Removed)
	add("changed", append(slices.Clone(servers.Changed), otherTools(old, next, servers.Kept)...))
	var live []string
	for _, s := range settings {
		switch {
		case !s.differ(old, next), slices.Contains(unused, s.name):
		case s.live:
			live = append(live, s.name)
		case s.differ(begun, next):
			later = append(later, s.name)
		}
	}
	add("settings", live)
	if !slices.Equal(servers.Kept, kept(old, servers.Kept)) {
		parts = append(parts, "the order of servers")
	}
	if parts == nil && later == nil {
		return "nothing that the gateway uses is different", nil
	}
	return strings.Join(parts, "; "), later
}

// otherTools are the servers that keep their connections and show other tools of theirs.
func otherTools(old, next *config.Config, kept []string) (names []string) {
	for _, name := range kept {
		if before, after := entryOf(old, name), entryOf(next, name); !slices.Equal(before.DisabledTools, after.DisabledTools) {
			names = append(names, name)
		}
	}
	return names
}

func entryOf(c *config.Config, name string) manager.Server {
	i := slices.IndexFunc(c.Servers, func(s manager.Server) bool { return s.Name == name })
	return c.Servers[i]
}

// kept are these servers in the order of a configuration.
func kept(c *config.Config, names []string) (out []string) {
	for _, s := range c.Servers {
		if slices.Contains(names, s.Name) {
			out = append(out, s.Name)
		}
	}
	return out
}

// sentence is "a", "a and b", "a, b and c".
func sentence(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return fmt.Sprintf("%s and %s", strings.Join(words[:last], ", "), words[last])
}
