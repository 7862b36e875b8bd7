// Package randomschema makes JSON schemas and values for tests, from a world so small that they often meet.
package randomschema

import (
	"math/rand/v2"
	"strings"
)

// Maker makes schemas and values. It is not safe for concurrent use.
type Maker struct{ *rand.Rand }

func (m Maker) pick(all ...string) string { return all[m.IntN(len(all))] }

// Document is the schema of a tool: an object, with references to definitions.
func (m Maker) Document() string {
	inner := m.members("object", 3)
	return `{"type":"object",` + inner + `,"$defs":{"P":` + m.schema(1) + `,"Q":{"type":"object","properties":{"a":{"$ref":"#/$defs/Q"},"b":` + m.schema(0) + `}}}}`
}

func (m Maker) schema(depth int) string {
	if depth <= 0 {
		return m.pick(`{"type":"string"}`, `{"type":"integer"}`, `{"type":"boolean"}`, `{}`, `true`, `{"enum":["x",1,null]}`, `{"const":"x"}`, `{"type":["string","null"]}`,
			`false`, `{"type":["integer","number","null"]}`, `{"const":9007199254740993}`, `{"enum":[9007199254740993,true,{"a":1},[1]]}`, `{"type":["boolean","integer"],"enum":[true,1,"x"]}`,
			`{"type":"number","const":1.0}`, `{"minLength":2,"minimum":2}`)
	}
	switch m.IntN(16) {
	case 14:
		return `{"type":["array","object","null"],` + m.members("array", depth-1) + `,` + m.members("object", 0) + `}`
	case 15:
		return `{"anyOf":[` + m.schema(depth-1) + `,` + m.schema(0) + `],` + m.members(m.pick("string", "integer"), 0) + `}`
	case 0:
		return `{"anyOf":[` + m.schema(depth-1) + `,` + m.schema(depth-1) + `]}`
	case 1:
		return `{"oneOf":[` + m.schema(depth-1) + `,` + m.schema(depth-1) + `]}`
	case 2:
		return `{"allOf":[` + m.schema(depth-1) + `,` + m.schema(depth-1) + `]}`
	case 3:
		return `{"not":` + m.schema(depth-1) + `}`
	case 4:
		return `{"$ref":"#/$defs/` + m.pick("P", "Q") + `"}`
	case 5:
		return `{"$ref":"#/$defs/P",` + m.members(m.pick("string", "object"), depth-1) + `}`
	case 6, 7:
		return `{"type":"array",` + m.members("array", depth-1) + `}`
	case 8:
		return `{"type":["object","string"],` + m.members("object", depth-1) + `}`
	case 9, 10:
		return `{"type":"object",` + m.members("object", depth-1) + `}`
	case 11:
		return `{"type":"integer",` + m.members("integer", 0) + `}`
	case 12:
		return `{"type":"string",` + m.members("string", 0) + `}`
	}
	return m.schema(0)
}

func (m Maker) members(kind string, depth int) string {
	switch kind {
	case "object":
		out := `"properties":{"a":` + m.schema(depth) + `,"b":` + m.schema(depth) + m.pick(``, `,"größe":`+m.schema(0), `,"größe":`+m.schema(0)+`,"gr____e_d353a267":`+m.schema(0)) + `}`
		out += m.pick(``, ``, `,"required":["a"]`, `,"required":["b","c"]`)
		out += m.pick(``, ``, `,"additionalProperties":false`, `,"additionalProperties":{"type":"string"}`, `,"patternProperties":{"^c":{"type":"integer"}},"additionalProperties":false`, `,"minProperties":1`, `,"unevaluatedProperties":false`, `,"maxProperties":1`, `,"propertyNames":{"maxLength":1}`)
		out += m.pick(``, ``, ``, `,"anyOf":[{"required":["a"]},{"properties":{"c":{"type":"integer"}},"required":["c"]}]`, `,"if":{"required":["a"]},"then":{"required":["b"]}`, `,"dependentRequired":{"a":["b"]}`, `,"dependentSchemas":{"a":{"required":["b"]}}`, `,"dependencies":{"a":["b"]}`, `,"not":{"required":["c"]}`, `,"oneOf":[{"required":["a"]},{"required":["b"],"additionalProperties":false,"properties":{"b":true}}]`)
		return out
	case "array":
		return m.pick(`"items":`+m.schema(depth), `"prefixItems":[`+m.schema(depth)+`],"items":false`, `"prefixItems":[`+m.schema(depth)+`]`, `"contains":`+m.schema(0), `"minItems":2`, `"uniqueItems":true`, `"items":`+m.schema(depth)+`,"maxItems":1`)
	case "integer":
		return m.pick(`"minimum":1`, `"exclusiveMinimum":9007199254740993`, `"exclusiveMinimum":1`, `"maximum":2`, `"multipleOf":2`)
	}
	return m.pick(`"minLength":2`, `"maxLength":1`, `"pattern":"^x"`, `"format":"date"`, `"enum":["x","yy"]`)
}

// Object is a value to hold against a document.
func (m Maker) Object(depth int) string {
	var out []string
	for _, key := range []string{"a", "b", "c", "gr____e_d353a267", "größe"} {
		if m.IntN(2) == 0 {
			out = append(out, `"`+key+`":`+m.value(depth-1))
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (m Maker) value(depth int) string {
	if depth > 0 && m.IntN(3) == 0 {
		return m.Object(depth)
	}
	if depth > 0 && m.IntN(4) == 0 {
		return m.pick(`[]`, `[`+m.value(depth-1)+`]`, `[`+m.value(depth-1)+`,`+m.value(depth-1)+`]`)
	}
	return m.pick(`"x"`, `"yy"`, `"1999-12-31"`, `null`, `1`, `2`, `3.0`, `true`, `9007199254740993`, `1.5`)
}
