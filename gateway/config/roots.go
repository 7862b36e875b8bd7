package config

import (
	"errors"
	"net/url"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// mostRoots bounds one list of roots.
const mostRoots = 100

// RootsByServer gives the roots that each server is told of. One that is told of none, so that it had better not ask, is left
// out.
func (c *Config) RootsByServer() map[string][]mcp.Root {
	all := make(map[string][]mcp.Root)
	for _, s := range c.Servers {
		roots := c.PerServer[s.Name].Roots
		if roots == nil {
			roots = c.Roots
		}
		if roots != nil {
			all[s.Name] = roots
		}
	}
	return all
}

// roots reads a list of addresses, or of objects with an address and a name.
//
// Shape: ["file:///srv/notes", {"uri": "file:///srv/plans", "name"?: "Plans"}], or null for nothing said.
func (s *section) roots(to *[]mcp.Root) func(*manager.Value) {
	return func(v *manager.Value) {
		if v.Kind() == manager.Null || !s.is(v, manager.List) {
			return
		}
		if len(v.Children()) > mostRoots {
			s.problems.Add(v, "these are more than %d roots; name folders that hold several of them", mostRoots)
			return
		}
		all := []mcp.Root{}
		for _, child := range v.Children() {
			if root, ok := s.root(child); ok {
				all = append(all, root)
			}
		}
		*to = all
	}
}

func (s *section) root(v *manager.Value) (root mcp.Root, ok bool) {
	switch v.Kind() {
	case manager.Text:
		return mcp.Root{URI: v.Text()}, s.check(v, checkRoot(v.Text()))
	case manager.Object:
		if v.Member("uri") == nil {
			s.problems.Add(v, "a root needs a uri, such as \"file:///home/me/project\"")
			return root, false
		}
		s.object(v, []setting{
			{"uri", s.text(&root.URI, checkRoot)},
			{"name", s.text(&root.Name, func(string) error { return nil })},
		})
		return root, root.URI != ""
	}
	s.problems.Add(v, "a root is text such as \"file:///home/me/project\", or an object with uri and name, not %s", v.Kind())
	return root, false
}

func checkRoot(uri string) error {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("this must be the address of a folder or file, such as file:///home/me/project")
	}
	return nil
}

// normalRoots writes every root as an object; null where nothing is said.
func normalRoots(roots []mcp.Root) any {
	if roots == nil {
		return nil
	}
	out := []ordered{}
	for _, r := range roots {
		one := ordered{{"uri", r.URI}}
		if r.Name != "" {
			one = append(one, member{"name", r.Name})
		}
		out = append(out, one)
	}
	return out
}
