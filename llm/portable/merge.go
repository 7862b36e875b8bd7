package portable

import (
	"slices"
	"strconv"
)

// Keywords that speak about what others beside them leave over.
var (
	arrayGroup = []string{"items", "prefixItems", "contains", "minContains", "maxContains", "unevaluatedItems"}
	ifGroup    = []string{"if", "then", "else"}
	restGroup  = []string{"additionalProperties", "patternProperties", "unevaluatedProperties"}
)

// merge makes one schema of two that hold at once. Where it is not exact it accepts more than the two together.
func merge(a, b *node) (out *node, exact bool) {
	out, exact = a.copied(), true
	skip := map[string]bool{}
	for _, group := range [][]string{arrayGroup, ifGroup} {
		if hasAny(a, group) && hasAny(b, group) && !sameIn(a, b, group) {
			exact = false
			for _, key := range group {
				skip[key] = true
			}
		}
	}
	if !restFits(a, b) {
		exact = false
		for _, key := range restGroup {
			skip[key] = true
			out.drop(key)
		}
	}
	for i, key := range b.keys {
		if skip[key] {
			continue
		}
		value, had := b.vals[i], out.get(key)
		if had == nil {
			out.set(key, value)
			continue
		}
		joined, good := mergeKeyword(key, had, value)
		out.set(key, joined)
		exact = exact && good
	}
	return out, exact
}

func mergeKeyword(key string, a, b *node) (*node, bool) {
	switch key {
	case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly":
		return a, true
	case "type":
		return mergeTypes(a, b)
	case "required":
		return texts(joined(a.list(), b.list())), true
	case "properties":
		out, exact := a.copied(), true
		for i, name := range b.keys {
			if had := out.get(name); had != nil {
				joined, good := merge(had, b.vals[i])
				out.set(name, joined)
				exact = exact && good
			} else {
				out.set(name, b.vals[i])
			}
		}
		return out, exact
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
		return tighter(a, b, func(x, y float64) bool { return x >= y })
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		return tighter(a, b, func(x, y float64) bool { return x <= y })
	}
	return a, equal(a, b)
}

func mergeTypes(a, b *node) (*node, bool) {
	one, other := types(object("type", a)), types(object("type", b))
	both := slices.DeleteFunc(slices.Clone(one), func(t string) bool {
		return !slices.Contains(other, t) && !(t == "integer" && slices.Contains(other, "number"))
	})
	if slices.Contains(other, "integer") && slices.Contains(one, "number") && !slices.Contains(both, "integer") {
		both = append(both, "integer")
	}
	if len(both) == 0 {
		return a, false
	}
	holder := object()
	setTypes(holder, both)
	return holder.get("type"), true
}

// tighter picks the stricter of two bounds that floating point tells apart.
func tighter(a, b *node, first func(x, y float64) bool) (*node, bool) {
	x, errX := strconv.ParseFloat(string(a.raw), 64)
	y, errY := strconv.ParseFloat(string(b.raw), 64)
	switch {
	case errX != nil || errY != nil || x == y:
		return a, equal(a, b)
	case first(x, y):
		return a, true
	}
	return b, true
}

func hasAny(n *node, keys []string) bool { return slices.ContainsFunc(keys, n.has) }

func sameIn(a, b *node, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool {
		x, y := a.get(key), b.get(key)
		return (x == nil) != (y == nil) || x != nil && !equal(x, y)
	})
}

// restFits tells whether properties of both sides may stand together although one of them says what other properties are.
func restFits(a, b *node) bool {
	if len(a.keys) > 0 && len(b.keys) > 0 && (a.has("unevaluatedProperties") || b.has("unevaluatedProperties")) {
		return false // it sees what stands beside it, at any depth
	}
	return leavesOpen(a) && leavesOpen(b) || sameIn(a, b, append([]string{"properties"}, restGroup...)) ||
		leavesOpen(b) && within(b, a) || leavesOpen(a) && within(a, b)
}

func leavesOpen(n *node) bool {
	for _, key := range restGroup {
		if v := n.get(key); v != nil && !v.is("true") {
			return false
		}
	}
	return true
}

// within tells whether all properties of a are properties of b.
func within(a, b *node) bool {
	p := a.get("properties")
	return p == nil || !slices.ContainsFunc(p.keys, func(key string) bool { return !b.get("properties").has(key) })
}

// joined is the first list with what it lacks of the second behind it.
func joined(a, b []string) []string {
	has := set(a)
	for _, s := range b {
		if !has[s] {
			a, has[s] = append(a, s), true
		}
	}
	return a
}

func set(all []string) map[string]bool {
	out := make(map[string]bool, len(all))
	for _, s := range all {
		out[s] = true
	}
	return out
}

// maxCompared is how many branches are compared with each other.
const maxCompared = 200

// exclusive tells whether it is certain that no value fits two of the branches.
func exclusive(branches []*node) bool {
	if len(branches) > maxCompared {
		return false
	}
	for i, a := range branches {
		for _, b := range branches[i+1:] {
			if !disjoint(a, b) {
				return false
			}
		}
	}
	return true
}

func disjoint(a, b *node) bool {
	one, other := types(a), types(b)
	if one != nil && other != nil && !slices.ContainsFunc(one, func(t string) bool {
		return slices.Contains(other, t) || t == "integer" && slices.Contains(other, "number") || t == "number" && slices.Contains(other, "integer")
	}) {
		return true
	}
	if x, y := words(a), words(b); x != nil && y != nil {
		seen := set(y)
		return !slices.ContainsFunc(x, func(w string) bool { return seen[w] })
	}
	if !slices.Equal(one, []string{"object"}) || !slices.Equal(other, one) {
		return false
	}
	required := set(b.get("required").list())
	for _, name := range a.get("required").list() {
		if !required[name] {
			continue
		}
		p, q := a.get("properties").get(name), b.get("properties").get(name)
		if p != nil && q != nil && words(p) != nil && words(q) != nil && disjoint(p, q) {
			return true
		}
	}
	return false
}

// words are the strings that a schema accepts when it accepts a few strings alone.
func words(n *node) []string {
	if c, ok := n.get("const").word(); ok {
		return []string{c}
	}
	if e := n.get("enum"); e != nil && len(e.list()) == len(e.vals) {
		return e.list()
	}
	return nil
}
