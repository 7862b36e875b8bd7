package bridge

import (
	"encoding/json"

	"github.com/yosida95/uritemplate/v3"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// view is all that is shown at one moment, and the rules that hold for it. It is never changed.
type view struct {
	rules   *Rules
	lack    error // why no list can be given; nil where they can
	sight   Sight // of those who have this view
	sights  *sights
	table   *route.Table
	match   route.Matcher
	wrapped map[route.Target]bool            // tools whose output schema has a root that is no object
	mirrors map[route.Target]*server.Mirrors // of tools with arguments that headers repeat
	tasks   map[route.Target]string          // how tools run as tasks
	items   [4][]json.RawMessage             // by server.ListKind
	lists   [4]*shownList
	sources [4]map[string]bool // servers of which the lists show something
	finder  *finder
	own     bool // of one caller, who sees other lists than others

	extensions map[string]json.RawMessage // that servers have declared, with their settings
	withSkills []string                   // servers, in their order

	definitions map[route.Kind]map[route.Target]json.RawMessage // the items by what they are of
}

// shown says which kind of entry each list holds, and under which member its entries are known.
var shown = [4]struct {
	kind route.Kind
	key  string
	of   func(*upstream.Lists) []upstream.Item
}{
	server.Tools:             {route.Tool, "name", func(l *upstream.Lists) []upstream.Item { return l.Tools }},
	server.Prompts:           {route.Prompt, "name", func(l *upstream.Lists) []upstream.Item { return l.Prompts }},
	server.Resources:         {route.Resource, "uri", func(l *upstream.Lists) []upstream.Item { return l.Resources }},
	server.ResourceTemplates: {route.Template, "uriTemplate", func(l *upstream.Lists) []upstream.Item { return l.Templates }},
}

func build(rules *Rules, snaps []upstream.Snapshot) (*view, error) {
	var lack error
	if rules.Whole != nil {
		lack = rules.Whole(snaps)
	}
	if rules.Shape != nil {
		snaps = rules.Shape(snaps)
	}
	ups := make([]route.Upstream, len(snaps))
	lists := make(map[string]*upstream.Lists, len(snaps))
	for i, s := range snaps {
		lists[s.Name] = s.Lists
		ups[i] = route.Upstream{
			Name: s.Name, ServesResources: s.Lists.ServesResources,
			Tools: keys(s.Lists.Tools), Prompts: keys(s.Lists.Prompts),
			Resources: keys(s.Lists.Resources), Templates: keys(s.Lists.Templates),
		}
	}
	for i, up := range ups {
		if rules.Names != nil {
			ups[i].Names = func(kind route.Kind, name string) string {
				return rules.Names(kind, route.Target{Server: up.Name, Name: name})
			}
		}
	}
	naming := rules.Naming
	if rules.Search != nil {
		naming.Reserved = []string{SearchTool, CallTool}
	}
	table, err := route.Build(naming, ups)
	if err != nil {
		return nil, err
	}
	v := &view{rules: rules, lack: lack, sights: &sights{}, finder: &finder{}, table: table, wrapped: make(map[route.Target]bool), mirrors: make(map[route.Target]*server.Mirrors), tasks: make(map[route.Target]string), match: matcher(table), definitions: make(map[route.Kind]map[route.Target]json.RawMessage)}
	for kind, sh := range shown {
		known := make(map[route.Target]json.RawMessage)
		v.definitions[sh.kind], v.sources[kind] = known, make(map[string]bool)
		for _, e := range table.Entries(sh.kind) {
			item := sh.of(lists[e.Server])[e.Index]
			known[e.Target] = expose(item, sh.key, e.Exposed)
			if sh.kind == route.Tool {
				known[e.Target] = pageBack(v, e.Server, exposeTasks(known[e.Target], item.Tasks))
			}
			v.items[kind] = append(v.items[kind], known[e.Target])
			v.sources[kind][e.Server] = true
		}
		v.lists[kind] = newShownList(kind, v.items[kind])
	}
	for _, e := range table.Entries(route.Tool) {
		v.tasks[e.Target] = lists[e.Server].Tools[e.Index].Tasks
		if wraps(lists[e.Server].Tools[e.Index].Raw) {
			v.wrapped[e.Target] = true
		}
		if m := mirrors(lists[e.Server].Tools[e.Index].Raw); m != nil {
			v.mirrors[e.Target] = m
		}
	}
	v.shorten()
	v.extensions = extensionsOf(rules, snaps)
	for _, s := range snaps {
		if _, ok := s.Lists.Extensions[skills.Identifier]; ok {
			v.withSkills = append(v.withSkills, s.Name)
		}
	}
	return v, nil
}

func keys(items []upstream.Item) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = it.Key
	}
	return out
}

// expose gives an entry the name it is shown under; all other tokens stay.
func expose(it upstream.Item, key, exposed string) json.RawMessage {
	if it.Key == exposed {
		return it.Raw
	}
	return jsonrpc.With(nil, it.Raw, key, jsonrpc.AppendString(nil, exposed))
}

// wraps tells whether a tool's structured content has to be wrapped for revisions that want objects.
func wraps(tool json.RawMessage) bool {
	schema, ok := jsonrpc.Member(tool, "outputSchema")
	if !ok || string(schema) == "null" {
		return false
	}
	kind, _ := jsonrpc.Member(schema, "type")
	text, _ := jsonrpc.Text(kind)
	return text != "object"
}

// mirrors reads which arguments of a tool headers repeat. None where a declaration is invalid: then no client sends any.
func mirrors(tool json.RawMessage) *server.Mirrors {
	schema, _ := jsonrpc.Member(tool, "inputSchema")
	m, err := server.NewMirrors(schema)
	if err != nil {
		return nil
	}
	return m
}

// keep takes the lists of an earlier view where they look the same, encoded pages included, and answers the others.
func (v *view) keep(old *view) []server.ListKind {
	var changed []server.ListKind
	for kind := range v.items {
		switch listed := same(v.lists[kind].items, old.lists[kind].items); {
		case listed && same(v.items[kind], old.items[kind]):
			v.items[kind], v.lists[kind] = old.items[kind], old.lists[kind]
		case listed && v.rules.Sight == nil: // what is not listed is different, and found by a search
			v.lists[kind] = old.lists[kind]
		default:
			changed = append(changed, server.ListKind(kind))
		}
	}
	return changed
}

func same(a, b []json.RawMessage) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if string(a[i]) != string(b[i]) {
			return false
		}
	}
	return true
}

// matcher compiles the templates of a table. One that is malformed matches nothing.
func matcher(table *route.Table) route.Matcher {
	compiled := make(map[string]*uritemplate.Template)
	for _, e := range table.Entries(route.Template) {
		if t, err := uritemplate.New(e.Name); err == nil {
			compiled[e.Name] = t
		}
	}
	return func(template, uri string) bool {
		t := compiled[template]
		return t != nil && t.Match(uri) != nil
	}
}

// exposed is the address under which clients reach a resource of a server.
func (v *view) exposed(server, uri string) string { return v.table.ExposeURI(server, uri, v.match) }
