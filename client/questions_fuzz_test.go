package client

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// FuzzQuestion: whatever a server asks is answered with a JSON object or an error, and an address that reaches the handler
// is one of the web.
func FuzzQuestion(f *testing.F) {
	for _, seed := range []string{
		`{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x"],"enumNames":["X"],"default":"x"}}}}`,
		`{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]},"minItems":1}}}}`,
		`{"mode":"url","message":"?","url":"https://a.example/x","elicitationId":"e"}`,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]},{"role":"user","content":{"type":"tool_result","toolUseId":"1","content":[]}}],"maxTokens":1}`,
		`{"q":{"method":"roots/list"},"p":{"method":"elicitation/create","params":{}}}`, `{}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	c, err := newClient(target{}, Options{
		SamplingTools: true,
		CreateMessage: func(context.Context, *SamplingRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Content: []mcp.Content{mcp.Text("t")}}, nil
		},
		Elicit: func(_ context.Context, r *ElicitRequest) (*mcp.ElicitResult, error) { return Accept(r.Defaults()) },
		ElicitURL: func(_ context.Context, r *ElicitURLRequest) (*mcp.ElicitResult, error) {
			if r.Host == "" || len(r.URL) < len("http://x") || r.URL[:4] != "http" && r.URL[:4] != "HTTP" {
				return nil, errors.New("an odd address came through: " + r.URL)
			}
			return Accept(nil)
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !jsontext.Value(raw).IsValid() {
			return // never comes so far
		}
		if jsonrpc.IsObject(raw) {
			if _, err := readRound(raw); err != nil && !errors.Is(err, mcp.CodeInvalidResult) {
				t.Error(err)
			}
		}
		for _, method := range []string{mcp.MethodElicit, mcp.MethodCreateMessage} {
			answer, err := c.answer(t.Context(), method, json.RawMessage(raw), Origin{})
			var fault *mcp.Error
			if err == nil && !isObject(answer) || err != nil && !errors.As(err, &fault) {
				t.Errorf("%s: %s, %v", method, answer, err)
			}
		}
	})
}
