package llmtest

import (
	"regexp"
	"slices"
	"strings"
)

var openAPIKeywords = []string{
	"type", "format", "title", "description", "nullable", "default", "example", "enum", "items", "minItems", "maxItems", "minLength", "maxLength",
	"pattern", "minimum", "maximum", "properties", "required", "minProperties", "maxProperties", "anyOf", "propertyOrdering",
}

var jsonKeywords = []string{
	"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems", "minimum",
	"maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
}

var geminiKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// geminiSchemas judges both kinds of parameters.
func geminiSchemas(f map[string]any, at string) {
	schema, given := f["parametersJsonSchema"]
	known := jsonKeywords
	old, isOld := f["parameters"]
	switch {
	case isOld && given:
		refuse("%s: parameters and parametersJsonSchema are mutually exclusive", at)
	case isOld:
		schema, known = old, openAPIKeywords
		lowerTypes(old)
	case !given:
		return
	}
	root := object(schema, at)
	walk(schema, at, func(s map[string]any, at string) {
		for key := range s {
			if !slices.Contains(known, key) {
				refuse("Invalid JSON payload received. Unknown name %q at '%s': Cannot find field.", key, at)
			}
		}
		geminiSchema(s, at)
		if isOld {
			openAPISchema(s, at)
			return
		}
		dangling(root, s, at)
		for key := range s {
			if has(s, "$ref") != "" && !strings.HasPrefix(key, "$") {
				refuse("%s: %q beside $ref", at, key)
			}
		}
	})
	if root["type"] != "object" || isOld && has(root, "properties") == "" {
		refuse("%s: should be non-empty for OBJECT type", at)
	}
}

// lowerTypes writes the types of a schema as JSON Schema does; the API takes both.
func lowerTypes(v any) {
	switch v := v.(type) {
	case map[string]any:
		if word, ok := v["type"].(string); ok {
			v["type"] = strings.ToLower(word)
		}
		for _, inner := range v {
			lowerTypes(inner)
		}
	case []any:
		for _, inner := range v {
			lowerTypes(inner)
		}
	}
}

// geminiSchema judges what holds for both kinds.
func geminiSchema(s map[string]any, at string) {
	if list(s["type"]) != nil {
		refuse("%s: Proto field is not repeating, cannot start list", at)
	}
	if p, ok := s["properties"].(map[string]any); ok && len(p) == 0 {
		refuse("%s.properties: should be non-empty for OBJECT type", at)
	}
	if has(s, "properties", "required") != "" && s["type"] != "object" {
		refuse("%s: only allowed for OBJECT type", at)
	}
	if s["type"] == "array" && has(s, "items") == "" {
		refuse("%s.items: missing field", at)
	}
	for _, sub := range subschemas(s) {
		if _, isBool := sub.(bool); isBool {
			refuse("%s: a boolean is no schema here", at)
		}
	}
	for _, v := range list(s["enum"]) {
		switch v.(type) {
		case map[string]any, []any, bool, nil:
			refuse("%s.enum: must be strings or numbers", at)
		}
	}
	for _, name := range list(s["required"]) {
		if _, ok := object(s["properties"], at)[str(name)]; !ok {
			refuse("%s.required: property is not defined: %q", at, name)
		}
	}
}

// openAPISchema judges what holds for the member parameters alone.
func openAPISchema(s map[string]any, at string) {
	for _, v := range list(s["enum"]) {
		if _, word := v.(string); !word {
			refuse("%s.enum: must be strings", at)
		}
	}
	if format := str(s["format"]); s["type"] == "string" && format != "" && format != "enum" && format != "date-time" {
		refuse("%s.format: only 'enum' and 'date-time' are supported for STRING type", at)
	}
	properties, _ := s["properties"].(map[string]any)
	for name := range properties {
		if !geminiKey.MatchString(name) {
			refuse("%s: the property name %q does not match %s", at, name, geminiKey)
		}
	}
}
