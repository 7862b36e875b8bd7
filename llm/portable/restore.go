package portable

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Restore brings the arguments of a model back to the names and values of the first schema: keys get their own names, and
// a null that stood for a property left out goes. All other tokens stay as they came.
//
// It fails for what is no JSON object.
func (s *Schema) Restore(args json.RawMessage) (json.RawMessage, error) {
	n, err := read(args)
	if err != nil || n.kind != '{' {
		return nil, fmt.Errorf("the arguments are no JSON object: %.60s", args)
	}
	if len(s.keys) == 0 && !s.marks {
		return args, nil
	}
	for renamed, own := range s.keys {
		if n.has(renamed) && n.has(own) {
			return nil, fmt.Errorf("the arguments give %q twice, also as %q", own, renamed)
		}
	}
	n = s.restore(n, s.root, 0)
	return n.append(nil), nil
}

func (s *Schema) restore(v, schema *node, depth int) *node {
	if schema == nil || depth > maxDepth {
		return v
	}
	if ref, ok := schema.get("$ref").word(); ok {
		return s.restore(v, s.defs[unescape(strings.TrimPrefix(ref, "#/$defs/"))], depth+1)
	}
	for _, branch := range anyOf(schema) {
		if likely(v, branch) {
			v = s.restore(v, branch, depth+1)
			break
		}
	}
	switch v.kind {
	case '[':
		out := v.copied()
		prefix := schema.get("prefixItems")
		for i, item := range out.vals {
			sub := schema.get("items")
			if prefix != nil && i < len(prefix.vals) {
				sub = prefix.vals[i]
			}
			out.vals[i] = s.restore(item, sub, depth+1)
		}
		return out
	case '{':
		return s.restoreObject(v, schema, depth)
	}
	return v
}

func (s *Schema) restoreObject(v, schema *node, depth int) *node {
	out := &node{kind: '{'}
	for i, key := range v.keys {
		sub := schema.get("properties").get(key)
		if v.vals[i].is("null") && schema.added[key] {
			continue
		}
		if sub == nil {
			sub = schema.get("additionalProperties")
		}
		if own, ok := s.keys[key]; ok && (s.deep || depth == 0) {
			key = own
		}
		out.set(key, s.restore(v.vals[i], sub, depth+1))
	}
	return out
}

// likely tells whether a branch may be the one that a value was written for.
func likely(v, branch *node) bool {
	if all := types(branch); all != nil {
		kind := v.shape()
		return slices.ContainsFunc(all, func(t string) bool {
			return t == kind || t == "integer" && kind == "number"
		}) && (v.kind != '{' || namesFit(v, branch))
	}
	return branch.has("$ref") || branch.has("anyOf")
}

// namesFit tells whether a closed branch has all members of an object, and the values of its constants.
func namesFit(v, branch *node) bool {
	p := branch.get("properties")
	for i, key := range v.keys {
		sub := p.get(key)
		if sub == nil {
			if branch.get("additionalProperties").is("false") {
				return false
			}
			continue
		}
		if all := words(sub); all != nil {
			if word, ok := v.vals[i].word(); ok && !slices.Contains(all, word) {
				return false
			}
		}
	}
	return true
}

func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
