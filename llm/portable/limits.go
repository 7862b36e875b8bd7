package portable

import "unicode/utf8"

// What OpenAI's strict mode takes of one schema. Beyond it the whole request is refused.
const (
	strictLevels     = 10
	strictProperties = 5_000
	strictValues     = 1_000   // of all enums
	strictText       = 120_000 // characters of names, enums and constants together
	strictEnum       = 250     // values of an enum of strings, beyond which its text is bounded
	strictEnumText   = 15_000  // characters
)

// size is what a schema holds.
type size struct {
	levels, properties, values, text int
	optional, unions                 int
	longEnum                         bool
}

// measure adds what a subschema and all below it hold. level is how many objects and arrays are around it.
func (s *size) measure(n *node, level int) {
	s.enums(n)
	if all := types(n); len(all) > 1 || n.has("anyOf") {
		s.unions++
	}
	inner := level
	if hasAny(n, []string{"properties", "items"}) {
		inner++
	}
	s.levels = max(s.levels, inner)
	required := set(n.get("required").list())
	if p := n.get("properties"); p != nil {
		s.properties += len(p.keys)
		for i, name := range p.keys {
			s.text += utf8.RuneCountInString(name)
			if !required[name] {
				s.optional++
			}
			s.measure(p.vals[i], inner)
		}
	}
	if items := n.get("items"); items != nil {
		s.measure(items, inner)
	}
	for _, branch := range anyOf(n) {
		s.measure(branch, level)
	}
	if defs := n.get("$defs"); defs != nil {
		for i, name := range defs.keys {
			s.text += utf8.RuneCountInString(name)
			s.measure(defs.vals[i], 0)
		}
	}
}

func (s *size) enums(n *node) {
	if c := n.get("const"); c != nil {
		s.text += len(c.raw)
	}
	e := n.get("enum")
	if e == nil {
		return
	}
	length := 0
	for _, v := range e.vals {
		length += utf8.RuneCount(v.raw)
	}
	s.values += len(e.vals)
	s.text += length
	s.longEnum = s.longEnum || len(e.vals) > strictEnum && length > strictEnumText
}

// tooLarge says why a schema is more than strict mode takes; nil where it is not.
func (s *size) tooLarge() error {
	switch {
	case s.levels > strictLevels:
		return cannot("", "it nests %d levels, of %d that are taken", s.levels, strictLevels)
	case s.properties > strictProperties:
		return cannot("", "it has %d properties, of %d that are taken", s.properties, strictProperties)
	case s.values > strictValues:
		return cannot("", "its enums have %d values, of %d that are taken", s.values, strictValues)
	case s.text > strictText:
		return cannot("", "its names and values have %d characters, of %d that are taken", s.text, strictText)
	case s.longEnum:
		return cannot("", "one of its enums has more than %d values and %d characters", strictEnum, strictEnumText)
	}
	return nil
}

// Weight counts the properties that may be left out and the subschemas of several types, which Anthropic bounds over all
// strict tools of a request.
func (s *Schema) Weight() (optional, unions int) {
	var all size
	all.measure(s.root, 0)
	return all.optional, all.unions
}
