package config

import (
	"errors"
	"regexp"
	"slices"

	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/manager"
)

const mostTokens = 1_000_000_000

// ask reads what servers may ask: first of all of them, wherever it stands, since what is said of one goes out from that.
func (s *section) ask(v *manager.Value) {
	all := &s.config.Policy.Ask
	later := func(*manager.Value) {}
	s.object(v, append(s.asking(&all.All), setting{"servers", later}))
	servers := v.Member("servers")
	if servers == nil || !s.is(servers, manager.Object) {
		return
	}
	for _, child := range servers.Children() {
		if !slices.Contains(s.file.Names, child.Name()) {
			s.problems.Add(child, "there is no server of this name in the file; %s", advice(child.Name(), s.file.Names))
			continue
		}
		own := all.All
		s.object(child, s.asking(&own))
		if all.Servers == nil {
			all.Servers = make(map[string]policy.Asking)
		}
		all.Servers[child.Name()] = own
	}
}

// asking lists what may be said of what a server may ask.
func (s *section) asking(a *policy.Asking) []setting {
	return []setting{
		{"forms", s.unless(&a.NoForms)},
		{"pages", s.pages(a)},
		{"sampling", s.unless(&a.NoSampling)},
		{"maxTokens", s.number(&a.MaxTokens, within("the number of tokens", 0, mostTokens))},
		{"samplingTools", s.unless(&a.NoTools)},
		{"samplingContext", s.unless(&a.NoContext)},
		{"roots", s.unless(&a.NoRoots)},
		{"name", s.boolean(&a.Named)},
	}
}

// unless reads true as false and false as true.
func (s *section) unless(to *bool) func(*manager.Value) {
	return func(v *manager.Value) {
		var may bool
		if s.boolean(&may)(v); v.Kind() == manager.Boolean {
			*to = !may
		}
	}
}

var pageHost = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// pages reads true, false, or a list of hosts.
func (s *section) pages(a *policy.Asking) func(*manager.Value) {
	return func(v *manager.Value) {
		switch v.Kind() {
		case manager.Boolean:
			s.unless(&a.NoPages)(v)
			a.Hosts = nil
		case manager.List:
			a.NoPages, a.Hosts = false, nil
			s.texts(&a.Hosts, func(host string) error {
				if !pageHost.MatchString(host) {
					return errors.New("this must be the name of a host, or *. and the end of one, such as *.example.com")
				}
				return nil
			})(v)
			if len(v.Children()) == 0 {
				s.problems.Add(v, "the list is empty; write false for no pages")
			}
		default:
			s.problems.Add(v, "write true, false, or a list of hosts")
		}
	}
}

// normalAsk is what servers may ask.
func (c *Config) normalAsk() ordered {
	a := c.Policy.Ask
	servers := ordered{}
	for _, s := range c.Servers {
		if own, ok := a.Servers[s.Name]; ok {
			servers = append(servers, member{s.Name, normalAsking(own)})
		}
	}
	return append(normalAsking(a.All), member{"servers", servers})
}

func normalAsking(a policy.Asking) ordered {
	var pages any = !a.NoPages
	if len(a.Hosts) > 0 {
		pages = a.Hosts
	}
	return ordered{
		{"forms", !a.NoForms}, {"pages", pages}, {"sampling", !a.NoSampling}, {"maxTokens", a.MaxTokens},
		{"samplingTools", !a.NoTools}, {"samplingContext", !a.NoContext}, {"roots", !a.NoRoots}, {"name", a.Named},
	}
}
