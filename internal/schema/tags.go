package schema

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var settingWord = regexp.MustCompile(`^[A-Za-z]+=`)

// settings is a parsed jsonschema tag, keys in the order written.
type settings []setting

type setting struct{ key, value string }

func (s settings) has(key string) bool {
	for _, one := range s {
		if one.key == key {
			return true
		}
	}
	return false
}

// parseTag reads the grammar documented at ForType.
func parseTag(tag string) (settings, error) {
	if tag == "" {
		return nil, nil
	}
	if !settingWord.MatchString(tag) {
		return settings{{"description", tag}}, nil
	}
	var list settings
	for tag != "" {
		key, rest, ok := strings.Cut(tag, "=")
		if !ok {
			return nil, fmt.Errorf("jsonschema tag: %q is no setting; write key=value", tag)
		}
		key = strings.TrimSpace(key)
		if list.has(key) {
			return nil, fmt.Errorf("jsonschema tag: %q stands twice", key)
		}
		if key == "description" {
			return append(list, setting{key, rest}), nil
		}
		value, after := cutEscaped(rest, ',')
		list = append(list, setting{key, value})
		tag = after
	}
	return list, nil
}

// cutEscaped cuts at the first separator without a backslash before it, and unescapes that separator and backslashes.
func cutEscaped(text string, separator byte) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == separator || text[i+1] == '\\' && separator == ','):
			i++
			b.WriteByte(text[i])
		case text[i] == separator:
			return b.String(), text[i+1:]
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), ""
}

// apply adds the settings to the schema of a field of type t, which may also be null.
func (s settings) apply(o object, t reflect.Type, null bool) (object, error) {
	for _, one := range s {
		var err error
		switch one.key {
		case "description", "title":
			o.set(one.key, quote(one.value))
		case "pattern", "format":
			if kindOf(t) != reflect.String {
				err = errors.New("is for strings")
			}
			o.set(one.key, quote(one.value))
		case "header":
			o.set("x-mcp-header", quote(one.value))
		case "min", "max":
			err = setLimit(&o, one, kindOf(t))
		case "enum":
			err = setEnum(&o, one.value, t, null)
		case "default":
			var raw []byte
			if raw, err = literal(one.value, indirect(t)); err == nil {
				o.set("default", raw)
			}
		default:
			err = errors.New("is not known")
		}
		if err != nil {
			return nil, fmt.Errorf("jsonschema tag: %q %w", one.key, err)
		}
	}
	return o, nil
}

// kindOf is the kind of the JSON form, so far as settings care.
func kindOf(t reflect.Type) reflect.Kind {
	t = indirect(t)
	if t == durationType || t == timeType {
		return reflect.String
	}
	if _, own, _ := special(t); own && !implements(t, textMethods...) {
		return reflect.Invalid
	}
	if implements(t, textMethods...) {
		return reflect.String
	}
	return t.Kind()
}

func setLimit(o *object, s setting, kind reflect.Kind) error {
	var keyword string
	switch {
	case integer(kind) != nil, kind == reflect.Float32, kind == reflect.Float64:
		keyword = s.key + "imum"
	case kind == reflect.String:
		keyword = s.key + "Length"
	case kind == reflect.Slice:
		keyword = s.key + "Items"
	case kind == reflect.Map:
		keyword = s.key + "Properties"
	default:
		return errors.New("is for numbers, strings, slices and maps")
	}
	if !isLiteral(s.value, '0') {
		return errors.New("must be a number")
	}
	o.set(keyword, []byte(s.value))
	return nil
}

func setEnum(o *object, text string, t reflect.Type, null bool) error {
	item := indirect(t)
	slice := item.Kind() == reflect.Slice && item.Elem().Kind() != reflect.Uint8
	if slice {
		item = indirect(item.Elem())
	}
	if text == "" {
		return errors.New("lists no value")
	}
	list := []byte{'['}
	for text != "" {
		var value string
		value, text = cutEscaped(text, '|')
		raw, err := literal(value, item)
		if err != nil {
			return err
		}
		list = append(append(list, raw...), ',')
	}
	if null && !slice {
		list = append(list, "null,"...)
	}
	list[len(list)-1] = ']'
	if !slice {
		o.set("enum", list)
		return nil
	}
	raw, _ := o.get("items")
	items, err := splitObject(raw)
	if err != nil {
		return err
	}
	items.set("enum", list)
	o.set("items", items.append(nil))
	return nil
}

// literal reads a value of a tag: text for what is a string in JSON, else JSON of the right kind.
func literal(text string, t reflect.Type) ([]byte, error) {
	kind := kindOf(t)
	switch {
	case kind == reflect.String:
		return quote(text), nil
	case kind == reflect.Bool && (text == "true" || text == "false"):
		return []byte(text), nil
	case (integer(kind) != nil || kind == reflect.Float32 || kind == reflect.Float64) && isLiteral(text, '0'):
		return []byte(text), nil
	case kind == reflect.Slice && isLiteral(text, '['), kind == reflect.Map && isLiteral(text, '{'), kind == reflect.Struct && isLiteral(text, '{'):
		return []byte(text), nil
	case kind == reflect.Invalid && isLiteral(text, 0):
		return []byte(text), nil
	}
	return nil, fmt.Errorf("has a value %q that is no %s", text, t)
}

func isLiteral(text string, kind jsontext.Kind) bool {
	v := jsontext.Value(text)
	return v.IsValid() && (kind == 0 || v.Kind() == kind)
}
