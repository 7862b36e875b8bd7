package modern

import "github.com/rialto-mcp/rialto/internal/era"

// traits answers what a peer of this era may do.
var traits = era.Traits{
	CancelsByClose:       true,
	ErrorIDOptional:      true,
	PerRequestLevel:      true,
	InputErrorsAsResults: true,
	StructuredContent:    true,
	AnyOutputSchema:      true,
	Completions:          true,
	Elicitation:          true,
	URLElicitation:       true,
	SamplingTools:        true,
	InputRounds:          true,
	Listen:               true,
	Extensions:           true,
	CacheHints:           true,
	HeaderMirrors:        true,
}
