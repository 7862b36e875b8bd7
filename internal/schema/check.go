package schema

import (
	"bytes"
	"unicode/utf8"
)

const (
	maxPlanDepth = 128
	// maxUnknown is the number of undeclared names in one object up to which duplicates are found by comparing.
	maxUnknown = 16
)

// fits reports that raw is strict JSON and fits. False means "ask the library", for a value that does not fit as well
// as for one the plan is unsure about. It does not allocate.
func (n *node) fits(raw []byte) bool {
	s := scanner{b: raw}
	s.space()
	if !n.check(&s, 0) {
		return false
	}
	s.space()
	return s.i == len(s.b)
}

// check reads one value at the scanner; a nil node takes anything.
func (n *node) check(s *scanner, depth int) bool {
	if s.i >= len(s.b) || depth > maxPlanDepth || n != nil && n.never {
		return false
	}
	switch c := s.b[s.i]; c {
	case '{':
		return n.takes(typeObject) && n.checkObject(s, depth)
	case '[':
		return n.takes(typeArray) && n.checkArray(s, depth)
	case '"':
		return n.takes(typeString) && n.checkString(s)
	case 't', 'f':
		return s.literal(c == 't', "true", "false") && n.takes(typeBoolean) && n.listsBool(c == 't')
	case 'n':
		return s.literal(true, "null", "") && n.takes(typeNull) && n.listsNull()
	default:
		return n.checkNumber(s)
	}
}

func (n *node) takes(t typeSet) bool {
	if n == nil {
		return true
	}
	// An enum holds primitives only, so it refuses every array and object.
	if t&(typeArray|typeObject) != 0 && n.enums != nil {
		return false
	}
	return n.types&t != 0
}

func (n *node) checkArray(s *scanner, depth int) bool {
	var items *node
	if n != nil {
		items = n.items
	}
	s.i++
	count := 0
	for s.space(); ; s.space() {
		if count == 0 && s.eat(']') {
			break
		}
		if !items.check(s, depth+1) {
			return false
		}
		count++
		s.space()
		if s.eat(']') {
			break
		}
		if !s.eat(',') {
			return false
		}
	}
	return n == nil || count >= n.minItems && count <= n.maxItems
}

// span is a member name between its quotes.
type span struct{ start, end int32 }

func (n *node) checkObject(s *scanner, depth int) bool {
	var seen uint64
	var unknown [maxUnknown]span
	unknowns := 0
	s.i++
	for first := true; ; first = false {
		s.space()
		if first && s.eat('}') {
			break
		}
		name, ok := s.str()
		if !ok || name.extra != 0 { // an escaped name could equal another one
			return false
		}
		s.space()
		if !s.eat(':') {
			return false
		}
		s.space()
		key := s.b[name.start:name.end]
		index := n.find(key)
		if index >= 0 {
			if seen&(1<<index) != 0 {
				return false
			}
			seen |= 1 << index
		} else {
			if unknowns == maxUnknown || s.repeats(unknown[:unknowns], key) {
				return false
			}
			unknown[unknowns] = span{int32(name.start), int32(name.end)}
			unknowns++
		}
		if !n.checkMember(s, index, depth) {
			return false
		}
		s.space()
		if s.eat('}') {
			break
		}
		if !s.eat(',') {
			return false
		}
	}
	return n == nil || seen&n.required == n.required
}

func (n *node) checkMember(s *scanner, index, depth int) bool {
	if n == nil {
		return n.check(s, depth+1)
	}
	if index >= 0 && n.props[index].declared {
		return n.props[index].value.check(s, depth+1)
	}
	return !n.closed && n.rest.check(s, depth+1)
}

func (n *node) find(key []byte) int {
	if n == nil {
		return -1
	}
	if n.byName != nil {
		if i, ok := n.byName[string(key)]; ok {
			return i
		}
		return -1
	}
	for i := range n.props {
		if n.props[i].name == string(key) {
			return i
		}
	}
	return -1
}

func (s *scanner) repeats(names []span, key []byte) bool {
	for _, other := range names {
		if bytes.Equal(s.b[other.start:other.end], key) {
			return true
		}
	}
	return false
}

func (n *node) checkString(s *scanner) bool {
	text, ok := s.str()
	if !ok || n == nil {
		return ok
	}
	content := s.b[text.start:text.end]
	if n.minLength > 0 || n.maxLength < len(content) {
		length := len(content) - text.extra
		if !text.ascii {
			length = utf8.RuneCount(content) - text.extra
		}
		if length < n.minLength || length > n.maxLength {
			return false
		}
	}
	if n.pattern == nil && n.enums == nil {
		return true
	}
	// Both look at the unescaped text; unescaping is the library's.
	return text.extra == 0 && (n.pattern == nil || n.pattern.Match(content)) && n.listsString(content)
}

func (n *node) checkNumber(s *scanner) bool {
	start := s.i
	d, exact, ok := s.number()
	if !ok || n == nil && !exact && s.i-start > maxNumberBytes {
		return false
	}
	if !exact {
		// Many digits or an exponent: only a schema that asks no more than a number can take it here.
		return s.i-start <= 64 && !s.exponent && (n == nil || n.types&typeNumber != 0 && !n.bounded && n.enums == nil)
	}
	if n == nil {
		return true
	}
	if n.types&typeNumber == 0 && (n.types&typeInteger == 0 || !d.isInteger()) {
		return false
	}
	return n.inBounds(d) && n.listsNumber(d)
}

func (n *node) inBounds(d decimal) bool {
	if n.min != nil {
		c, ok := compare(d, *n.min)
		if !ok || c < 0 || c == 0 && n.minOpen {
			return false
		}
	}
	if n.max != nil {
		c, ok := compare(d, *n.max)
		if !ok || c > 0 || c == 0 && n.maxOpen {
			return false
		}
	}
	return true
}

func (n *node) listsNumber(d decimal) bool {
	for _, list := range n.enums {
		found := false
		for i := range list {
			if list[i].kind != typeNumber {
				continue
			}
			if c, ok := compare(d, list[i].num); ok && c == 0 {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func (n *node) listsString(content []byte) bool {
	for _, list := range n.enums {
		found := false
		for i := range list {
			if list[i].kind == typeString && list[i].text == string(content) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func (n *node) listsBool(yes bool) bool { return n.listsPlain(typeBoolean, yes) }
func (n *node) listsNull() bool         { return n.listsPlain(typeNull, false) }

func (n *node) listsPlain(kind typeSet, yes bool) bool {
	if n == nil {
		return true
	}
	for _, list := range n.enums {
		found := false
		for i := range list {
			found = found || list[i].kind == kind && list[i].yes == yes
		}
		if !found {
			return false
		}
	}
	return true
}
