package schema

import (
	"fmt"
	"reflect"
	"strings"
)

// field is one member of a struct's object, after embedding is resolved.
type field struct {
	name     string
	index    []int // for reflect's FieldByIndex
	typ      reflect.Type
	tag      string // of key jsonschema
	where    string // Type.Field, for errors
	tagged   bool   // the json tag names it
	optional bool   // omitempty, omitzero, or reached through an embedded pointer
	open     bool   // an embedded map or raw value: it keeps unknown members
}

// structFields lists the members of a struct in declaration order, by the codec's rules: the shallowest name wins, at
// equal depth the tagged one, and two equals hide each other.
func structFields(t reflect.Type) ([]field, error) {
	level := []field{{typ: t}}
	seen := map[reflect.Type]bool{t: true}
	var kept []field
	taken := map[string]bool{}
	for len(level) > 0 {
		found, next, err := expandLevel(level, seen)
		if err != nil {
			return nil, err
		}
		for _, f := range dominant(found) {
			if f.open || !taken[f.name] {
				kept = append(kept, f)
			}
		}
		for _, f := range found {
			taken[f.name] = true
		}
		level = next
	}
	return kept, nil
}

func expandLevel(level []field, seen map[reflect.Type]bool) (found, next []field, err error) {
	for _, parent := range level {
		t := indirect(parent.typ)
		for i := range t.NumField() {
			f, skip, err := readField(t, i, parent)
			if err != nil {
				return nil, nil, err
			}
			if skip {
				continue
			}
			if !f.open {
				found = append(found, f)
				continue
			}
			if inner := indirect(f.typ); inner.Kind() == reflect.Struct {
				if !seen[inner] {
					seen[inner] = true
					f.optional = f.optional || f.typ.Kind() == reflect.Pointer
					next = append(next, f)
				}
				continue
			}
			found = append(found, f)
		}
	}
	return found, next, nil
}

// readField reads one Go field. open means it is embedded; a struct among those is expanded by the caller.
func readField(t reflect.Type, i int, parent field) (f field, skip bool, err error) {
	sf := t.Field(i)
	tag := sf.Tag.Get("json")
	if tag == "-" || !sf.IsExported() && !sf.Anonymous {
		return f, true, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	f = field{name: sf.Name, typ: sf.Type, tag: sf.Tag.Get("jsonschema"), where: t.String() + "." + sf.Name, optional: parent.optional}
	f.index = append(append([]int(nil), parent.index...), i)
	if strings.ContainsAny(name, "'\"\\`") {
		return f, false, fmt.Errorf("%s: a quoted json name is not supported", f.where)
	}
	if name != "" {
		f.name, f.tagged = name, true
	}
	f.open = sf.Anonymous && !f.tagged
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "omitempty", "omitzero":
			f.optional = true
		case "embed":
			f.open = true
		default:
			return f, false, fmt.Errorf("%s: the json option %q is not supported", f.where, option)
		}
	}
	if f.open && !sf.IsExported() && sf.Type.Kind() == reflect.Pointer {
		return f, false, fmt.Errorf("%s: an embedded pointer to an unexported type cannot be set when decoding; embed the struct itself", f.where)
	}
	if f.open {
		return f, false, checkEmbedded(f)
	}
	if !sf.IsExported() {
		return f, false, fmt.Errorf("%s: an unexported type cannot be a named member", f.where)
	}
	return f, false, nil
}

func checkEmbedded(f field) error {
	inner := indirect(f.typ)
	switch {
	case inner == jsontextValueType:
		return nil
	case hasOwnForm(inner):
		return fmt.Errorf("%s: a type with its own JSON or text methods cannot be embedded; give it a name in the json tag", f.where)
	case inner.Kind() == reflect.Struct:
		return nil
	case inner.Kind() == reflect.Map && inner.Key().Kind() == reflect.String && !hasOwnForm(inner.Key()):
		return nil
	}
	return fmt.Errorf("%s: only a struct, a map with string keys or a jsontext.Value can be embedded", f.where)
}

// dominant drops the fields of one level that another of the same name hides.
func dominant(found []field) []field {
	count, tagged := map[string]int{}, map[string]int{}
	for _, f := range found {
		count[f.name]++
		if f.tagged {
			tagged[f.name]++
		}
	}
	var kept []field
	for _, f := range found {
		if f.open || count[f.name] == 1 || f.tagged && tagged[f.name] == 1 {
			kept = append(kept, f)
		}
	}
	return kept
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem()
	}
	return t
}
