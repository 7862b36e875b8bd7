package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// awkward are arguments that client libraries may write in more than one way: whoever sends a call again must not be taken
// for somebody who changed it.
var awkward = map[string]any{
	"text": "caf\u00e9 \u2028 <b>&amp;</b> \U0001F600 \" \\ /", "b": true, "a": nil,
	"numbers": []any{0, -1, 1.5, 1e21, 1e-7, 0.1, 9007199254740991, -9007199254740991, 100.0},
	"nested":  map[string]any{"z": map[string]any{}, "10": []any{}, "9": []any{map[string]any{"b": 1, "a": 2}}},
}

var asked = &Answers{
	Form:  map[string]any{"name": "Ada", "nights": 3},
	Text:  "the model says yes",
	Model: "a-model",
	Roots: []string{"file:///home/ada"},
}

// addQuestions adds a tool and a prompt that ask by return: first for a form and the roots, then for the model, and answer
// with all of it and with the arguments of the last run.
func addQuestions(s *server.Server) {
	form := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"nights":{"type":"integer"}},"required":["name"]}`)
	ask := func(req *server.Request) (string, error) {
		answers := req.InputResponses()
		switch req.Run() {
		case 1:
			return "", mcp.NeedInput().Elicit("who", mcp.ElicitFormParams{Message: "Who?", RequestedSchema: form}).ListRoots("where")
		case 2:
			who, err := answers.Elicit("who")
			if err != nil {
				return "", err
			}
			roots, err := answers.Roots("where")
			if err != nil {
				return "", err
			}
			kept := fmt.Sprintf("%s %s, ", who.Content, roots.Roots[0].URI)
			return "", mcp.NeedInput().CreateMessage("model", mcp.CreateMessageParams{
				MaxTokens: 100, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("May they?")}}},
			}).WithState(kept)
		}
		said, err := answers.Message("model")
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s%s: %s", req.State(), said.Model, said.Content[0].(*mcp.TextContent).Text), nil
	}
	type anything map[string]json.RawMessage
	server.AddTool(s, mcp.Tool{Name: "book", Description: "Asks in two rounds"},
		func(_ context.Context, req *server.Request, in anything) (string, error) {
			text, err := ask(req)
			return fmt.Sprintf("%s; %d arguments", text, len(in)), err
		})
	s.AddPrompt(mcp.Prompt{Name: "letter", Arguments: []mcp.PromptArgument{{Name: "to"}}},
		func(_ context.Context, req *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
			text, err := ask(req)
			if err != nil {
				return nil, err
			}
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.UserMessage(mcp.Text(text + "; to " + args["to"]))}}, nil
		})
}

// TestOwnServerAsks has every client library asked by our server, in both eras: a legacy client by requests on the stream
// of its call, a modern one by rounds, in which it sends the call again.
func TestOwnServerAsks(t *testing.T) {
	web := func(t testing.TB) Target { return Target{URL: startOwn(t, server.Options{})} }
	stdio := func(t testing.TB) Target { return Target{Command: ownCommand(t)} }
	const answer = `{"name":"Ada","nights":3} file:///home/ada, a-model: the model says yes`
	cases := []Case{
		{"tool", Step{Do: "call", Name: "book", Arguments: awkward}, SaysText(answer + "; 5 arguments")},
		{"prompt", Step{Do: "prompt", Name: "letter", Arguments: map[string]any{"to": "caf\u00e9 <&>"}}, prompts(answer + "; to caf\u00e9 <&>")},
	}
	RunFronts(t, []Front{
		{Name: "http-modern", Modern: true, Era: "modern", Open: web, Answers: asked, Cases: cases},
		{Name: "http-legacy", Modern: true, Era: "legacy", Open: web, Answers: asked, Cases: cases},
		{Name: "stdio-modern", Modern: true, Era: "modern", Open: stdio, Answers: asked, Cases: cases},
		{Name: "stdio-legacy", Modern: true, Era: "legacy", Open: stdio, Answers: asked, Cases: cases},
	})
}
