package portable

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// objects adjusts a schema of objects.
func (m *maker) objects(out *node, at string) (*node, error) {
	out = out.copied()
	if !out.has("properties") && (m.needProperties || at == "") {
		if m.strict() && at != "" && !out.get("additionalProperties").is("false") {
			return nil, cannot(at, "an object with members of any name")
		}
		out.set("properties", object())
	}
	if p := out.get("properties"); m.noEmpty && at != "" && p != nil && len(p.keys) == 0 {
		out.drop("properties") // it says nothing
	}
	if m.keep != nil {
		m.knownRequired(out, at)
	}
	if m.keysDeep {
		m.renameKeys(out, at)
	}
	if !m.closed {
		return out, nil
	}
	switch rest := out.get("additionalProperties"); {
	case rest == nil:
		m.narrow(at, "additionalProperties", "members that are not listed can no longer be given")
		out.set("additionalProperties", literal("false"))
	case !rest.is("false"):
		return nil, cannot(at, "an object with members of any name")
	}
	if m.allRequired {
		m.requireAll(out, at)
	}
	return out, nil
}

// knownRequired drops required names that are no properties: they are refused.
func (m *maker) knownRequired(out *node, at string) {
	all := out.get("required").list()
	if all == nil {
		if out.has("required") {
			out.drop("required") // an empty list
		}
		return
	}
	known := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !out.get("properties").has(name) })
	if len(known) < len(all) {
		m.widen(at, "required", "it names what is no property")
	}
	if len(known) == 0 {
		out.drop("required")
	} else {
		out.set("required", texts(known))
	}
}

// requireAll makes optional properties required ones that accept null.
func (m *maker) requireAll(out *node, at string) {
	required := set(out.get("required").list())
	properties := out.get("properties").copied()
	for i, name := range properties.keys {
		if required[name] {
			continue
		}
		if loose, changed := withNull(properties.vals[i]); changed {
			properties.vals[i] = loose
			if out.added == nil {
				out.added = map[string]bool{}
			}
			out.added[name] = true
			m.marks = true
		}
		m.narrow(at+"/properties/"+escape(name), "required", "it is optional, and left out by giving null")
	}
	out.set("properties", properties)
	out.set("required", texts(properties.keys))
}

// withNull makes a schema accept null; false where it does already.
func withNull(n *node) (*node, bool) {
	all := types(n)
	if slices.Contains(all, "null") || slices.ContainsFunc(anyOf(n), func(b *node) bool { return slices.Contains(types(b), "null") }) {
		return n, false
	}
	out := n.copied()
	switch list := out.get("anyOf"); {
	case list != nil && all == nil:
		widened := list.copied()
		widened.vals = append(widened.vals, object("type", text("null")))
		out.set("anyOf", widened)
		return out, true
	case all == nil || out.has("anyOf") || out.has("$ref") || out.has("const"):
		return object("anyOf", array(n, object("type", text("null")))), true
	}
	setTypes(out, append(slices.Clone(all), "null"))
	if e := out.get("enum"); e != nil {
		widened := e.copied()
		widened.vals = append(widened.vals, literal("null"))
		out.set("enum", widened)
	}
	return out, true
}

func anyOf(n *node) []*node {
	if list := n.get("anyOf"); list != nil {
		return list.vals
	}
	return nil
}

// fits tells whether a key is within the alphabet.
func (r *rules) fits(key string) bool {
	if key == "" || len(key) > r.keyMax {
		return false
	}
	for i := range len(key) {
		if !r.keyLetter(i, key[i]) {
			return false
		}
	}
	return true
}

// rename makes a key that fits, with so many digits of a digest. It depends on the key alone.
func (r *rules) rename(key string, digits int) string {
	sum := sha256.Sum256([]byte(key))
	digest := hex.EncodeToString(sum[:])[:digits]
	var clean strings.Builder
	for i := 0; i < len(key) && clean.Len() < r.keyMax-digits-2; i++ {
		switch {
		case r.keyLetter(clean.Len(), key[i]):
			clean.WriteByte(key[i])
		case clean.Len() == 0 && r.keyLetter(1, key[i]):
			clean.WriteString("_" + key[i:i+1])
		default:
			clean.WriteByte('_')
		}
	}
	return fmt.Sprintf("%s_%s", clean.String(), digest)
}

// fresh is the new name of a key: with more digits where the document has the shorter name already, by chance or on purpose.
func (m *maker) fresh(key string) string {
	if m.taken == nil {
		m.taken = map[string]bool{}
		m.doc.names(m.taken)
	}
	name := ""
	for digits := 8; digits <= 48; digits += 8 {
		name = m.rename(key, digits)
		if own, used := m.renamed[name]; !m.taken[name] && (!used || own == key) {
			break
		}
	}
	return name
}

// renameKeys renames the properties that do not fit, wherever the schema names them.
func (m *maker) renameKeys(out *node, at string) {
	properties := out.get("properties")
	if properties == nil || !slices.ContainsFunc(properties.keys, func(key string) bool { return !m.fits(key) }) {
		return
	}
	properties = properties.copied()
	names := map[string]string{}
	for i, key := range properties.keys {
		if m.fits(key) {
			continue
		}
		fresh := m.fresh(key)
		names[key], m.renamed[fresh] = fresh, key
		properties.rename(i, fresh)
		m.narrow(at+"/properties/"+escape(key), "properties", "it is called %q there", fresh)
	}
	out.set("properties", properties)
	swap := func(list *node) *node {
		all := list.list()
		for i, name := range all {
			if fresh, ok := names[name]; ok {
				all[i] = fresh
			}
		}
		return texts(all)
	}
	if list := out.get("required"); list != nil {
		out.set("required", swap(list))
	}
	for _, key := range []string{"propertyNames", "patternProperties", "dependentRequired", "dependentSchemas", "not", "if", "then", "else", "unevaluatedProperties"} {
		if out.has(key) {
			out.drop(key)
			m.widen(at, key, "it speaks of members that are called otherwise there")
		}
	}
}
