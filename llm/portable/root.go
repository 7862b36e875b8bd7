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
			if err := m.join(); err != nil {
				return nil, err
			}
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
	if open := root.get("additionalProperties"); m.noEmpty && open != nil && !open.is("false") && len(root.get("properties").keys) == 0 {
		root.drop("properties") // what it takes are members of any name
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
	order, found := described(branches, properties)
	for _, name := range order {
		if all := found[name]; len(all) == 1 {
			properties.set(name, all[0])
		} else {
			properties.set(name, object("anyOf", array(all...)))
		}
	}
	root.set("properties", properties)
	if slices.ContainsFunc(order, func(name string) bool {
		return slices.ContainsFunc(branches, func(b *node) bool { return freeIn(b, name) })
	}) {
		m.narrow("", key, "a property that some branches describe and others leave open is as those describe it")
	}
	if all := joined(root.get("required").list(), requiredByAll(branches)); len(all) > 0 {
		root.set("required", texts(all))
	}
	if rest := root.get("additionalProperties"); rest != nil && !rest.is("true") {
		root.drop("additionalProperties") // it was about the properties of the root alone
	}
	m.tellBranches(root, branches, key)
	return root
}

// described are the properties of the branches that are not own already, in order, with all that is said of each.
func described(branches []*node, own *node) (order []string, found map[string][]*node) {
	found = map[string][]*node{}
	seen := map[string]bool{}
	for _, b := range branches {
		p := b.get("properties")
		if p == nil {
			continue
		}
		for i, name := range p.keys {
			if own.has(name) {
				continue
			}
			if found[name] == nil {
				order = append(order, name)
			}
			if said := name + "\x00" + p.vals[i].String(); !seen[said] {
				seen[said] = true
				found[name] = append(found[name], p.vals[i])
			}
		}
	}
	return order, found
}

// requiredByAll are the names that every branch requires.
func requiredByAll(branches []*node) []string {
	required := branches[0].get("required").list()
	for _, b := range branches[1:] {
		names := set(b.get("required").list())
		required = slices.DeleteFunc(required, func(name string) bool { return !names[name] })
	}
	return required
}

// freeIn tells whether a branch lets a property be anything.
func freeIn(b *node, name string) bool {
	return !b.get("properties").has(name) && !b.get("additionalProperties").is("false")
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
		if len(sets) > 20 {
			return // too many to be told
		}
	}
	if len(sets) < 2 {
		return
	}
	lead := "Give at least one of: "
	if key == "oneOf" {
		lead = "Give exactly one of: "
	}
	about, _ := root.get("description").word()
	root.set("description", text(strings.TrimSpace(about+" "+lead+strings.Join(sets, "; ")+".")))
}
