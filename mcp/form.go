package mcp

import (
	stdjson "encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// FormSchema builds the schema of a form. Fields are written in their order, in which clients show them.
type FormSchema struct {
	Fields []FormField
}

// FormField is one field of a form: a primitive value, or a choice.
type FormField struct {
	Name     string // the key of the answer
	Required bool

	Type        string // "string", "number", "integer", "boolean" or "array"
	Title       string
	Description string
	Default     stdjson.RawMessage // raw, so that false, 0 and "" are written; nil is none

	Format    string // of a string: email, uri, date, date-time
	MinLength *int64 // of a string
	MaxLength *int64
	Minimum   *float64 // of a number
	Maximum   *float64

	Choices  []FormChoice // makes the field a choice: of one for "string", of several for "array"
	MinItems *int64       // of an array
	MaxItems *int64
}

// FormChoice is a value to choose and, optionally, what the user sees. Titles need 2025-11-25.
type FormChoice struct {
	Value string
	Title string
}

// AppendJSON appends the JSON Schema.
func (f FormSchema) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.str("type", "object")
	o.key("properties")
	fields := newObject(o.dst)
	var required []string
	for _, field := range f.Fields {
		fields.field(field)
		if field.Required {
			required = append(required, field.Name)
		}
	}
	o.dst, o.err = fields.end(nil)
	o.strs("required", required)
	out, err := o.end(nil)
	if err == nil && !jsontext.Value(out[len(dst):]).IsValid() {
		return dst, errors.New("two fields of the form have the same name")
	}
	return out, err
}

// MarshalJSON implements json.Marshaler.
func (f FormSchema) MarshalJSON() ([]byte, error) { return f.AppendJSON(nil) }

func (o *object) field(f FormField) {
	if o.err != nil {
		return
	}
	if len(o.dst) > o.start+1 {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(jsonrpc.AppendString(o.dst, f.Name), ':')
	o.dst, o.err = f.append(o.dst)
}

func (f *FormField) append(dst []byte) ([]byte, error) {
	switch f.Type {
	case "string", "number", "integer", "boolean", "array":
	default:
		return dst, fmt.Errorf("form field %q has type %q; use string, number, integer, boolean or array", f.Name, f.Type)
	}
	o := newObject(dst)
	o.str("type", f.Type)
	o.optStr("title", f.Title)
	o.optStr("description", f.Description)
	o.optStr("format", f.Format)
	o.ptrInt("minLength", f.MinLength)
	o.ptrInt("maxLength", f.MaxLength)
	o.ptrFloat("minimum", f.Minimum)
	o.ptrFloat("maximum", f.Maximum)
	o.ptrInt("minItems", f.MinItems)
	o.ptrInt("maxItems", f.MaxItems)
	if len(f.Choices) > 0 && f.Type == "array" {
		o.key("items")
		items := newObject(o.dst)
		if !titled(f.Choices) {
			items.str("type", "string")
		}
		items.choices(f.Choices, "anyOf")
		o.dst, o.err = items.end(nil)
	} else {
		o.choices(f.Choices, "oneOf")
	}
	o.raw("default", f.Default)
	return o.end(nil)
}

func titled(choices []FormChoice) bool {
	for _, choice := range choices {
		if choice.Title != "" {
			return true
		}
	}
	return false
}

// choices writes an enum, or alternatives with titles where a choice has one.
func (o *object) choices(choices []FormChoice, alternatives string) {
	if len(choices) == 0 {
		return
	}
	if !titled(choices) {
		values := make([]string, len(choices))
		for i, choice := range choices {
			values[i] = choice.Value
		}
		o.strs("enum", values)
		return
	}
	o.key(alternatives)
	o.dst = append(o.dst, '[')
	for i, choice := range choices {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		one := newObject(o.dst)
		one.str("const", choice.Value)
		if choice.Title == "" {
			choice.Title = choice.Value
		}
		one.str("title", choice.Title)
		o.dst, o.err = one.end(nil)
	}
	o.dst = append(o.dst, ']')
}
