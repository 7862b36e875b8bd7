package portable

import (
	"slices"
	"strings"
)

// adjust brings a subschema whose parts are made into the forms of the dialect.
func (m *maker) adjust(out *node, at string) (*node, error) {
	var err error
	if m.keep != nil {
		if out, err = m.alternatives(out, at); err != nil {
			return nil, err
		}
		if out, err = m.values(out, at); err != nil {
			return nil, err
		}
	}
	if all := types(out); len(all) == 1 {
		setTypes(out, all)
	} else if len(all) > 1 && !m.typeLists {
		return m.split(out, all, at)
	}
	all := types(out)
	if all == nil && m.keep != nil && out.has("properties") {
		m.narrow(at, "type", "what has properties is said to be an object")
		out.first("type", text("object"))
		all = []string{"object"}
	}
	out = m.toTheType(out)
	if slices.Contains(all, "object") {
		if out, err = m.objects(out, at); err != nil {
			return nil, err
		}
	}
	if slices.Contains(all, "array") && !out.has("items") && m.needItems && !out.has("unevaluatedItems") {
		if m.strict() {
			return nil, cannot(at, "an array of anything")
		}
		out.set("items", object())
	}
	if m.strict() && !hasAny(out, []string{"type", "enum", "const", "anyOf", "$ref"}) {
		return nil, cannot(at, "a value of any kind")
	}
	return out, nil
}

// alternatives turns oneOf into anyOf.
func (m *maker) alternatives(out *node, at string) (*node, error) {
	list := out.get("oneOf")
	if list == nil || m.keeps("oneOf") {
		return m.nullables(out), nil
	}
	out = out.copied()
	out.drop("oneOf")
	switch {
	case out.has("anyOf") && m.strict():
		return nil, cannot(at, "oneOf beside anyOf")
	case out.has("anyOf"):
		m.widen(at, "oneOf", "the dialect cannot say it beside anyOf")
		return m.nullables(out), nil
	case !exclusive(list.vals):
		m.widen(at, "oneOf", "it becomes anyOf, so a value may fit several of the branches")
	}
	out.set("anyOf", list)
	return m.nullables(out), nil
}

// nullables tells that one branch is null by the keyword nullable, in the dialect that has it.
func (m *maker) nullables(out *node) *node {
	list := out.get("anyOf")
	if list == nil || !m.nullable {
		return out
	}
	rest := slices.DeleteFunc(slices.Clone(list.vals), func(b *node) bool { return len(b.keys) == 1 && b.get("type").is(`"null"`) })
	if len(rest) == len(list.vals) || len(rest) == 0 {
		return out
	}
	out = out.copied()
	if len(rest) == 1 {
		alone := out.copied()
		alone.drop("anyOf")
		if joined, exact := merge(alone, rest[0]); exact {
			joined.set("nullable", literal("true"))
			return joined
		}
	}
	out.set("anyOf", array(rest...))
	out.set("nullable", literal("true"))
	return out
}

// values brings const and enum into the form of the dialect.
func (m *maker) values(out *node, at string) (*node, error) {
	if c := out.get("const"); c != nil && !(m.keeps("const") && plain(c)) {
		out = out.copied()
		out.drop("const")
		if !out.has("enum") {
			out.set("enum", array(c))
		} else if e := out.get("enum"); slices.ContainsFunc(e.vals, func(v *node) bool { return equal(v, c) }) {
			out.set("enum", array(c))
		} else {
			m.widen(at, "const", "it contradicts enum")
		}
	}
	e := out.get("enum")
	if e == nil {
		return out, nil
	}
	shapes := shapesOf(e)
	switch {
	case m.strict() && !m.plainEnums:
		if slices.ContainsFunc(e.vals, func(v *node) bool { return !plain(v) }) {
			return nil, cannot(at, "objects or arrays among the values of enum")
		}
		return out, nil
	case !m.plainEnums:
		return out, nil
	}
	out = out.copied()
	if !out.has("type") {
		out.set("type", texts(shapes)) // exact: the values say so
	} else if all := types(out); len(all) > 1 {
		if fit := typesOfEnum(e, all); len(fit) > 0 {
			setTypes(out, fit)
		}
	}
	if all := types(out); len(all) == 1 {
		m.enumOf(out, all[0], at)
	}
	return out, nil
}

// plain tells whether a literal is neither object nor array.
func plain(v *node) bool { return v.kind == 0 }

func shapesOf(e *node) []string {
	var all []string
	for _, v := range e.vals {
		if s := v.shape(); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// typesOfEnum are those of the types that one of the values has.
func typesOfEnum(e *node, all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(t string) bool {
		return !slices.ContainsFunc(e.vals, func(v *node) bool { return v.shape() == t || t == "integer" && v.shape() == "number" })
	})
}

// enumOf keeps of an enum what a value of one type can be, in a dialect whose enums hold strings, and perhaps numbers.
func (m *maker) enumOf(out *node, kind, at string) {
	e := out.get("enum")
	if e == nil {
		return
	}
	fit := slices.DeleteFunc(slices.Clone(e.vals), func(v *node) bool { return v.shape() != kind && !(kind == "integer" && v.shape() == "number") })
	switch {
	case len(fit) == 0:
		out.drop("enum")
		m.widen(at, "enum", "none of its values is of the type")
	case kind == "string", (kind == "number" || kind == "integer") && !m.stringEnums:
		out.set("enum", array(fit...))
	case kind == "null", kind == "boolean" && len(shapesAndTexts(fit)) == 2:
		out.drop("enum") // the type says the same
	default:
		out.drop("enum")
		m.widen(at, "enum", "the dialect has no such values")
		if s := array(fit...).String(); len(s) <= 200 && m.keeps("description") {
			about, _ := out.get("description").word()
			out.set("description", text(strings.TrimSpace(about+" (one of "+s+")")))
		}
	}
}

func shapesAndTexts(all []*node) []string {
	var seen []string
	for _, v := range all {
		if s := v.String(); !slices.Contains(seen, s) {
			seen = append(seen, s)
		}
	}
	return seen
}

// ofType are the keywords that speak about values of one type alone.
func ofType(keyword string) []string {
	switch keyword {
	case "minLength", "maxLength", "pattern", "format":
		return []string{"string"}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return []string{"number", "integer"}
	case "items", "prefixItems", "minItems", "maxItems":
		return []string{"array"}
	case "properties", "required", "additionalProperties", "minProperties", "maxProperties":
		return []string{"object"}
	}
	return nil
}

// toTheType drops what speaks about values of other types than those of the schema, which says nothing; some APIs refuse it.
func (m *maker) toTheType(n *node) *node {
	all := types(n)
	if m.keep == nil || all == nil {
		return n
	}
	out := n.copied()
	for _, key := range n.keys {
		if only := ofType(key); only != nil && !slices.ContainsFunc(only, func(t string) bool { return slices.Contains(all, t) }) {
			out.drop(key)
		}
	}
	return out
}

// split makes one branch for each type of a list.
func (m *maker) split(out *node, all []string, at string) (*node, error) {
	if slices.Contains(all, "number") {
		all = slices.DeleteFunc(slices.Clone(all), func(t string) bool { return t == "integer" })
	}
	outer, branches, null := &node{kind: '{'}, array(), false
	for _, kind := range all {
		branch := object("type", text(kind))
		for i, key := range out.keys {
			switch only := ofType(key); {
			case key == "type", slices.Contains(notes, key), key == "nullable":
			case only == nil || slices.Contains(only, kind):
				branch.set(key, out.vals[i])
			}
		}
		if kind == "null" && m.nullable && len(all) > 1 {
			null = true
			continue
		}
		if e := branch.get("enum"); e != nil {
			if typesOfEnum(e, []string{kind}) == nil || len(typesOfEnum(e, []string{kind})) == 0 {
				continue
			}
			if m.plainEnums {
				m.enumOf(branch, kind, at)
			} else {
				branch.set("enum", array(slices.DeleteFunc(slices.Clone(e.vals), func(v *node) bool {
					return v.shape() != kind && !(kind == "integer" && v.shape() == "number")
				})...))
			}
		}
		made, err := m.adjust(branch, at)
		if err != nil {
			return nil, err
		}
		branches.vals = append(branches.vals, made)
	}
	for i, key := range out.keys {
		if slices.Contains(notes, key) {
			outer.set(key, out.vals[i])
		}
	}
	switch len(branches.vals) {
	case 0:
		if !null {
			return m.never(at) // none of the values is of any of the types
		}
		outer.set("type", text("null"))
	case 1:
		merged, _ := merge(branches.vals[0], outer) // notes alone
		outer = merged
	default:
		outer.set("anyOf", branches)
	}
	if null {
		outer.set("nullable", literal("true"))
	}
	return outer, nil
}
