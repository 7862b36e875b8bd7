package schema

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// For is ForType of T.
func For[T any]() (stdjson.RawMessage, error) { return ForType(reflect.TypeFor[T]()) }

// ForInput is ForType for the input of a tool: it fails when the root is not an object.
func ForInput(t reflect.Type) (stdjson.RawMessage, error) {
	raw, err := ForType(t)
	if err != nil {
		return nil, err
	}
	if !RootIsObject(raw) {
		return nil, fmt.Errorf("%s: an input must be an object; use a struct or a map with string keys", t)
	}
	return raw, nil
}

// ForType infers a schema from a Go type by the rules in the package documentation. The output depends on the type
// alone, its members in declaration order. It fails for channels, functions, complex numbers, interfaces with methods,
// json options this package does not know, and bad tags; the error names the field.
//
// The tag `jsonschema` is the description of a field, or a list of settings when it begins with WORD=. Settings are
// separated by commas; \, is a comma and \\ a backslash within one.
//
//	title=...            a title
//	enum=a|b|c           the allowed values; of a slice, those of its items; \| is a bar
//	default=x            the value of an absent member, which makes it optional; text for strings, else JSON
//	min=1, max=9         bounds of a number, length of a string, number of items or members
//	pattern=...          a regular expression (RE2) for a string
//	format=email         a format for a string
//	header=Region        x-mcp-header: mirror the value in the header Mcp-Param-Region
//	description=...      the description: the rest of the tag, commas and all, so it stands last
func ForType(t reflect.Type) (stdjson.RawMessage, error) { return infer(t, false) }

// infer is ForType; flat leaves null out of what a pointer takes, as forms do.
func infer(t reflect.Type, flat bool) (stdjson.RawMessage, error) {
	if t == nil {
		return nil, errors.New("infer a schema: there is no type")
	}
	root := t
	for root.Kind() == reflect.Pointer {
		root = root.Elem()
	}
	in := &inference{root: root, flat: flat, names: map[reflect.Type]string{}, used: map[string]bool{}}
	o, err := in.whole(root)
	if err != nil {
		return nil, fmt.Errorf("infer a schema for %s: %w", t, err)
	}
	if len(in.defs) > 0 {
		o.set("$defs", in.defs.append(nil))
	}
	return o.append(nil), nil
}

// inference is one run of ForType.
type inference struct {
	root  reflect.Type
	flat  bool
	names map[reflect.Type]string // in $defs
	used  map[string]bool
	defs  object
}

// schema describes one use of a type: a reference when the type contains itself.
func (in *inference) schema(t reflect.Type) (object, error) {
	if t.Name() == "" || !contains(t, t) {
		return in.whole(t)
	}
	if t == in.root {
		return object{{"$ref", []byte(`"#"`)}}, nil
	}
	name, known := in.names[t]
	if !known {
		name = in.newName(t)
		place := len(in.defs)
		in.defs = append(in.defs, member{name: name})
		o, err := in.whole(t)
		if err != nil {
			return nil, err
		}
		in.defs[place].raw = o.append(nil)
	}
	return object{{"$ref", quote("#/$defs/" + name)}}, nil
}

func (in *inference) newName(t reflect.Type) string {
	base := strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, t.Name())
	name := base
	for n := 2; in.used[name]; n++ {
		name = base + strconv.Itoa(n)
	}
	in.used[name], in.names[t] = true, name
	return name
}

// whole describes a type in full.
func (in *inference) whole(t reflect.Type) (object, error) {
	if o, ok, err := special(t); ok || err != nil {
		return o, err
	}
	switch t.Kind() {
	case reflect.Bool:
		return typed("boolean"), nil
	case reflect.String:
		return typed("string"), nil
	case reflect.Float32, reflect.Float64:
		return typed("number"), nil
	case reflect.Pointer:
		o, err := in.schema(t.Elem())
		if in.flat {
			return o, err
		}
		return nullable(o), err
	case reflect.Slice, reflect.Array:
		return in.list(t)
	case reflect.Map:
		return in.mapping(t)
	case reflect.Struct:
		return in.structure(t)
	}
	if o := integer(t.Kind()); o != nil {
		return o, nil
	}
	return nil, fmt.Errorf("type %s has no JSON form", t)
}

// nullable adds null to what o takes. The empty object takes it already.
func nullable(o object) object {
	if len(o) == 0 {
		return o
	}
	_, listed := o.get("enum")
	if kind, ok := o.get("type"); ok && kind[0] == '"' && !listed {
		o.set("type", []byte(`[`+string(kind)+`,"null"]`))
		return o
	}
	if kind, ok := o.get("type"); ok && kind[0] == '[' && !listed {
		return o // a pointer to a pointer
	}
	return object{{"anyOf", []byte(`[` + string(o.append(nil)) + `,{"type":"null"}]`)}}
}

func (in *inference) list(t reflect.Type) (object, error) {
	if t.Elem().Kind() == reflect.Uint8 {
		return base64String(t), nil
	}
	items, err := in.schema(t.Elem())
	if err != nil {
		return nil, err
	}
	o := typed("array")
	o.set("items", items.append(nil))
	if t.Kind() == reflect.Array {
		o.set("minItems", strconv.AppendInt(nil, int64(t.Len()), 10))
		o.set("maxItems", strconv.AppendInt(nil, int64(t.Len()), 10))
	}
	return o, nil
}

func base64String(t reflect.Type) object {
	o := typed("string")
	o.set("contentEncoding", quote("base64"))
	if t.Kind() == reflect.Slice {
		o.set("pattern", quote(base64Pattern))
		return o
	}
	// Of a fixed number of bytes the padding is known too.
	whole := base64Len(t.Len())
	padding := (3 - t.Len()%3) % 3
	o.set("pattern", quote(fmt.Sprintf("^[A-Za-z0-9+/]{%d}%s$", whole-padding, strings.Repeat("=", padding))))
	return o
}

func (in *inference) mapping(t reflect.Type) (object, error) {
	o := typed("object")
	key := t.Key()
	switch {
	case implements(key, textMethods...), key.Kind() == reflect.String:
	case implements(key, jsonMethods...) || integer(key.Kind()) == nil:
		return nil, fmt.Errorf("type %s: a map key must be a string, an integer or a type with text methods", t)
	case key.Kind() >= reflect.Uint && key.Kind() <= reflect.Uintptr:
		o.set("propertyNames", []byte(`{"pattern":"^(0|[1-9][0-9]*)$"}`))
	default:
		o.set("propertyNames", []byte(`{"pattern":"^(0|-?[1-9][0-9]*)$"}`))
	}
	values, err := in.schema(t.Elem())
	if err != nil {
		return nil, err
	}
	o.set("additionalProperties", values.append(nil))
	return o, nil
}

func (in *inference) structure(t reflect.Type) (object, error) {
	fields, err := structFields(t)
	if err != nil {
		return nil, err
	}
	var properties object
	var required []string
	rest := []byte("false")
	for _, f := range fields {
		if f.open {
			if rest, err = in.unknown(f); err != nil {
				return nil, err
			}
			continue
		}
		o, err := in.schema(f.typ)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.where, err)
		}
		settings, err := parseTag(f.tag)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.where, err)
		}
		if o, err = settings.apply(o, f.typ, !in.flat && f.typ.Kind() == reflect.Pointer); err != nil {
			return nil, fmt.Errorf("%s: %w", f.where, err)
		}
		properties.set(f.name, o.append(nil))
		if !f.optional && !settings.has("default") && f.typ.Kind() != reflect.Pointer {
			required = append(required, f.name)
		}
	}
	o := typed("object")
	o.set("properties", properties.append(nil))
	if len(required) > 0 {
		o.set("required", quoteAll(required))
	}
	o.set("additionalProperties", rest)
	return o, nil
}

// unknown describes the members an embedded map or raw value takes.
func (in *inference) unknown(f field) ([]byte, error) {
	t := indirect(f.typ)
	if t == jsontextValueType {
		return []byte("true"), nil
	}
	o, err := in.schema(t.Elem())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.where, err)
	}
	return o.append(nil), nil
}
