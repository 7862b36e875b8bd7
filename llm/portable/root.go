package portable

import (
	"slices"
	"strings"
)

// asRoot gives the root its form: an object without unions.
func (m *maker) asRoot(root *node) (*node, error) {
	root = root.copied()
	for _, key := range append([]string{"$ref", "enum", "const"}, m.rootDrops...) {
		if root.has(key) {
			root.drop(key)
			m.widen("", key, "it cannot stand at the root")
		}
	}
	if !root.has("if") {
		root.drop("then")
		root.drop("else")
	}
	if list := root.get("allOf"); list != nil {
		root.drop("allOf")
		for _, branch := range list.vals {
			joined, exact := merge(root, branch)
			if !exact {
				m.widen("", "allOf", "its branches are joined only in part")
			}
			root = joined
		}
	}
	for again := 0; again < 8 && hasAny(root, []string{"anyOf", "oneOf", "allOf"}); again++ { // branches may bring their own
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			list := root.get(key)
			if list == nil {
				continue
			}
			if m.strict() && len(list.vals) > 1 {
				return nil, cannot("", "%s at the root", key)
			}
			root.drop(key)
			root = m.union(root, list.vals, key)
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if root.has(key) {
			root.drop(key)
			m.widen("", key, "it nests too deep at the root")
		}
	}
	root.first("type", text("object"))
	if !root.has("properties") {
		root.set("properties", object())
	}
	if m.keep != nil && !m.allRequired {
		m.knownRequired(root, "")
	}
	if m.keyLetter != nil && !m.keysDeep {
		m.renameKeys(root, "")
	}
	return root, nil
}

// union joins the branches at the root: the properties of all of them, required where every branch requires them.
func (m *maker) union(root *node, branches []*node, key string) *node {
	branches = slices.DeleteFunc(slices.Clone(branches), func(b *node) bool {
		all := types(b)
		return all != nil && !slices.Contains(all, "object") // arguments are objects
	})
	if len(branches) == 1 {
		joined, exact := merge(root, branches[0])
		if !exact {
			m.widen("", key, "its branch is joined only in part")
		}
		joined.set("type", text("object"))
		return joined
	}
	m.widen("", key, "its branches cannot be told apart at the root; their properties are joined")
	if len(branches) == 0 {
		return root
	}
	properties := object()
	if had := root.get("properties"); had != nil {
		properties = had.copied()
	}
	own := slices.Clone(properties.keys)
	found := map[string][]*node{}
	var order []string
	required := branches[0].get("required").list()
	for _, b := range branches {
		names := b.get("required").list()
		required = slices.DeleteFunc(slices.Clone(required), func(name string) bool { return !slices.Contains(names, name) })
		if p := b.get("properties"); p != nil {
			for i, name := range p.keys {
				if slices.Contains(own, name) {
					continue
				}
				if found[name] == nil {
					order = append(order, name)
				}
				if !slices.ContainsFunc(found[name], func(n *node) bool { return equal(n, p.vals[i]) }) {
					found[name] = append(found[name], p.vals[i])
				}
			}
		}
	}
	for _, name := range order {
		if all := found[name]; len(all) == 1 {
			properties.set(name, all[0])
		} else {
			properties.set(name, object("anyOf", array(all...)))
		}
	}
	root.set("properties", properties)
	all := root.get("required").list()
	for _, name := range required {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if len(all) > 0 {
		root.set("required", texts(all))
	}
	if rest := root.get("additionalProperties"); rest != nil && !rest.is("true") {
		root.drop("additionalProperties") // it was about the properties of the root alone
	}
	m.tellBranches(root, branches, key)
	return root
}

// tellBranches says in the description which members belong together.
func (m *maker) tellBranches(root *node, branches []*node, key string) {
	var sets []string
	for _, b := range branches {
		names := b.get("required").list()
		if p := b.get("properties"); names == nil && p != nil {
			names = p.keys
		}
		if set := strings.Join(names, ", "); set != "" && len(set) < 200 && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	if len(sets) < 2 || len(sets) > 20 {
		return
	}
	lead := "Give at least one of: "
	if key == "oneOf" {
		lead = "Give exactly one of: "
	}
	about, _ := root.get("description").word()
	root.set("description", text(strings.TrimSpace(about+" "+lead+strings.Join(sets, "; ")+".")))
}
