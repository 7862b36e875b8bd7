package portable

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// reference makes a subschema that refers to another: the other is written out in its place, or stays a reference where
// it leads back to itself.
func (m *maker) reference(in *node, at string) (*node, error) {
	ref, _ := in.get("$ref").word()
	siblings := in.copied()
	siblings.drop("$ref")
	target, pointer, ok := m.resolve(ref)
	switch {
	case !ok && m.strict():
		return nil, cannot(at, "the reference %.80q leads to nothing in the schema", ref)
	case !ok:
		m.widen(at, "$ref", "%.80q leads to nothing in the schema", ref)
		return m.plain(siblings, at)
	case slices.Contains(m.stack, pointer) || m.refs && m.nodes > inlineOnly:
		return m.recursive(siblings, target, pointer, at)
	}
	m.stack = append(m.stack, pointer)
	made, err := m.schema(target, at)
	m.stack = m.stack[:len(m.stack)-1]
	if err != nil {
		return nil, err
	}
	made = made.copied()
	beside := &node{kind: '{'}
	for i, key := range siblings.keys {
		if !slices.Contains(notes, key) {
			beside.set(key, siblings.vals[i])
		} else if m.keeps(key) {
			made.set(key, siblings.vals[i])
		}
	}
	if len(beside.keys) == 0 {
		return made, nil
	}
	if beside, err = m.plain(beside, at); err != nil {
		return nil, err
	}
	return m.both(beside, made, at, "$ref")
}

// both makes a schema that stands for two at once.
func (m *maker) both(a, b *node, at, keyword string) (*node, error) {
	merged, exact := merge(a, b)
	switch {
	case exact:
		return m.toTheType(merged), nil
	case m.keeps("allOf"):
		out, list := a.copied(), array()
		if had := a.get("allOf"); had != nil {
			list = had.copied()
		}
		list.vals = append(list.vals, b)
		out.set("allOf", list)
		return out, nil
	case m.strict():
		return nil, cannot(at, "%s cannot be joined with what stands beside it", keyword)
	}
	m.widen(at, keyword, "what stands beside it is joined with it only in part")
	return m.toTheType(merged), nil
}

// recursive makes a reference that leads back to itself.
func (m *maker) recursive(siblings, target *node, pointer, at string) (*node, error) {
	switch {
	case m.recursionFails:
		return nil, cannot(at, "it contains itself")
	case !m.refs || m.exactRefs && m.exact > 0:
		m.widen(at, "$ref", "it contains itself; from here on anything is accepted")
		out := &node{kind: '{'}
		if word, ok := target.get("type").word(); ok && slices.Contains(typeNames, word) {
			out.set("type", text(word))
		}
		if about := target.get("description"); about != nil && m.keeps("description") {
			out.set("description", about)
		}
		return m.adjust(out, at)
	}
	d := m.define(target, pointer)
	d.leaned = d.leaned || m.exact > 0
	ref := text("#/$defs/" + escape(d.name))
	for _, key := range siblings.keys {
		if m.strict() && !slices.Contains(notes, key) {
			return nil, cannot(at, "a reference to itself with %q beside it", key)
		}
	}
	if m.strict() || len(siblings.keys) == 0 {
		return object("$ref", ref), nil
	}
	out, err := m.plain(siblings, at)
	if err != nil {
		return nil, err
	}
	out.first("$ref", ref)
	return out, nil
}

// define finds or enters a definition.
func (m *maker) define(target *node, pointer string) *def {
	for _, d := range m.defs {
		if d.pointer == pointer {
			return d
		}
	}
	base := pointer[strings.LastIndexByte(pointer, '/')+1:]
	base = strings.Map(func(r rune) rune {
		if r < 128 && (letterOrDigit(byte(r)) || r == '_') {
			return r
		}
		return '_'
	}, base)
	if base == "" {
		base = "root"
	}
	name := base
	for i := 2; slices.ContainsFunc(m.defs, func(d *def) bool { return d.name == name }); i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	d := &def{pointer: pointer, name: name, target: target}
	m.defs = append(m.defs, d)
	return d
}

// resolve finds what a reference leads to within the document. Nothing is ever fetched.
func (m *maker) resolve(ref string) (target *node, pointer string, ok bool) {
	base, fragment, _ := strings.Cut(ref, "#")
	own, _ := m.doc.get("$id").word()
	if base != "" && base != strings.TrimSuffix(own, "#") {
		return nil, "", false
	}
	fragment, err := url.PathUnescape(fragment)
	switch {
	case err != nil:
		return nil, "", false
	case fragment == "":
		return m.doc, "", true
	case fragment[0] != '/':
		if m.anchors == nil {
			m.anchors = map[string]*node{}
			anchors(m.doc, m.anchors)
		}
		target = m.anchors[fragment]
		return target, "/" + fragment, target != nil
	}
	target = m.doc
	for _, step := range strings.Split(fragment[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if target.kind == '[' {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(target.vals) {
				return nil, "", false
			}
			target = target.vals[i]
		} else if target = target.get(step); target == nil {
			return nil, "", false
		}
	}
	return target, fragment, true
}

// anchors finds the subschemas with an anchor; of two with the same the first counts. It looks into all values, also those
// that are no schemas; an anchor there is as rare as it is harmless.
func anchors(n *node, into map[string]*node) {
	name, ok := n.get("$anchor").word()
	if !ok {
		id, _ := n.get("$id").word()
		name, ok = strings.CutPrefix(id, "#")
	}
	if ok && into[name] == nil {
		into[name] = n
	}
	for _, v := range n.vals {
		anchors(v, into)
	}
}
