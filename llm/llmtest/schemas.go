package llmtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// walk visits a schema and all its subschemas. A schema that is none at all is refused by every API.
func walk(v any, at string, visit func(schema map[string]any, at string)) {
	s, ok := v.(map[string]any)
	if !ok {
		if _, isBool := v.(bool); !isBool {
			refuse("%s is no schema", at)
		}
		return
	}
	wellFormed(s, at)
	visit(s, at)
	for key, value := range s {
		switch key {
		case "properties", "patternProperties", "$defs", "dependentSchemas":
			for name, sub := range object(value, at+"/"+key) {
				walk(sub, at+"/"+key+"/"+name, visit)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			if len(list(value)) == 0 {
				refuse("%s/%s must be a list with something in it", at, key)
			}
			for i, sub := range list(value) {
				walk(sub, fmt.Sprintf("%s/%s/%d", at, key, i), visit)
			}
		case "items", "not", "if", "then", "else", "additionalProperties", "propertyNames", "contains", "unevaluatedProperties", "unevaluatedItems":
			if list(value) == nil { // the form of draft-07, which some APIs take
				walk(value, at+"/"+key, visit)
			}
		}
	}
}

var schemaTypes = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// wellFormed refuses keywords whose values are of the wrong kind.
func wellFormed(s map[string]any, at string) {
	types := list(s["type"])
	if word, ok := s["type"].(string); ok {
		types = []any{word}
	} else if has(s, "type") != "" && len(types) == 0 {
		refuse("%s/type must be a word or a list of them", at)
	}
	for _, t := range types {
		if !slices.Contains(schemaTypes, str(t)) {
			refuse("%s: %v is not valid under any of the given schemas: type", at, t)
		}
	}
	for _, key := range []string{"required", "enum"} {
		if _, isList := s[key].([]any); !isList && has(s, key) != "" {
			refuse("%s/%s must be a list", at, key)
		}
	}
	for _, name := range list(s["required"]) {
		if _, ok := name.(string); !ok {
			refuse("%s/required must be a list of names", at)
		}
	}
}

func isType(s map[string]any, kind string) bool {
	if all := list(s["type"]); all != nil {
		return slices.Contains(all, any(kind))
	}
	return s["type"] == kind
}

// dangling refuses references that lead to nothing within the root.
func dangling(root, s map[string]any, at string) {
	ref, ok := s["$ref"].(string)
	if !ok || ref == "#" {
		return
	}
	defs, _ := root["$defs"].(map[string]any)
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	if !ok || defs[strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")] == nil {
		refuse("%s: reference to undefined schema %q", at, ref)
	}
}

// openAISchema judges the parameters of a tool.
func openAISchema(v any, strict bool, at string) {
	root := object(v, at+".parameters")
	if root["type"] != "object" {
		refuse("%s: schema must be of type 'object'", at)
	}
	if key := has(root, "oneOf", "anyOf", "allOf", "enum", "not", "$ref"); key != "" {
		refuse("%s: schema must not have %q at the top level", at, key)
	}
	walk(root, at, func(s map[string]any, at string) {
		dangling(root, s, at)
		if isType(s, "object") && has(s, "properties") == "" {
			refuse("%s: object schema missing properties", at)
		}
		if isType(s, "array") && has(s, "items") == "" {
			refuse("%s: array schema missing items", at)
		}
		if strict {
			openAIStrict(s, at)
		}
	})
	if strict {
		openAISize(root, at)
	}
}

// openAIForbidden are keywords that strict mode does not take.
var openAIForbidden = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "patternProperties", "propertyNames",
	"unevaluatedProperties", "unevaluatedItems", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "uniqueItems",
	"minProperties", "maxProperties", "contentEncoding", "contentMediaType", "contentSchema", "$anchor", "$dynamicRef", "$dynamicAnchor", "$id",
	"default", "minLength", "maxLength",
}

var openAIFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

func openAIStrict(s map[string]any, at string) {
	if key := has(s, openAIForbidden...); key != "" {
		refuse("%s: %q is not permitted in strict mode", at, key)
	}
	if format, ok := s["format"].(string); ok && !slices.Contains(openAIFormats, format) {
		refuse("%s: %q is not a valid format", at, format)
	}
	if _, ok := s["$ref"]; ok && len(s) > 1 {
		refuse("%s: $ref cannot have keywords beside it", at)
	}
	for _, sub := range subschemas(s) {
		if _, isBool := sub.(bool); isBool {
			refuse("%s: a boolean is no schema in strict mode", at)
		}
	}
	if isType(s, "object") {
		if s["additionalProperties"] != false {
			refuse("%s: 'additionalProperties' is required to be supplied and to be false", at)
		}
		for name := range object(s["properties"], at) {
			if !slices.Contains(list(s["required"]), any(name)) {
				refuse("%s: 'required' must include every key in properties; missing %q", at, name)
			}
		}
	}
	if has(s, "type", "anyOf", "enum", "const", "$ref") == "" {
		refuse("%s: schema must have a 'type' key", at)
	}
}

// subschemas are those of properties, items and anyOf.
func subschemas(s map[string]any) []any {
	all := slices.Clone(list(s["anyOf"]))
	if properties, ok := s["properties"].(map[string]any); ok {
		for _, sub := range properties {
			all = append(all, sub)
		}
	}
	if items, ok := s["items"]; ok {
		all = append(all, items)
	}
	return all
}

// openAISize judges how large a strict schema is.
func openAISize(root map[string]any, at string) {
	properties, values := 0, 0
	walk(root, at, func(s map[string]any, _ string) {
		if p, ok := s["properties"].(map[string]any); ok {
			properties += len(p)
		}
		values += len(list(s["enum"]))
	})
	if deep := levels(root); properties > 5000 || values > 1000 || deep > 10 {
		refuse("%s: the schema exceeds the limits of strict mode: %d properties, %d values of enums, %d levels", at, properties, values, deep)
	}
}

// levels counts objects and arrays within each other.
func levels(v any) int {
	s, ok := v.(map[string]any)
	if !ok {
		return 0
	}
	own, deepest := 0, 0
	if has(s, "properties", "items") != "" {
		own = 1
	}
	for _, sub := range subschemas(s) {
		deepest = max(deepest, levels(sub))
	}
	return own + deepest
}

var anthropicKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// anthropicSchema judges the schema of a tool.
func anthropicSchema(v any, at string) {
	root := object(v, at)
	if root["type"] != "object" {
		refuse("%s.type: Input should be 'object'", at)
	}
	if key := has(root, "oneOf", "anyOf", "allOf"); key != "" {
		refuse("%s: input_schema does not support oneOf, allOf, or anyOf at the top level", at)
	}
	if properties, ok := root["properties"].(map[string]any); ok {
		for key := range properties {
			if !anthropicKey.MatchString(key) {
				refuse("%s: property keys should match pattern %s; got %q", at, anthropicKey, key)
			}
		}
	}
	walk(root, at, func(s map[string]any, at string) {
		_, isList := s["items"].([]any)
		_, least := s["exclusiveMinimum"].(bool)
		_, most := s["exclusiveMaximum"].(bool)
		if isList || least || most {
			refuse("%s: JSON schema is invalid. It must match JSON Schema draft 2020-12", at)
		}
		dangling(root, s, at)
	})
}

// anthropicStrictKeywords are what a strict schema may hold.
var anthropicStrictKeywords = []string{"type", "enum", "const", "anyOf", "allOf", "properties", "required", "additionalProperties", "items", "format", "minItems", "title", "description", "$defs", "$ref"}

// anthropicStrict judges a strict schema, and counts the properties that may be left out.
func anthropicStrict(v any, at string) (optional int) {
	walk(v, at, func(s map[string]any, at string) {
		for key := range s {
			if !slices.Contains(anthropicStrictKeywords, key) {
				refuse("%s: %q is not supported with strict", at, key)
			}
		}
		if isType(s, "object") && s["additionalProperties"] != false {
			refuse("%s: for 'object' type, 'additionalProperties' must be explicitly set to false", at)
		}
		properties, _ := s["properties"].(map[string]any)
		for name := range properties {
			if !slices.Contains(list(s["required"]), any(name)) {
				optional++
			}
		}
	})
	return optional
}
