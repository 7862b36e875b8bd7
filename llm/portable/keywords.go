package portable

import (
	"fmt"
	"slices"
	"strings"
)

// schema makes one subschema.
func (m *maker) schema(n *node, at string) (*node, error) {
	if m.nodes++; m.nodes > maxNodes {
		return nil, fmt.Errorf("the schema has more than %d subschemas with its references written out", maxNodes)
	}
	if m.depth++; m.depth > maxDepth {
		return nil, errDeep
	}
	defer func() { m.depth-- }()
	switch {
	case n.is("true"):
		return m.adjust(object(), at)
	case n.is("false"):
		return m.never(at)
	case n.kind != '{':
		m.widen(at, "schema", "%.40s is no schema; anything is accepted", n)
		return m.adjust(object(), at)
	}
	in := m.modern(n, at)
	if at == "" {
		if all := types(in); all != nil && !slices.Contains(all, "object") {
			return nil, fmt.Errorf("its root is of type %q; arguments are always an object", all)
		}
		in.first("type", text("object"))
	}
	if in.has("$ref") {
		return m.reference(in, at)
	}
	return m.plain(in, at)
}

// never makes the schema that nothing fits.
func (m *maker) never(at string) (*node, error) {
	switch {
	case m.keeps("not"):
		return object("not", object()), nil
	case m.strict():
		return nil, cannot(at, "a value that is never accepted")
	}
	m.widen(at, "false", "the dialect cannot say that nothing is accepted")
	return object("description", text("Leave this out.")), nil
}

// plain makes a subschema without a reference.
func (m *maker) plain(in *node, at string) (*node, error) {
	if m.keep != nil {
		flat, opened, err := m.flatten(in, at)
		if err != nil {
			return nil, err
		}
		defer func() { m.stack = m.stack[:len(m.stack)-opened] }()
		if in, err = m.reduce(flat, at); err != nil {
			return nil, err
		}
	}
	out := &node{kind: '{'}
	for i, key := range in.keys {
		value, err := m.keyword(key, in.vals[i], at+"/"+escape(key))
		if err != nil {
			return nil, err
		}
		if value != nil {
			out.set(key, value)
		}
	}
	if !out.has("if") {
		out.drop("then")
		out.drop("else")
	}
	return m.adjust(out, at)
}

// keyword makes the value of one keyword; nil where the keyword goes.
func (m *maker) keyword(key string, v *node, at string) (*node, error) {
	switch {
	case slices.Contains(schemaMap, key):
		return m.named(key, v, at)
	case slices.Contains(schemaList, key):
		return m.several(key, v, at)
	case !slices.Contains(oneSchema, key):
		return v, nil
	case v.kind == 0 && (key == "additionalProperties" || strings.HasPrefix(key, "unevaluated") || key == "items" && v.is("false")):
		return v, nil
	case key == "not" || key == "if" || key == "contains":
		return m.exactly(key, v, at)
	}
	return m.schema(v, at)
}

// exactly makes a subschema that must accept what it did before, no more and no less; where it cannot, the keyword goes.
func (m *maker) exactly(key string, v *node, at string) (*node, error) {
	before := m.widenings()
	m.exact++
	made, err := m.schema(v, at)
	m.exact--
	if err == nil && m.widenings() > before {
		m.widen(parent(at), key, "it could not be kept exact, so it is left out")
		return nil, nil
	}
	return made, err
}

func (m *maker) named(key string, v *node, at string) (*node, error) {
	out := &node{kind: '{'}
	for i, name := range v.keys {
		if key == "properties" && v.vals[i].is("false") && !m.keeps("not") {
			m.widen(at+"/"+escape(name), "false", "the dialect cannot say that this must be left out")
			continue
		}
		made, err := m.schema(v.vals[i], at+"/"+escape(name))
		if err != nil {
			return nil, err
		}
		out.set(name, made)
	}
	return out, nil
}

func (m *maker) several(key string, v *node, at string) (*node, error) {
	out := &node{kind: '['}
	before := m.widenings()
	if key == "oneOf" && m.keeps(key) {
		m.exact++
		defer func() { m.exact-- }()
	}
	for i, item := range v.vals {
		made, err := m.schema(item, fmt.Sprintf("%s/%d", at, i))
		if err != nil {
			return nil, err
		}
		out.vals = append(out.vals, made)
	}
	if key == "oneOf" && m.keeps(key) && m.widenings() > before {
		m.widen(parent(at), key, "its branches could not be kept exact, so it is left out")
		return nil, nil
	}
	return out, nil
}
