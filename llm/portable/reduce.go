package portable

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// flatten joins the branches of allOf with what stands beside them, for dialects that do not know the keyword. opened is
// how many references were entered on the way; they stay entered while the result is made.
func (m *maker) flatten(in *node, at string) (out *node, opened int, err error) {
	list := in.get("allOf")
	if list == nil {
		return in, 0, nil
	}
	out = in.copied()
	out.drop("allOf")
	for queue := slices.Clone(list.vals); len(queue) > 0; queue = queue[1:] {
		if m.nodes++; m.nodes > maxNodes {
			return nil, opened, fmt.Errorf("the schema has more than %d subschemas with its references written out", maxNodes)
		}
		branch := queue[0]
		if branch.kind != '{' {
			if branch.is("false") {
				m.widen(at, "allOf", "the dialect cannot say that nothing is accepted")
			}
			continue
		}
		branch = m.modern(branch, at)
		if ref, ok := branch.get("$ref").word(); ok {
			target, pointer, found := m.resolve(ref)
			if !found || target.kind != '{' || slices.Contains(m.stack, pointer) || len(m.stack) > maxDepth {
				if m.strict() {
					return nil, opened, cannot(at, "allOf with the reference %.80q", ref)
				}
				m.widen(at, "allOf", "its branch %.80q is left out", ref)
			} else {
				m.stack = append(m.stack, pointer)
				opened++
				queue = append(queue, target)
			}
			branch.drop("$ref")
		}
		if inner := branch.get("allOf"); inner != nil {
			queue = append(queue, inner.vals...)
			branch.drop("allOf")
		}
		if err := m.join(); err != nil {
			return nil, opened, err
		}
		joined, exact := merge(out, branch)
		switch {
		case exact:
		case m.strict():
			return nil, opened, cannot(at, "the branches of allOf cannot be joined")
		default:
			m.widen(at, "allOf", "its branches are joined only in part")
		}
		out = joined
	}
	return out, opened, nil
}

// maxJoins bounds how many branches of allOf are joined, each of which costs as much as all before it.
const maxJoins = 500

// join counts one branch.
func (m *maker) join() error {
	if m.joins++; m.joins > maxJoins {
		return fmt.Errorf("the schema joins more than %d schemas with allOf", maxJoins)
	}
	return nil
}

// reduce takes out what a dialect with few keywords does not know. What a model can make use of goes into the description.
func (m *maker) reduce(in *node, at string) (*node, error) {
	out, said := &node{kind: '{'}, []string(nil)
	say := func(key string, v *node) {
		if s := v.String(); len(s) <= 200 {
			said = append(said, key+": "+s)
		}
	}
	for i, key := range in.keys {
		value := in.vals[i]
		switch keep, lossless := m.takes(in, key, value, out); {
		case keep:
			out.set(key, value)
		case slices.Contains(notes, key):
			if (key == "default" || key == "examples") && m.keeps("description") {
				say(key, value)
			}
		case lossless:
		case m.strict() && (key == "patternProperties" || key == "prefixItems"):
			return nil, cannot(at, "%s", key)
		default:
			say(key, value)
			m.widen(at, key, "the dialect does not know it; arguments that break it are accepted")
		}
	}
	if in.has("patternProperties") && !m.keeps("patternProperties") && out.has("additionalProperties") && !out.get("additionalProperties").is("true") {
		out.drop("additionalProperties") // it would forbid what the patterns allow
		m.widen(at, "additionalProperties", "it goes with the patterns")
	}
	if len(said) > 0 && m.keeps("description") {
		about, _ := out.get("description").word()
		out.set("description", text(strings.TrimSpace(about+" ("+strings.Join(said, "; ")+")")))
	}
	return out, nil
}

// takes tells whether a keyword with its value stays, or goes without a loss because out now says the same.
func (m *maker) takes(in *node, key string, v *node, out *node) (keep, lossless bool) {
	switch key {
	case "oneOf", "const":
		return true, false // replaced later
	case "format":
		word, _ := v.word()
		return m.keeps(key) && (m.formats == nil || slices.Contains(m.formats, word)), false
	case "minItems":
		return m.keeps(key) && (m.keeps("maxItems") || v.is("0") || v.is("1")), false
	case "items":
		if v.is("false") {
			room := 0
			if prefix := in.get("prefixItems"); prefix != nil {
				room = len(prefix.vals)
			}
			return false, m.keeps("maxItems") && lower(in, out, "maxItems", room)
		}
		return m.keeps(key) && (m.keeps("prefixItems") || !in.has("prefixItems")), false
	case "prefixItems":
		if m.keeps(key) || m.strict() {
			return m.keeps(key), false
		}
		any := array(v.vals...)
		if rest := in.get("items"); rest != nil && rest.kind == '{' {
			any.vals = append(any.vals, rest)
		} else if !rest.is("false") && !in.has("maxItems") {
			return false, false // what comes after the tuple may be anything
		}
		out.set("items", object("anyOf", any))
		return false, false
	case "exclusiveMinimum", "exclusiveMaximum":
		if m.keeps(key) {
			return true, false
		}
		return false, m.shift(in, out, key, v)
	case "additionalProperties":
		return m.keeps(key), v.is("true")
	case "uniqueItems":
		return m.keeps(key), v.is("false")
	case "required":
		return in.has("properties") || in.has("type"), false // of what else beside it, it cannot be said
	}
	return m.keeps(key), false
}

// lower sets an upper bound unless a stricter one is there.
func lower(in, out *node, key string, to int) bool {
	if had := in.get(key); had != nil {
		if n, err := strconv.Atoi(string(had.raw)); err != nil || n <= to {
			return err == nil
		}
		in.set(key, literal(strconv.Itoa(to)))
	}
	out.set(key, literal(strconv.Itoa(to)))
	return true
}

// shift turns an exclusive bound of an integer into the next inclusive one.
func (m *maker) shift(in, out *node, key string, v *node) bool {
	to, step := "minimum", int64(1)
	if key == "exclusiveMaximum" {
		to, step = "maximum", -1
	}
	n, err := strconv.ParseInt(string(v.raw), 10, 64)
	if word, _ := in.get("type").word(); word != "integer" || err != nil || in.has(to) || !m.keeps(to) || n > 1<<53 || n < -1<<53 {
		return false
	}
	out.set(to, literal(strconv.FormatInt(n+step, 10)))
	return true
}
