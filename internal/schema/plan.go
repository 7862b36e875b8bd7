package schema

import "math"

// A plan is a tree (a graph, when a definition meets itself) of nodes that check raw bytes. It covers
//
//	type, enum and const of primitives
//	properties, required, additionalProperties
//	items (one schema), minItems, maxItems
//	minimum, maximum, exclusiveMinimum, exclusiveMaximum
//	minLength, maxLength, pattern
//	$ref to "#" or into the root's $defs or definitions, standing alone
//
// and all keywords that assert nothing. Anything else, or more than 64 names in one object, means no plan.
type node struct {
	never bool // the schema false
	types typeSet

	enums [][]scalar // the value must be in each list: enum, const

	min, max           *decimal
	minOpen, maxOpen   bool // the bound itself is excluded
	bounded            bool // any bound above
	minLength          int
	maxLength          int
	pattern            matcher
	minItems, maxItems int
	items              *node

	props    []property
	byName   map[string]int // set when there are more than a few
	required uint64         // bits of props
	closed   bool           // additionalProperties false
	rest     *node          // additionalProperties, nil for anything
}

type property struct {
	name     string
	value    *node
	declared bool // named under properties, as against only under required
}

type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
	anyType = typeNull | typeBoolean | typeInteger | typeNumber | typeString | typeArray | typeObject
)

// scalar is a primitive of an enum or const.
type scalar struct {
	kind typeSet
	text string // a string, unescaped
	num  decimal
	yes  bool
}

// linearProps is the number of properties up to which comparing beats hashing.
const linearProps = 8

func newNode() *node {
	return &node{types: anyType, maxLength: math.MaxInt, maxItems: math.MaxInt}
}
