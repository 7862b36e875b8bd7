package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Form is the checked requestedSchema of an elicitation: a flat object of strings, numbers, booleans and choices. It is
// immutable and safe for concurrent use. Spec 2025-11-25 and 2026-07-28, client/elicitation, "Requested Schema".
type Form struct {
	schema   *Schema
	defaults object
}

// ParseForm checks a requestedSchema. The error names the member and what a form cannot ask.
//
// Allowed members: string (minLength, maxLength, format email, uri, date or date-time), number and integer (minimum,
// maximum), boolean, one choice (enum, with enumNames for titles, or oneOf of const and title), several choices (array
// whose items have an enum or anyOf of const and title; minItems, maxItems). Each may have title, description and a
// default, which must be a value the member takes.
func ParseForm(raw json.RawMessage) (*Form, error) {
	doc, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok || root["type"] != "object" {
		return nil, errors.New(`a form is an object schema; its type must be "object"`)
	}
	if err := allowedKeywords(root, "$schema", "type", "title", "description", "properties", "required", "additionalProperties"); err != nil {
		return nil, fmt.Errorf("the form %w", err)
	}
	if _, ok := root["properties"].(map[string]any); !ok {
		return nil, errors.New("the form has no properties")
	}
	if extra, found := root["additionalProperties"]; found && extra != false && extra != true {
		return nil, errors.New("the form may not describe additionalProperties")
	}
	f := &Form{}
	if f.schema, err = Compile(raw, Options{}); err != nil {
		return nil, fmt.Errorf("the form: %w", err)
	}
	members, err := splitObject(raw)
	if err != nil {
		return nil, err
	}
	fields, _ := members.get("properties")
	return f, f.readFields(fields)
}

func (f *Form) readFields(raw []byte) error {
	fields, err := splitObject(raw)
	if err != nil {
		return err
	}
	for _, one := range fields {
		doc, err := parse(one.raw)
		if err != nil {
			return err
		}
		if err := checkField(doc); err != nil {
			return fmt.Errorf("the form's member %q %w", excerpt(one.name, maxQuote), err)
		}
		if err := f.readDefault(one); err != nil {
			return fmt.Errorf("the form's member %q: %w", excerpt(one.name, maxQuote), err)
		}
	}
	return nil
}

func (f *Form) readDefault(one member) error {
	keywords, err := splitObject(one.raw)
	if err != nil {
		return err
	}
	value, ok := keywords.get("default")
	if !ok {
		return nil
	}
	alone, err := Compile(one.raw, Options{})
	if err != nil {
		return err
	}
	if err := alone.Validate(value); err != nil {
		return fmt.Errorf("the default %w", err)
	}
	f.defaults = append(f.defaults, member{one.name, value})
	return nil
}

func checkField(doc any) error {
	field, ok := doc.(map[string]any)
	if !ok {
		return errors.New("must be a schema object")
	}
	switch field["type"] {
	case "string":
		return checkStringField(field)
	case "number", "integer":
		return allowedKeywords(field, "type", "title", "description", "default", "minimum", "maximum")
	case "boolean":
		return allowedKeywords(field, "type", "title", "description", "default")
	case "array":
		return checkChoices(field)
	}
	return errors.New("must have one of the types string, number, integer, boolean or array")
}

func checkStringField(field map[string]any) error {
	if list, ok := field["enum"]; ok {
		if err := allowedKeywords(field, "type", "title", "description", "default", "enum", "enumNames"); err != nil {
			return err
		}
		return checkEnum(list, field["enumNames"])
	}
	if list, ok := field["oneOf"]; ok {
		if err := allowedKeywords(field, "type", "title", "description", "default", "oneOf"); err != nil {
			return err
		}
		return checkTitled(list)
	}
	if err := allowedKeywords(field, "type", "title", "description", "default", "minLength", "maxLength", "format"); err != nil {
		return err
	}
	switch field["format"] {
	case nil, "email", "uri", "date", "date-time":
		return nil
	}
	return errors.New("has a format other than email, uri, date and date-time")
}

func checkChoices(field map[string]any) error {
	if err := allowedKeywords(field, "type", "title", "description", "default", "items", "minItems", "maxItems"); err != nil {
		return err
	}
	items, _ := field["items"].(map[string]any)
	if list, ok := items["anyOf"]; ok {
		if err := allowedKeywords(items, "anyOf"); err != nil {
			return err
		}
		return checkTitled(list)
	}
	if err := allowedKeywords(items, "type", "enum"); err != nil {
		return err
	}
	if items["type"] != "string" {
		return errors.New("is an array whose items are no choices of strings")
	}
	return checkEnum(items["enum"], nil)
}

func checkEnum(list, names any) error {
	values, _ := list.([]any)
	if len(values) == 0 || !allStrings(values) {
		return errors.New("has an enum that is no list of strings")
	}
	if names == nil {
		return nil
	}
	titles, _ := names.([]any)
	if len(titles) != len(values) || !allStrings(titles) {
		return errors.New("has enumNames that do not match its enum")
	}
	return nil
}

func checkTitled(list any) error {
	options, _ := list.([]any)
	if len(options) == 0 {
		return errors.New("offers no choice")
	}
	for _, option := range options {
		choice, _ := option.(map[string]any)
		if err := allowedKeywords(choice, "const", "title"); err != nil {
			return err
		}
		if !allStrings([]any{choice["const"], choice["title"]}) {
			return errors.New("has a choice without a const and a title")
		}
	}
	return nil
}

func allStrings(values []any) bool {
	return !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(string); return !ok })
}

func allowedKeywords(schema map[string]any, allowed ...string) error {
	for _, keyword := range sortedKeys(schema) {
		if !slices.Contains(allowed, keyword) {
			return fmt.Errorf("uses %q, which a form cannot ask there", excerpt(keyword, maxQuote))
		}
	}
	return nil
}

// Validate checks the content of an accepted answer as [Schema.Validate] does.
func (f *Form) Validate(content json.RawMessage) error { return f.schema.Validate(content) }

// ApplyDefaults adds the defaults of absent members behind the others. A member that is there keeps its bytes, be it 0,
// "" or null. Absent and null content count as {}. It fails when content is no object.
func (f *Form) ApplyDefaults(content json.RawMessage) (json.RawMessage, error) {
	trimmed := bytes.TrimSpace(content)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		trimmed = []byte("{}")
	}
	members, err := splitObject(trimmed)
	if err != nil {
		return nil, violation("", "type", "must be an object")
	}
	out := trimmed[: len(trimmed)-1 : len(trimmed)-1] // without its brace, and never written through
	empty := len(members) == 0
	for _, d := range f.defaults {
		if _, there := members.get(d.name); there {
			continue
		}
		if !empty {
			out = append(out, ',')
		}
		out, empty = append(append(append(out, quote(d.name)...), ':'), d.raw...), false
	}
	return append(out, '}'), nil
}

// FormFor infers the form that asks for a struct: [ForType] without what a form cannot say. A pointer is a member that
// may be left out, never null. It fails as [ParseForm] does when the type does not fit a form: a time.Duration, for
// one, needs a pattern, which forms do not have.
func FormFor(t reflect.Type) (json.RawMessage, error) {
	raw, err := infer(t, true)
	if err != nil {
		return nil, err
	}
	members, err := splitObject(raw)
	if err != nil {
		return nil, err
	}
	members = slices.DeleteFunc(members, func(m member) bool { return m.name == "additionalProperties" })
	raw = members.append(nil)
	_, err = ParseForm(raw)
	return raw, err
}
