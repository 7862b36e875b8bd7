package schema

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxFanOut bounds how many subschemas one value may be held against. allOf of two references, twenty levels deep,
	// is a million.
	maxFanOut = 100_000
	// maxWork bounds the estimated steps of one check, where nested values multiply that number.
	maxWork = 5_000_000
)

// weigh refuses schemas that hold one value against too many subschemas. It reports whether the schema is branchy: it
// refers to itself and holds some value against several subschemas, so that nesting may multiply the work.
func weigh(root *jsonschema.Schema) (branchy bool, err error) {
	w := &scales{cost: map[*jsonschema.Schema]int{}, state: map[*jsonschema.Schema]int{}}
	w.tour(root)
	for s := range w.state {
		if w.fanOut(s) > maxFanOut {
			return false, errors.New("the schema combines so many subschemas that a check would take too long")
		}
	}
	return w.cyclic && w.forked, nil
}

type scales struct {
	cost   map[*jsonschema.Schema]int
	state  map[*jsonschema.Schema]int // 1 while on the path of the tour, 2 after
	cyclic bool
	forked bool
}

func (w *scales) tour(s *jsonschema.Schema) {
	w.state[s] = 1
	here := inPlace(s)
	w.forked = w.forked || len(here) > 1
	for _, sub := range append(here, below(s)...) {
		switch w.state[sub] {
		case 0:
			w.tour(sub)
		case 1:
			w.cyclic = true
		}
	}
	w.state[s] = 2
}

// fanOut counts the subschemas a value meets through s without going into its members.
func (w *scales) fanOut(s *jsonschema.Schema) int {
	if n, ok := w.cost[s]; ok {
		return n
	}
	w.cost[s] = 0 // a cycle in place ends the library's check at once
	total := 1
	for _, sub := range inPlace(s) {
		total = min(total+w.fanOut(sub), maxFanOut+1)
	}
	w.cost[s] = total
	return total
}

// inPlace lists the subschemas that look at the same value as s.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	add := func(subs ...*jsonschema.Schema) {
		for _, sub := range subs {
			if sub != nil {
				list = append(list, sub)
			}
		}
	}
	add(s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		add(s.DynamicRef.Ref)
	}
	add(s.AllOf...)
	add(s.AnyOf...)
	add(s.OneOf...)
	for _, sub := range s.DependentSchemas {
		add(sub)
	}
	for _, dependency := range s.Dependencies {
		if sub, ok := dependency.(*jsonschema.Schema); ok {
			add(sub)
		}
	}
	return list
}

// below lists the subschemas that look at members or items of the value.
func below(s *jsonschema.Schema) []*jsonschema.Schema {
	list := append(forItems(s), forAnyMember(s)...)
	for _, sub := range s.Properties {
		list = append(list, sub)
	}
	return list
}

func forAnyMember(s *jsonschema.Schema) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	for _, sub := range s.PatternProperties {
		list = append(list, sub)
	}
	if sub, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		list = append(list, sub)
	}
	if s.UnevaluatedProperties != nil {
		list = append(list, s.UnevaluatedProperties)
	}
	return list
}

func forItems(s *jsonschema.Schema) []*jsonschema.Schema {
	list := append([]*jsonschema.Schema(nil), s.PrefixItems...)
	for _, sub := range []*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems} {
		if sub != nil {
			list = append(list, sub)
		}
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		list = append(list, items)
	case []*jsonschema.Schema:
		list = append(list, items...)
	}
	if sub, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
		list = append(list, sub)
	}
	return list
}

// estimate is an upper bound of the steps a check takes, found in time linear in subschemas times values, because each
// pair is counted once. It stops at the bound.
type estimate struct {
	known map[visit]int
}

type visit struct {
	schema *jsonschema.Schema
	value  uintptr
}

func tooMuchWork(s *jsonschema.Schema, value any) bool {
	e := estimate{known: map[visit]int{}}
	return e.steps(s, value) > maxWork
}

func (e *estimate) steps(s *jsonschema.Schema, value any) int {
	key := visit{schema: s, value: identity(value)}
	if key.value != 0 {
		if n, ok := e.known[key]; ok {
			return n
		}
		e.known[key] = 0
	}
	total := 1
	add := func(subs []*jsonschema.Schema, v any) {
		for _, sub := range subs {
			if total <= maxWork && len(e.known) <= maxWork/10 {
				total += e.steps(sub, v)
			} else {
				total = maxWork + 1
			}
		}
	}
	switch v := value.(type) {
	case map[string]any:
		every := forAnyMember(s)
		for name, member := range v {
			if sub := s.Properties[name]; sub != nil {
				add([]*jsonschema.Schema{sub}, member)
			}
			add(every, member)
		}
	case []any:
		items := forItems(s)
		for _, item := range v {
			add(items, item)
		}
	case string, bool, nil, json.Number:
		return 1 // bounded by fan-out already; following references here could go round for ever
	}
	add(inPlace(s), value)
	if key.value != 0 {
		e.known[key] = total
	}
	return total
}

func identity(value any) uintptr {
	switch value.(type) {
	case map[string]any, []any:
		return reflect.ValueOf(value).Pointer()
	}
	return 0
}
