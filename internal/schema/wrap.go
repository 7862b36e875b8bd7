package schema

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// WrapOutput answers the form of an output schema that legacy peers get: their structured content is an object, so a
// schema whose root type is not exactly "object" is put under the property "result".
//
//	{"type":"object","properties":{"result":<schema>},"required":["result"]}
//
// A root $schema is copied to the wrapper. References to the document's root follow the schema to its new place,
// unless the root has an $id of its own. False means the schema is an object, or no JSON, and is answered as it is.
// Bytes that need no change are kept.
func WrapOutput(raw json.RawMessage) (json.RawMessage, bool) {
	if RootIsObject(raw) || !jsontext.Value(raw).IsValid() {
		return raw, false
	}
	members, _ := splitObject(raw) // a boolean root has none
	inner := []byte(raw)
	if !establishesBase(members) {
		w := wrapper{recursive: followsRecursive(members)}
		inner = w.schema(bytes.TrimSpace(raw))
	}
	out := []byte(`{`)
	if dialect, ok := members.get("$schema"); ok && dialect[0] == '"' {
		out = append(append(append(out, `"$schema":`...), dialect...), ',')
	}
	out = append(append(out, `"type":"object","properties":{"result":`...), inner...)
	return append(out, `},"required":["result"]}`...), true
}

// establishesBase reports an $id that gives references a new base; "#name" only names an anchor.
func establishesBase(members object) bool {
	id, ok := members.text("$id")
	return ok && !strings.HasPrefix(id, "#")
}

// followsRecursive tells whether $recursiveRef is a plain reference to the root: 2019-09 without a recursive anchor.
func followsRecursive(members object) bool {
	declared, _ := members.text("$schema")
	dialect, err := canonicalDialect(declared)
	anchor, _ := members.get("$recursiveAnchor")
	return err == nil && dialect == dialect2019 && string(anchor) != "true"
}

func (o object) text(name string) (string, bool) {
	raw, ok := o.get(name)
	if !ok || len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err == nil
}

type wrapper struct {
	recursive bool
	depth     int
}

// maxWrapDepth bounds the walk, each level of which copies what is below it. [Compile] refuses such schemas anyway.
const maxWrapDepth = 128

// schema rewrites one schema. What is not an object (true, false, a mistake) stays.
func (w wrapper) schema(raw []byte) []byte {
	members, err := splitObject(raw)
	if err != nil {
		return raw
	}
	return w.rewrite(raw, members)
}

// sub is schema for a place below the root, where an $id starts a document of its own.
func (w wrapper) sub(raw []byte) []byte {
	members, err := splitObject(raw)
	if err != nil || establishesBase(members) || w.depth >= maxWrapDepth {
		return raw
	}
	w.depth++
	return w.rewrite(raw, members)
}

func (w wrapper) rewrite(raw []byte, members object) []byte {
	changed := false
	for i, m := range members {
		if next := w.keyword(m.name, m.raw); !bytes.Equal(next, m.raw) {
			members[i].raw, changed = next, true
		}
	}
	if w.recursive {
		if edited, ok := recursiveToRef(members); ok {
			members, changed = edited, true
		}
	}
	if !changed {
		return raw
	}
	return members.append(nil)
}

func (w wrapper) keyword(name string, raw []byte) []byte {
	if name == "$ref" || name == "$dynamicRef" {
		return moveReference(raw)
	}
	switch shapeOf(name) {
	case oneSchema:
		return w.sub(raw)
	case schemaList:
		return w.list(raw)
	case schemaOrList:
		if raw[0] == '[' {
			return w.list(raw)
		}
		return w.sub(raw)
	case namedSchemas, namedOrList:
		return w.named(raw)
	}
	return raw
}

func (w wrapper) named(raw []byte) []byte {
	members, err := splitObject(raw)
	if err != nil {
		return raw
	}
	changed := false
	for i, m := range members {
		if next := w.sub(m.raw); !bytes.Equal(next, m.raw) {
			members[i].raw, changed = next, true
		}
	}
	if !changed {
		return raw
	}
	return members.append(nil)
}

func (w wrapper) list(raw []byte) []byte {
	items, ok := splitArray(raw)
	if !ok {
		return raw
	}
	changed := false
	for i, item := range items {
		next := w.sub(item)
		changed = changed || !bytes.Equal(next, item)
		items[i] = next
	}
	if !changed {
		return raw
	}
	return joinArray(items)
}

func moveReference(raw []byte) []byte {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return raw
	}
	switch {
	case string(text) == "#":
		return quote("#/properties/result")
	case strings.HasPrefix(string(text), "#/"):
		return quote("#/properties/result" + string(text[1:]))
	}
	return raw
}

// recursiveToRef turns $recursiveRef "#" into a $ref to the new place. Beside a $ref it goes into allOf.
func recursiveToRef(members object) (object, bool) {
	if target, _ := members.text("$recursiveRef"); target != "#" {
		return members, false
	}
	ref := quote("#/properties/result")
	if _, taken := members.get("$ref"); !taken {
		for i := range members {
			if members[i].name == "$recursiveRef" {
				members[i] = member{"$ref", ref}
			}
		}
		return members, true
	}
	kept := object{}
	for _, m := range members {
		if m.name != "$recursiveRef" {
			kept = append(kept, m)
		}
	}
	all, _ := kept.get("allOf")
	items, _ := splitArray(all)
	kept.set("allOf", joinArray(append(items, object{{"$ref", ref}}.append(nil))))
	return kept, true
}

func splitArray(raw []byte) ([][]byte, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() != '[' {
		return nil, false
	}
	var items [][]byte
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		items = append(items, bytes.Clone(value))
	}
	return items, true
}

func joinArray(items [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
}
