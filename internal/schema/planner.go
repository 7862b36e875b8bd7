package schema

import (
	"encoding/json"
	"math"
	"strings"
)

// planner builds a plan from a parsed schema that the library has already accepted.
type planner struct {
	root  map[string]any
	known map[string]*node // by $ref
}

// buildPlan answers nil when the schema lies outside the subset.
func buildPlan(doc any) *node {
	root, _ := doc.(map[string]any)
	p := &planner{root: root, known: map[string]*node{}}
	n := newNode()
	if root != nil {
		p.known["#"] = n
	}
	if !p.fill(n, doc, true) {
		return nil
	}
	return n
}

func (p *planner) build(schema any) (*node, bool) {
	if object, ok := schema.(map[string]any); ok {
		if ref, ok := object["$ref"]; ok {
			return p.follow(object, ref)
		}
	}
	n := newNode()
	return n, p.fill(n, schema, false)
}

// follow takes a reference that stands alone; the target may not be a reference itself, so that no chain can loop.
func (p *planner) follow(object map[string]any, ref any) (*node, bool) {
	for keyword := range object {
		if keyword != "$ref" && !assertsNothing(keyword, false) {
			return nil, false
		}
	}
	text, _ := ref.(string)
	if n, ok := p.known[text]; ok {
		return n, true
	}
	keyword, name, ok := strings.Cut(strings.TrimPrefix(text, "#/"), "/")
	if !ok || keyword != "$defs" && keyword != "definitions" || !strings.HasPrefix(text, "#/") || strings.ContainsAny(name, "~%/") {
		return nil, false
	}
	definitions, _ := p.root[keyword].(map[string]any)
	target, ok := definitions[name]
	if !ok {
		return nil, false
	}
	n := newNode()
	p.known[text] = n
	return n, p.fill(n, target, false)
}

func (p *planner) fill(n *node, schema any, root bool) bool {
	switch s := schema.(type) {
	case bool:
		n.never = !s
		return true
	case map[string]any:
		for keyword, value := range s {
			if !assertsNothing(keyword, root) && !p.keyword(n, keyword, value) {
				return false
			}
		}
		return p.members(n, s)
	}
	return false
}

// assertsNothing knows the keywords that never change a verdict. An $id changes what references mean, so it counts
// only at the root, where "#" still means the root.
func assertsNothing(keyword string, root bool) bool {
	switch keyword {
	case "title", "description", "default", "examples", "$comment", "readOnly", "writeOnly", "deprecated", "enumNames",
		"contentEncoding", "contentMediaType":
		return true
	case "$schema", "$id", "$defs", "definitions":
		return root
	}
	return strings.HasPrefix(keyword, "x-")
}

func (p *planner) keyword(n *node, keyword string, value any) bool {
	switch keyword {
	case "properties", "required", "additionalProperties":
		return true // members looks at the three together
	case "type":
		return n.setTypes(value)
	case "enum":
		list, ok := value.([]any)
		return ok && n.allow(list)
	case "const":
		return n.allow([]any{value})
	case "items":
		items, ok := p.build(value)
		n.items = items
		return ok
	case "minimum", "exclusiveMinimum":
		return n.setBound(&n.min, &n.minOpen, value, keyword == "exclusiveMinimum")
	case "maximum", "exclusiveMaximum":
		return n.setBound(&n.max, &n.maxOpen, value, keyword == "exclusiveMaximum")
	case "minLength":
		return setCount(&n.minLength, value)
	case "maxLength":
		return setCount(&n.maxLength, value)
	case "minItems":
		return setCount(&n.minItems, value)
	case "maxItems":
		return setCount(&n.maxItems, value)
	case "pattern":
		text, _ := value.(string)
		m, err := compileMatcher(text)
		n.pattern = m
		return err == nil
	}
	return false
}

func (n *node) setTypes(value any) bool {
	names, ok := value.([]any)
	if !ok {
		names = []any{value}
	}
	n.types = 0
	for _, name := range names {
		switch name {
		case "null":
			n.types |= typeNull
		case "boolean":
			n.types |= typeBoolean
		case "integer":
			n.types |= typeInteger
		case "number":
			n.types |= typeNumber | typeInteger
		case "string":
			n.types |= typeString
		case "array":
			n.types |= typeArray
		case "object":
			n.types |= typeObject
		default:
			return false
		}
	}
	return true
}

func (n *node) allow(values []any) bool {
	list := make([]scalar, 0, len(values))
	for _, value := range values {
		s, ok := toScalar(value)
		if !ok {
			return false
		}
		list = append(list, s)
	}
	n.enums = append(n.enums, list)
	return true
}

func toScalar(value any) (scalar, bool) {
	switch v := value.(type) {
	case nil:
		return scalar{kind: typeNull}, true
	case bool:
		return scalar{kind: typeBoolean, yes: v}, true
	case string:
		return scalar{kind: typeString, text: v}, true
	case json.Number:
		d, ok := toDecimal(v)
		return scalar{kind: typeNumber, num: d}, ok
	}
	return scalar{}, false
}

func toDecimal(value any) (decimal, bool) {
	text, ok := value.(json.Number)
	if !ok {
		return decimal{}, false
	}
	s := scanner{b: []byte(text)}
	d, exact, ok := s.number()
	return d, ok && exact
}

func (n *node) setBound(bound **decimal, open *bool, value any, exclusive bool) bool {
	d, ok := toDecimal(value)
	if !ok || *bound != nil { // both forms at once are rare enough for the library
		return false
	}
	*bound, *open, n.bounded = &d, exclusive, true
	return true
}

func setCount(count *int, value any) bool {
	d, ok := toDecimal(value)
	if !ok || d.scale != 0 || d.digits < 0 || d.digits > math.MaxInt32 {
		return false
	}
	*count = int(d.digits)
	return true
}

func (p *planner) members(n *node, schema map[string]any) bool {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range sortedKeys(properties) {
		value, ok := p.build(properties[name])
		if !ok {
			return false
		}
		n.props = append(n.props, property{name: name, value: value, declared: true})
	}
	required, _ := schema["required"].([]any)
	for _, entry := range required {
		name, ok := entry.(string)
		if !ok {
			return false
		}
		n.require(name)
	}
	if len(n.props) > 64 {
		return false
	}
	if len(n.props) > linearProps {
		n.byName = make(map[string]int, len(n.props))
		for i, prop := range n.props {
			n.byName[prop.name] = i
		}
	}
	return p.additional(n, schema["additionalProperties"])
}

func (n *node) require(name string) {
	for i, prop := range n.props {
		if prop.name == name {
			n.required |= 1 << min(i, 63)
			return
		}
	}
	n.required |= 1 << min(len(n.props), 63)
	n.props = append(n.props, property{name: name})
}

func (p *planner) additional(n *node, value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		n.closed = !v
		return true
	}
	rest, ok := p.build(value)
	n.rest = rest
	return ok
}
