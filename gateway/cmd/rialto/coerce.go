package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// toolArguments builds the arguments of a call: input is a JSON object or "", words are key=value and key:=JSON.
func toolArguments(schema json.RawMessage, words []string, input string) (json.RawMessage, error) {
	args := json.RawMessage("{}")
	if input != "" {
		if !json.Valid([]byte(input)) || !strings.HasPrefix(strings.TrimSpace(input), "{") {
			return nil, usage("--input-json is no JSON object; for example --input-json '{\"text\":\"hello\"}'")
		}
		args = json.RawMessage(strings.TrimSpace(input))
	}
	properties, _ := jsonrpc.Member(schema, "properties")
	for _, word := range words {
		key, text, ok := strings.Cut(word, "=")
		name, isJSON := strings.CutSuffix(key, ":")
		if !ok || name == "" {
			return nil, usage("%q is neither key=value nor key:=JSON", word)
		}
		value := json.RawMessage(text)
		if isJSON {
			if !json.Valid(value) {
				return nil, usage("the value of %s is no JSON: %.60s; text goes as %s=text", name, text, name)
			}
		} else {
			name = key
			property, known := jsonrpc.Member(properties, name)
			if !known && properties != nil && closed(schema) {
				return nil, usage("the tool takes no argument %q; %s", name, suggest(name, propertyNames(properties)))
			}
			var err error
			if value, err = coerce(name, text, property); err != nil {
				return nil, err
			}
		}
		args = jsonrpc.With(nil, args, name, value)
	}
	return args, nil
}

func closed(schema json.RawMessage) bool {
	raw, _ := jsonrpc.Member(schema, "additionalProperties")
	return string(raw) == "false"
}

func propertyNames(properties json.RawMessage) []string {
	var names []string
	for name := range jsonrpc.Members(properties) {
		names = append(names, name)
	}
	return names
}

var integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// fits tells whether a text is the JSON of a value of a type.
var fits = map[string]func(string) bool{
	"integer": integer.MatchString,
	"number": func(s string) bool {
		return s != "" && strings.ContainsRune("-0123456789", rune(s[0])) && json.Valid([]byte(s))
	},
	"boolean": func(s string) bool { return s == "true" || s == "false" },
	"null":    func(s string) bool { return s == "null" },
	"object":  func(s string) bool { return strings.HasPrefix(s, "{") && json.Valid([]byte(s)) },
	"array":   func(s string) bool { return strings.HasPrefix(s, "[") && json.Valid([]byte(s)) },
}

// coerce reads a text as a value that the property's schema takes. A property that says nothing takes text.
func coerce(name, text string, property json.RawMessage) (json.RawMessage, error) {
	types := typesOf(property)
	for _, t := range types {
		if fit := fits[t]; fit != nil && fit(text) {
			return json.RawMessage(text), nil
		}
	}
	if len(types) == 0 || slices.Contains(types, "string") {
		return jsonrpc.AppendString(nil, text), nil
	}
	hint := ""
	if slices.Contains(types, "array") {
		hint = "; lists go as " + name + `:='["a","b"]'`
	}
	return nil, usage("the argument %s takes %s, and %q is none%s", name, strings.Join(types, " or "), text, hint)
}

// typesOf lists the types that a property may have, by its type, its alternatives, or the values it lists.
func typesOf(property json.RawMessage) []string {
	var types []string
	raw, _ := jsonrpc.Member(property, "type")
	if one, ok := jsonrpc.Text(raw); ok {
		return []string{one}
	}
	if json.Unmarshal(raw, &types) == nil && len(types) > 0 {
		return types
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		list, _ := jsonrpc.Member(property, word)
		var branches []json.RawMessage
		if json.Unmarshal(list, &branches) != nil {
			continue // absent, or no list
		}
		for _, b := range branches {
			types = append(types, typesOf(b)...)
		}
	}
	list, _ := jsonrpc.Member(property, "enum")
	var values []any
	if json.Unmarshal(list, &values) == nil {
		for _, v := range values {
			switch v.(type) {
			case string:
				types = append(types, "string")
			case float64:
				types = append(types, "number")
			case bool:
				types = append(types, "boolean")
			}
		}
	}
	return slices.Compact(types)
}

// promptArguments are texts by name.
func promptArguments(words []string) (json.RawMessage, error) {
	args := json.RawMessage("{}")
	for _, word := range words {
		name, text, ok := strings.Cut(word, "=")
		if !ok || name == "" || strings.HasSuffix(name, ":") {
			return nil, usage("%q is not of the form key=value; arguments of prompts are texts", word)
		}
		args = jsonrpc.With(nil, args, name, jsonrpc.AppendString(nil, text))
	}
	return args, nil
}

// suggest says what there is, the similar ones first.
func suggest(name string, there []string) string {
	const most = 12
	near := slices.DeleteFunc(slices.Clone(there), func(n string) bool {
		return !strings.Contains(strings.ToLower(n), strings.ToLower(name)) && !strings.Contains(strings.ToLower(name), strings.ToLower(n))
	})
	if len(near) > 0 {
		there = near
	}
	if len(there) > most {
		return "some that it has: " + strings.Join(there[:most], ", ")
	}
	return "it has: " + strings.Join(there, ", ")
}
