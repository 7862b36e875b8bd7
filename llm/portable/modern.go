package portable

import (
	"regexp"
	"slices"
)

var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// modern copies a schema without what only other readers know, its old forms replaced by those of 2020-12.
func (m *maker) modern(n *node, at string) *node {
	out := &node{kind: '{'}
	for i, key := range n.keys {
		value := n.vals[i]
		switch key {
		case "$ref", "$recursiveRef":
			out.set("$ref", value)
		case "$dynamicRef":
			m.widen(at, key, "what it stands for depends on who refers to it")
		case "dependencies":
			splitDependencies(out, value)
		case "exclusiveMinimum", "exclusiveMaximum":
			if value.shape() == "number" {
				out.set(key, value)
			}
		case "items":
			if value.kind != '[' {
				out.set(key, value)
			} else if !n.has("prefixItems") {
				out.set("prefixItems", value)
			}
		case "additionalItems":
			if items := n.get("items"); items != nil && items.kind == '[' {
				out.set("items", value)
			}
		default:
			if m.wellFormed(key, value, at) {
				out.set(key, value)
			}
		}
	}
	oldBounds(n, out)
	m.foreignNames(out, at)
	if !out.has("contains") {
		out.drop("minContains")
		out.drop("maxContains")
	}
	if m.draft7 && out.has("$ref") {
		for _, key := range slices.Clone(out.keys) {
			if key != "$ref" && !slices.Contains(notes, key) {
				out.drop(key)
			}
		}
	}
	return out
}

// foreignNames drops patterns of names that cannot be read, and with them what was said of the names they leave over.
func (m *maker) foreignNames(out *node, at string) {
	patterns := out.get("patternProperties")
	if patterns == nil || !slices.ContainsFunc(patterns.keys, func(p string) bool { _, err := regexp.Compile(p); return err != nil }) {
		return
	}
	for _, key := range restGroup {
		if rest := out.get(key); rest != nil && !rest.is("true") {
			out.drop(key)
			m.widen(at, key, "it goes with a pattern that cannot be read")
		}
	}
}

// oldBounds turns the exclusive bounds of draft-04, which were flags, into bounds.
func oldBounds(n, out *node) {
	for _, pair := range [][2]string{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		if n.get(pair[1]).is("true") && out.has(pair[0]) {
			out.set(pair[1], out.get(pair[0]))
			out.drop(pair[0])
		}
	}
}

func splitDependencies(out, value *node) {
	if value.kind != '{' {
		return
	}
	names, schemas := object(), object()
	for i, key := range value.keys {
		if value.vals[i].kind == '[' {
			names.set(key, value.vals[i])
		} else {
			schemas.set(key, value.vals[i])
		}
	}
	if len(names.keys) > 0 {
		out.set("dependentRequired", names)
	}
	if len(schemas.keys) > 0 {
		out.set("dependentSchemas", schemas)
	}
}

// wellFormed tells whether a keyword belongs to JSON Schema and has a value of its kind. One of the wrong kind is reported,
// for an API refuses it.
func (m *maker) wellFormed(key string, v *node, at string) bool {
	var good bool
	switch {
	case key == "type":
		good = knownTypes(v)
	case key == "required":
		good = v.kind == '[' && len(v.list()) == len(v.vals)
	case key == "pattern":
		if word, ok := v.word(); ok {
			_, err := regexp.Compile(word)
			good = err == nil
		}
	case key == "enum":
		good = v.kind == '[' && len(v.vals) > 0
	case key == "title" || key == "description" || key == "format":
		_, good = v.word()
	case slices.Contains(schemaMap, key) || key == "dependentRequired":
		good = v.kind == '{'
	case slices.Contains(schemaList, key):
		good = v.kind == '[' && len(v.vals) > 0
	case slices.Contains(oneSchema, key):
		good = v.kind == '{' || v.is("true") || v.is("false")
	case key == "uniqueItems":
		good = v.shape() == "boolean"
	case key == "const" || slices.Contains(notes, key):
		return true
	case slices.Contains(assertions, key):
		good = v.shape() == "number"
	default:
		return false
	}
	if !good && !slices.Contains(notes, key) {
		m.widen(at, key, "%.60s is no value for it that can be used", v)
	}
	return good
}

func knownTypes(v *node) bool {
	if word, ok := v.word(); ok {
		return slices.Contains(typeNames, word)
	}
	all := v.list()
	return v.kind == '[' && len(all) > 0 && len(all) == len(v.vals) && !slices.ContainsFunc(all, func(t string) bool { return !slices.Contains(typeNames, t) })
}

// types lists what the keyword type says; nil when it says nothing.
func types(n *node) []string {
	t := n.get("type")
	if word, ok := t.word(); ok {
		return []string{word}
	}
	return t.list()
}

func setTypes(n *node, all []string) {
	if len(all) == 1 {
		n.set("type", text(all[0]))
	} else {
		n.set("type", texts(all))
	}
}
