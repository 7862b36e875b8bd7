package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxValueDepth bounds the nesting of a value handed to the library; messages are bounded to 128 before.
	maxValueDepth = 256
	// maxNumberBytes and maxExponent bound one number: exact arithmetic on 1e999999 would cost megabytes.
	maxNumberBytes = 1024
	maxExponent    = 1000
)

var (
	errTooDeep   = fmt.Errorf("the value is nested more than %d levels deep", maxValueDepth)
	errBigNumber = fmt.Errorf("a number has more than %d characters or an exponent beyond %d", maxNumberBytes, maxExponent)
)

// parse reads one JSON value into maps, slices, strings, bools, nil and json.Number, which keeps every digit.
// Duplicate names, invalid UTF-8 and anything after the value are errors.
func parse(raw []byte) (any, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	v, err := parseValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	return v, nil
}

func parseValue(dec *jsontext.Decoder, depth int) (any, error) {
	if depth > maxValueDepth {
		return nil, errTooDeep
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return parseNumber(tok.String())
	case '[':
		return parseArray(dec, depth)
	default:
		return parseObject(dec, depth)
	}
}

func parseArray(dec *jsontext.Decoder, depth int) (any, error) {
	list := []any{}
	for dec.PeekKind() != ']' {
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.ReadToken()
	return list, err
}

func parseObject(dec *jsontext.Decoder, depth int) (any, error) {
	members := map[string]any{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // the token is gone with the next read
		if members[key], err = parseValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return members, err
}

func parseNumber(text string) (any, error) {
	if len(text) > maxNumberBytes {
		return nil, errBigNumber
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exp, err := strconv.Atoi(text[i+1:])
		if err != nil || exp > maxExponent || exp < -maxExponent {
			return nil, errBigNumber
		}
	}
	return json.Number(text), nil
}

// shape says where the subschemas of a keyword lie.
type shape int

const (
	noSchema     shape = iota
	oneSchema          // a schema
	schemaList         // an array of schemas
	schemaOrList       // either (items before 2020-12)
	namedSchemas       // an object whose values are schemas; its names are never keywords
	namedOrList        // the same, but a value may be a list of names (dependencies)
)

// shapeOf is the union of all dialects; a keyword unknown to one of them is rare and harmless to walk.
func shapeOf(keyword string) shape {
	switch keyword {
	case "additionalProperties", "additionalItems", "contains", "contentSchema", "else", "if", "not", "propertyNames",
		"then", "unevaluatedItems", "unevaluatedProperties":
		return oneSchema
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return schemaList
	case "items":
		return schemaOrList
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return namedSchemas
	case "dependencies":
		return namedOrList
	}
	return noSchema
}

// eachSubschema calls visit for the direct subschemas of a parsed schema with the path to them.
func eachSubschema(schema any, visit func(sub any, path ...string) error) error {
	object, _ := schema.(map[string]any)
	for _, keyword := range sortedKeys(object) {
		kind := shapeOf(keyword)
		if kind == noSchema {
			continue
		}
		if err := visitKeyword(kind, keyword, object[keyword], visit); err != nil {
			return err
		}
	}
	return nil
}

func visitKeyword(kind shape, keyword string, value any, visit func(sub any, path ...string) error) error {
	switch v := value.(type) {
	case []any:
		if kind != schemaList && kind != schemaOrList {
			return nil
		}
		for i, sub := range v {
			if err := visit(sub, keyword, strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		if kind == oneSchema || kind == schemaOrList {
			return visit(v, keyword)
		}
		if kind == schemaList {
			return nil
		}
		for _, name := range sortedKeys(v) {
			if _, isList := v[name].([]any); isList && kind == namedOrList {
				continue
			}
			if err := visit(v[name], keyword, name); err != nil {
				return err
			}
		}
	case bool:
		if kind == oneSchema || kind == schemaOrList {
			return visit(v, keyword)
		}
	}
	return nil
}
