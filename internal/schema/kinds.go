package schema

import (
	"encoding"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	jsontextValueType = reflect.TypeFor[jsontext.Value]()
	rawMessageType    = reflect.TypeFor[stdjson.RawMessage]()
	numberType        = reflect.TypeFor[stdjson.Number]()
	durationType      = reflect.TypeFor[time.Duration]()
	timeType          = reflect.TypeFor[time.Time]()

	describerType = reflect.TypeFor[interface{ JSONSchema() stdjson.RawMessage }]()
	jsonMethods   = []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.MarshalerTo](),
		reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[json.UnmarshalerFrom](),
	}
	textMethods = []reflect.Type{
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextUnmarshaler](),
	}
)

// durationPattern takes what time.ParseDuration takes, units in descending order, with so many digits for each that
// the sum cannot overflow. The largest is 2,499,999 hours.
const durationPattern = `^-?(([0-9]{1,6}|1[0-9]{6}|2[0-4][0-9]{5})(\.[0-9]+)?h)?([0-9]{1,5}(\.[0-9]+)?m)?([0-9]{1,7}(\.[0-9]+)?s)?` +
	`([0-9]{1,10}(\.[0-9]+)?ms)?([0-9]{1,13}(\.[0-9]+)?(us|µs))?([0-9]{1,16}ns)?$`

// special covers types whose form is not that of their kind.
func special(t reflect.Type) (object, bool, error) {
	switch {
	case t == jsontextValueType, t == rawMessageType, t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return object{}, true, nil
	case t == durationType:
		o := typed("string")
		o.set("minLength", []byte("2")) // the pattern alone would take "" and "-"
		o.set("pattern", quote(durationPattern))
		return o, true, nil
	case t == timeType:
		o := typed("string")
		o.set("format", quote("date-time"))
		return o, true, nil
	case t == numberType:
		return nil, false, errors.New("json.Number has no schema of its own; use float64, int64 or json.RawMessage")
	case implements(t, describerType):
		o, err := own(t)
		return o, true, err
	case implements(t, jsonMethods...):
		return object{}, true, nil
	case implements(t, textMethods...):
		return typed("string"), true, nil
	}
	return nil, false, nil
}

// own asks a type for the schema it gives itself.
func own(t reflect.Type) (object, error) {
	value, ok := reflect.New(t).Interface().(interface{ JSONSchema() stdjson.RawMessage })
	if !ok {
		return nil, fmt.Errorf("JSONSchema of %s cannot be called", t)
	}
	raw := value.JSONSchema()
	if string(raw) == "true" {
		return object{}, nil
	}
	members, err := splitObject(raw)
	if err != nil {
		return nil, fmt.Errorf("JSONSchema of %s answers no object: %w", t, err)
	}
	return members, nil
}

func hasOwnForm(t reflect.Type) bool {
	return implements(t, jsonMethods...) || implements(t, textMethods...)
}

func implements(t reflect.Type, interfaces ...reflect.Type) bool {
	for _, i := range interfaces {
		if t.Implements(i) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(i) {
			return true
		}
	}
	return false
}

func integer(kind reflect.Kind) object {
	o := typed("integer")
	switch kind {
	case reflect.Int, reflect.Int64:
	case reflect.Int8, reflect.Int16, reflect.Int32:
		bits := map[reflect.Kind]int{reflect.Int8: 8, reflect.Int16: 16, reflect.Int32: 32}[kind]
		o.set("minimum", strconv.AppendInt(nil, -1<<(bits-1), 10))
		o.set("maximum", strconv.AppendInt(nil, 1<<(bits-1)-1, 10))
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		o.set("minimum", []byte("0"))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		bits := map[reflect.Kind]int{reflect.Uint8: 8, reflect.Uint16: 16, reflect.Uint32: 32}[kind]
		o.set("minimum", []byte("0"))
		o.set("maximum", strconv.AppendInt(nil, 1<<bits-1, 10))
	default:
		return nil
	}
	return o
}

// contains reports whether t is found inside from.
func contains(from, t reflect.Type) bool {
	return holds(from, func(inner reflect.Type) bool { return inner == t }, map[reflect.Type]bool{})
}

// holds reports whether a type for which match is true is found inside from.
func holds(from reflect.Type, match func(reflect.Type) bool, seen map[reflect.Type]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	if _, ok, err := special(from); ok || err != nil {
		return false
	}
	return slices.ContainsFunc(innerTypes(from), func(inner reflect.Type) bool {
		return match(inner) || holds(inner, match, seen)
	})
}

func innerTypes(t reflect.Type) []reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return []reflect.Type{t.Elem()}
	case reflect.Struct:
		var inner []reflect.Type
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("json") != "-" && (f.IsExported() || f.Anonymous) {
				inner = append(inner, f.Type)
			}
		}
		return inner
	}
	return nil
}
