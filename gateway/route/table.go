package route

import (
	"cmp"
	"fmt"
)

// Kind is what a name belongs to.
type Kind string

// The kinds of thing a table holds.
const (
	Tool     Kind = "tool"
	Prompt   Kind = "prompt"
	Resource Kind = "resource"
	Template Kind = "template"
)

// Upstream is what one server lists.
type Upstream struct {
	Name      string   // unique, from the configuration
	Tools     []string // names
	Prompts   []string // names
	Resources []string // addresses
	Templates []string // URI templates (RFC 6570); their names take no part in routing

	// Names gives a tool or a prompt another name to begin with, in place of the one that the server gives it; "" is none. Nil
	// gives none.
	Names func(kind Kind, name string) string

	// ServesResources says that the server declared resources, though it may list none.
	ServesResources bool
}

// Target is where something is to be found.
type Target struct {
	Server string // name of the upstream
	Name   string // name or address as that upstream knows it
}

// Entry is one row of the table.
type Entry struct {
	Exposed string // name or address that clients see
	Target
	Index int // place in the upstream's own list
}

// Matcher tells whether an address is an expansion of a URI template.
type Matcher func(template, uri string) bool

// Table is an immutable routing table; concurrent use is safe.
type Table struct {
	tools, prompts, resources, templates index

	serving []string // servers with resources
	notes   []Note
}

// index is one list, ready for looking up both ways.
type index struct {
	entries   []Entry
	byExposed map[string]Target
	byTarget  map[Target]string
}

// Build makes the table. It fails when [Naming.Validate] does. The lists are not kept.
func Build(naming Naming, upstreams []Upstream) (*Table, error) {
	naming = naming.withDefaults()
	servers := make([]string, len(upstreams))
	for i, up := range upstreams {
		servers[i] = up.Name
	}
	if err := naming.Validate(servers); err != nil {
		return nil, fmt.Errorf("name the tools of the servers: %w", err)
	}
	t := &Table{}
	prefixes := naming.prefixes(servers)
	byName := func(kind Kind) func([]*item) {
		return assigner{naming: naming, kind: kind, prefixes: prefixes}.assign
	}
	t.tools = t.build(Tool, upstreams, func(up Upstream) []string { return up.Tools }, byName(Tool))
	t.prompts = t.build(Prompt, upstreams, func(up Upstream) []string { return up.Prompts }, byName(Prompt))
	t.resources = t.build(Resource, upstreams, func(up Upstream) []string { return up.Resources }, assignURIs)
	t.templates = t.build(Template, upstreams, func(up Upstream) []string { return up.Templates }, assignURIs)
	for _, up := range upstreams {
		if up.ServesResources || len(up.Resources) > 0 || len(up.Templates) > 0 {
			t.serving = append(t.serving, up.Name)
		}
	}
	return t, nil
}

// build makes one index. A name that one server lists twice counts once.
func (t *Table) build(kind Kind, upstreams []Upstream, list func(Upstream) []string, assign func([]*item)) index {
	var items []*item
	seen := map[Target]bool{}
	for _, up := range upstreams {
		for i, name := range list(up) {
			target := Target{Server: up.Name, Name: name}
			if seen[target] {
				t.notes = append(t.notes, Note{Kind: kind, Target: target, Reason: ListedTwice})
				continue
			}
			seen[target] = true
			items = append(items, &item{Entry: Entry{Target: target, Index: i}, want: up.wanted(kind, name)})
		}
	}
	assign(items)
	ix := index{byExposed: make(map[string]Target, len(items)), byTarget: make(map[Target]string, len(items))}
	for _, it := range items {
		ix.entries = append(ix.entries, it.Entry)
		ix.byExposed[it.Exposed] = it.Target
		ix.byTarget[it.Target] = it.Exposed
		t.note(kind, it)
	}
	return ix
}

// wanted is the name that an entry begins with.
func (up Upstream) wanted(kind Kind, name string) string {
	if up.Names == nil || kind == Resource || kind == Template {
		return name
	}
	return cmp.Or(up.Names(kind, name), name)
}

// Entries gives all rows of one kind, by configuration and then by the upstream's own order. It must not be changed.
func (t *Table) Entries(kind Kind) []Entry { return t.of(kind).entries }

func (t *Table) of(kind Kind) *index {
	switch kind {
	case Tool:
		return &t.tools
	case Prompt:
		return &t.prompts
	case Resource:
		return &t.resources
	case Template:
		return &t.templates
	}
	return &index{}
}

// Tool says where a call of a tool goes.
func (t *Table) Tool(exposed string) (Target, bool) { return t.tools.find(exposed) }

// Prompt says where a prompt is, for getting it and for completing its arguments.
func (t *Table) Prompt(exposed string) (Target, bool) { return t.prompts.find(exposed) }

func (ix *index) find(exposed string) (Target, bool) {
	target, ok := ix.byExposed[exposed]
	return target, ok
}

// Exposed gives the name or address that clients see for what a server lists; ok is false when it lists no such thing.
func (t *Table) Exposed(kind Kind, target Target) (exposed string, ok bool) {
	exposed, ok = t.of(kind).byTarget[target]
	return exposed, ok
}
