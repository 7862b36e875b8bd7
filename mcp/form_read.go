package mcp

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// ParseForm reads the schema of a form into fields, in their order. Choices are read in all four ways that servers
// write them: enum, enum with enumNames, oneOf, and items with enum or anyOf. What a field cannot hold is left out; whether
// the schema is one that a form may have is not checked here. It fails when the schema is no object with properties.
func ParseForm(in stdjson.RawMessage) (FormSchema, error) {
	var f FormSchema
	properties, _ := jsonrpc.Member(in, "properties")
	if !jsonrpc.IsObject(properties) {
		return f, errors.New("the schema of a form needs an object of properties")
	}
	var required []string
	if raw, ok := jsonrpc.Member(in, "required"); ok {
		if err := unmarshal(raw, &required); err != nil {
			return f, fmt.Errorf("the required members of a form: %w", err)
		}
	}
	for name, raw := range jsonrpc.Members(properties) {
		field, err := readField(raw)
		if err != nil {
			return f, fmt.Errorf("form field %q: %w", name, err)
		}
		field.Name = name
		for _, one := range required {
			field.Required = field.Required || one == name
		}
		f.Fields = append(f.Fields, field)
	}
	return f, nil
}

// fieldWire is one property as it stands in a schema.
type fieldWire struct {
	Type        string             `json:"type"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Default     stdjson.RawMessage `json:"default"`
	Format      string             `json:"format"`
	MinLength   *float64           `json:"minLength"`
	MaxLength   *float64           `json:"maxLength"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	MinItems    *float64           `json:"minItems"`
	MaxItems    *float64           `json:"maxItems"`
	choicesWire
	Items choicesWire `json:"items"`
}

type choicesWire struct {
	Enum      []string     `json:"enum"`
	EnumNames []string     `json:"enumNames"`
	OneOf     []choiceWire `json:"oneOf"`
	AnyOf     []choiceWire `json:"anyOf"`
}

type choiceWire struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

func readField(raw stdjson.RawMessage) (FormField, error) {
	var w fieldWire
	if err := json.Unmarshal(raw, &w); err != nil {
		return FormField{}, err
	}
	f := FormField{
		Type: w.Type, Title: w.Title, Description: w.Description, Default: w.Default,
		Format: w.Format, MinLength: whole(w.MinLength), MaxLength: whole(w.MaxLength), Minimum: w.Minimum, Maximum: w.Maximum,
		MinItems: whole(w.MinItems), MaxItems: whole(w.MaxItems),
	}
	if f.Type == "array" {
		f.Choices = w.Items.choices()
	} else {
		f.Choices = w.choices()
	}
	return f, nil
}

// whole reads a limit that may be written 1.0; one that is no whole number, or beyond any length, is left out.
func whole(limit *float64) *int64 {
	if limit == nil || *limit != math.Trunc(*limit) || math.Abs(*limit) > 1<<53 {
		return nil
	}
	n := int64(*limit)
	return &n
}

func (w *choicesWire) choices() []FormChoice {
	var out []FormChoice
	for i, value := range w.Enum {
		choice := FormChoice{Value: value}
		if i < len(w.EnumNames) {
			choice.Title = w.EnumNames[i]
		}
		out = append(out, choice)
	}
	for _, one := range append(w.OneOf, w.AnyOf...) {
		out = append(out, FormChoice{Value: one.Const, Title: one.Title})
	}
	return out
}
