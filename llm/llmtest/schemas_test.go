package llmtest

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/rialto-mcp/rialto/llm/internal/randomschema"
	"github.com/rialto-mcp/rialto/llm/portable"
)

// TestPortableSchemasAreTaken holds that no endpoint refuses what portable makes for it, over many schemas.
func TestPortableSchemasAreTaken(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 30))
	judges := map[portable.Dialect]func(root map[string]any){
		portable.OpenAI:          func(root map[string]any) { openAISchema(root, false, "") },
		portable.OpenAIStrict:    func(root map[string]any) { openAISchema(root, true, "") },
		portable.Common:          func(root map[string]any) { openAISchema(root, false, "") },
		portable.Anthropic:       func(root map[string]any) { anthropicSchema(root, "") },
		portable.AnthropicStrict: func(root map[string]any) { anthropicSchema(root, ""); anthropicStrict(root, "") },
		portable.Gemini:          func(root map[string]any) { geminiSchemas(map[string]any{"parametersJsonSchema": root}, "") },
		portable.GeminiOpenAPI:   func(root map[string]any) { geminiSchemas(map[string]any{"parameters": root}, "") },
	}
	met := map[portable.Dialect]int{}
	docs := []string{
		`{"type":"object","additionalProperties":{"type":"string"}}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{},"additionalProperties":true},"b":{"type":"object"}}}`,
		`{"type":"object","properties":{"a":{"type":["object","null"],"properties":{}},"b":{"type":"array","items":{"type":"object"}}}}`,
	}
	for range 400 {
		docs = append(docs, randomschema.Maker{Rand: random}.Document())
	}
	for _, doc := range docs {
		doc := json.RawMessage(doc)
		for dialect, judge := range judges {
			made, err := portable.Make(doc, dialect)
			if err != nil {
				continue
			}
			var root map[string]any
			if err := json.Unmarshal(made.JSON, &root); err != nil {
				t.Fatal(err)
			}
			if properties, ok := root["properties"].(map[string]any); ok && len(properties) == 0 && (dialect == portable.Gemini || dialect == portable.GeminiOpenAPI) {
				continue // such a tool is declared without parameters
			}
			met[dialect]++
			func() {
				defer func() {
					if why := recover(); why != nil {
						t.Fatalf("%s: %v\n%s\n%s", dialect, why, doc, made.JSON)
					}
				}()
				judge(root)
			}()
		}
	}
	for dialect := range judges {
		if met[dialect] < 4 {
			t.Errorf("%s: only %d schemas", dialect, met[dialect])
		}
	}
}
