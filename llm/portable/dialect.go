package portable

import "slices"

// Dialect is what one API takes as the schema of a tool's parameters.
type Dialect string

// The dialects.
const (
	// OpenAI is what Chat Completions and Responses take with "strict": false. Nearly all of JSON Schema passes; the root is a
	// plain object without unions, objects name their properties and arrays their items.
	OpenAI Dialect = "openai"

	// OpenAIStrict is for "strict": true: objects are closed and all their properties required, so optional ones accept null.
	OpenAIStrict Dialect = "openai strict"

	// Anthropic takes JSON Schema 2020-12 without unions at the root, and keys of the root within an alphabet.
	Anthropic Dialect = "anthropic"

	// AnthropicStrict is for "strict": true: closed objects, few keywords, no recursion.
	AnthropicStrict Dialect = "anthropic strict"

	// Gemini is for parametersJsonSchema: a part of JSON Schema.
	Gemini Dialect = "gemini"

	// GeminiOpenAPI is for parameters, which older models and the live API want: a part of the schema of OpenAPI 3.0.
	GeminiOpenAPI Dialect = "gemini openapi"

	// Common is for unknown endpoints: no references, no keyword that small servers stumble over, nothing at the root but an
	// object.
	Common Dialect = "common"
)

// rules are what a dialect is made of.
type rules struct {
	keep      []string // keywords it understands; nil means all of JSON Schema
	formats   []string // values of format it takes; nil means all
	rootDrops []string // keywords that must not stand at the root
	keyLetter func(i int, r byte) bool
	keyMax    int
	keysDeep  bool // the alphabet of keys holds at every level

	needProperties bool // an object without properties is refused
	noEmpty        bool // an object with an empty list of properties is refused
	needItems      bool // an array without items is refused
	refs           bool // references within $defs are understood, so that recursion can stay
	typeLists      bool // type may be a list
	nullable       bool // null is told by nullable: true
	plainEnums     bool // enum holds strings and numbers alone
	stringEnums    bool // enum holds strings alone
	closed         bool // every object says additionalProperties: false, or cannot be expressed
	allRequired    bool // every property is required
	bounded        bool // the size of a schema is bounded
	recursionFails bool // recursion cannot be expressed, rather than be cut
}

// Keywords of JSON Schema 2020-12 that say what is valid.
var (
	assertions = []string{
		"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
		"pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "required",
		"dependentRequired", "format",
	}
	oneSchema  = []string{"not", "if", "then", "else", "additionalProperties", "propertyNames", "items", "contains", "unevaluatedItems", "unevaluatedProperties"}
	schemaList = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaMap  = []string{"properties", "patternProperties", "dependentSchemas"}
	notes      = []string{"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"}
)

var (
	openAIFormats    = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
	anthropicFormats = append(slices.Clone(openAIFormats), "uri")
)

func letterOrDigit(r byte) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func anthropicKey(_ int, r byte) bool {
	return letterOrDigit(r) || r == '_' || r == '-' || r == '.'
}

func geminiKey(i int, r byte) bool {
	return letterOrDigit(r) && (i > 0 || r < '0' || r > '9') || r == '_'
}

func rulesOf(d Dialect) (*rules, bool) {
	switch d {
	case OpenAI:
		return &rules{
			rootDrops:      []string{"not", "if", "then", "else", "enum", "const", "dependentRequired", "dependentSchemas"},
			needProperties: true, needItems: true, refs: true, typeLists: true,
		}, true
	case Anthropic:
		return &rules{refs: true, typeLists: true, needProperties: true, keyLetter: anthropicKey, keyMax: 64}, true
	case OpenAIStrict:
		return &rules{
			keep: []string{
				"type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items", "pattern", "format",
				"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "title", "description",
			},
			formats: openAIFormats, needProperties: true, needItems: true, refs: true, closed: true, allRequired: true, bounded: true,
		}, true
	case AnthropicStrict:
		return &rules{
			keep: []string{
				"type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items", "format", "minItems", "title",
				"description",
			},
			formats: anthropicFormats, needProperties: true, needItems: true, keyLetter: anthropicKey, keyMax: 64, closed: true,
			recursionFails: true,
		}, true
	case Gemini:
		return &rules{
			keep: []string{
				"type", "enum", "anyOf", "properties", "required", "additionalProperties", "items", "prefixItems", "format", "minimum",
				"maximum", "minItems", "maxItems", "title", "description",
			},
			needItems: true, plainEnums: true, noEmpty: true,
		}, true
	case GeminiOpenAPI:
		return &rules{
			keep: []string{
				"type", "enum", "anyOf", "properties", "required", "items", "pattern", "format", "minimum", "maximum", "minLength",
				"maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "title", "description", "default",
			},
			formats:   []string{"date-time", "int32", "int64", "float", "double"},
			needItems: true, noEmpty: true, nullable: true, plainEnums: true, stringEnums: true, keyLetter: geminiKey, keyMax: 64, keysDeep: true,
		}, true
	case Common:
		return &rules{
			keep: []string{
				"type", "enum", "anyOf", "properties", "required", "additionalProperties", "items", "minimum", "maximum", "minItems", "maxItems",
				"description",
			},
			needProperties: true, needItems: true, plainEnums: true,
		}, true
	}
	return nil, false
}

func (r *rules) keeps(keyword string) bool { return r.keep == nil || slices.Contains(r.keep, keyword) }

// strict tells whether what cannot be expressed is an error rather than a loss.
func (r *rules) strict() bool { return r.closed }
