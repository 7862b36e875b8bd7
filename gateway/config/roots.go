package config

import (
	"net/url"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// mostRoots bounds one list of roots.
const mostRoots = 100

// Root is a folder or file that servers are told of, its variables put in, and its address as it is written.
type Root struct {
	mcp.Root
	Written string
}

// RootsByServer gives the roots that each server is told of. One that is told of none, so that it had better not ask, is left
// out.
func (c *Config) RootsByServer() map[string][]mcp.Root {
	all := make(map[string][]mcp.Root)
	for _, s := range c.Servers {
		roots := c.PerServer[s.Name].Roots
		if roots == nil {
			roots = c.Roots
		}
		if roots == nil {
			continue
		}
		all[s.Name] = []mcp.Root{}
		for _, r := range roots {
			all[s.Name] = append(all[s.Name], r.Root)
		}
	}
	return all
}

// roots reads a list of addresses, or of objects with an address and a name.
//
// Shape: ["file:///srv/notes", {"uri": "file:///srv/plans", "name"?: "Plans"}], or null for nothing said.
func (s *section) roots(to *[]Root) func(*manager.Value) {
	return func(v *manager.Value) {
		if v.Kind() == manager.Null || !s.is(v, manager.List) {
			return
		}
		if len(v.Children()) > mostRoots {
			s.problems.Add(v, "these are more than %d roots; name folders that hold several of them", mostRoots)
			return
		}
		all := []Root{}
		for _, child := range v.Children() {
			if root, ok := s.root(child); ok {
				all = append(all, root)
			}
		}
		*to = all
	}
}

func (s *section) root(v *manager.Value) (root Root, ok bool) {
	switch v.Kind() {
	case manager.Text:
		s.rootURI(&root)(v)
		return root, root.URI != ""
	case manager.Object:
		if v.Member("uri") == nil {
			s.problems.Add(v, "a root needs a uri, such as \"file:///home/me/project\"")
			return root, false
		}
		s.object(v, []setting{
			{"uri", s.rootURI(&root)},
			{"name", s.text(&root.Name, func(string) error { return nil })},
		})
		return root, root.URI != ""
	}
	s.problems.Add(v, "a root is text such as \"file:///home/me/project\", or an object with uri and name, not %s", v.Kind())
	return root, false
}

// rootURI reads an address. What variables stand for may be a path with any characters, so it is written anew as an address then.
func (s *section) rootURI(to *Root) func(*manager.Value) {
	return func(v *manager.Value) {
		text, ok := s.expanded(v)
		if !ok {
			return
		}
		if text == v.Text() && s.unread(text) { // nobody is told of it
			to.URI, to.Written = text, text
			return
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "file" || u.Path == "" || u.RawQuery != "" || u.Fragment != "" {
			s.problems.Add(v, "this must be the address of a folder or file, such as file:///home/me/project")
			return
		}
		to.URI, to.Written = text, v.Text()
		if text != v.Text() {
			to.URI = u.String()
		}
	}
}

// normalRoots writes every root as an object; null where nothing is said.
func normalRoots(roots []Root) any {
	if roots == nil {
		return nil
	}
	out := []ordered{}
	for _, r := range roots {
		one := ordered{{"uri", r.Written}}
		if r.Name != "" {
			one = append(one, member{"name", r.Name})
		}
		out = append(out, one)
	}
	return out
}
