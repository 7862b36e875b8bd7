package portable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// maxArgs bounds how deep arguments nest.
const maxArgs = 1000

// Restore brings the arguments of a model back to the names and values of the first schema: keys get their own names, a null
// that stood for a property left out goes, and where the schema wants an integer 3.0 becomes 3, for some APIs know
// floating point alone and some servers read whole numbers alone. All other tokens stay as they came.
//
// It fails for what is no JSON object, nests more than 1,000 levels, or gives one property under both its names.
func (s *Schema) Restore(args json.RawMessage) (json.RawMessage, error) {
	if !jsontext.Value(args).IsValid() || !jsonrpc.IsObject(args) {
		return nil, fmt.Errorf("the arguments are no JSON object: %.60s", args)
	}
	if len(s.keys) == 0 && !s.marks && !bytes.Contains(args, []byte(".0")) {
		return args, nil
	}
	all := len(args) // there are no more values than bytes
	n, err := build(args, maxArgs, &all)
	if err != nil {
		return nil, fmt.Errorf("the arguments nest more than %d levels", maxArgs)
	}
	r := restorer{Schema: s}
	if n = r.restore(n, s.root, 0); r.err != nil {
		return nil, r.err
	}
	return n.append(nil), nil
}

// restorer is one restoration.
type restorer struct {
	*Schema
	err error // the first thing that cannot be undone
}

func (r *restorer) restore(v, schema *node, depth int) *node {
	if schema == nil || depth > maxDepth {
		return v
	}
	if ref, ok := schema.get("$ref").word(); ok {
		return r.restore(v, r.defs[unescape(strings.TrimPrefix(ref, "#/$defs/"))], depth+1)
	}
	for _, branch := range anyOf(schema) {
		if likely(v, branch) {
			v = r.restore(v, branch, depth+1)
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
			out.vals[i] = r.restore(item, sub, depth+1)
		}
		return out
	case '{':
		return r.members(v, schema, depth)
	}
	return whole(v, schema)
}

// whole takes the fraction off a number that has an empty one, where the schema wants an integer.
func whole(v, schema *node) *node {
	if v.shape() != "number" || !slices.Contains(types(schema), "integer") || slices.Contains(types(schema), "number") {
		return v
	}
	digits, zeros, ok := bytes.Cut(v.raw, []byte("."))
	if !ok || len(bytes.Trim(zeros, "0")) > 0 {
		return v
	}
	return &node{raw: digits}
}

func (r *restorer) members(v, schema *node, depth int) *node {
	out := &node{kind: '{'}
	properties, rest := schema.get("properties"), schema.get("additionalProperties")
	for i, key := range v.keys {
		sub := properties.get(key)
		if v.vals[i].is("null") && schema.added[key] {
			continue
		}
		if sub == nil {
			sub = rest
		}
		if own, ok := r.keys[key]; ok && (r.deep || depth == 0) {
			if v.has(own) && r.err == nil {
				r.err = fmt.Errorf("the arguments give %q twice, also as %q", own, key)
			}
			key = own
		}
		out.set(key, r.restore(v.vals[i], sub, depth+1))
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
