package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

// The API versions.
const (
	Version2023 = "2023-06-01"
	Version2026 = "2026-10-21" // knows no temperature
)

// Sampler answers sampling requests of servers through the Messages API, or an endpoint that is compatible with it:
//
//	sampler := &anthropic.Sampler{Endpoint: llm.Endpoint{Key: key}, Model: "claude-sonnet-4-5"}
//	client.Options{CreateMessage: sampler.CreateMessage, SamplingTools: true}
//
// Its fields must not be changed once it is used; its method may be called concurrently.
type Sampler struct {
	Endpoint llm.Endpoint // BaseURL is Anthropic's where it is empty; it ends before /v1
	Model    string       // required, unless Pick answers
	Version  string       // of the API. Empty means Version2023

	// Pick chooses a model by what the server prefers; "" leaves it to Model. Nil leaves it to Model always.
	Pick func(*mcp.ModelPreferences) string

	// Approve is asked before anything is sent, and Review before the model's message goes to the server: both are where a
	// person may say no, with client.ErrUserRejected. Nil lets all pass, which is for tests and trusted servers.
	Approve func(ctx context.Context, req *client.SamplingRequest) error
	Review  func(ctx context.Context, req *client.SamplingRequest, answer *mcp.CreateMessageResult) error

	MaxTokens     int64 // bounds what a server may ask for. Zero means 4,096; negative means no bound
	NoTemperature bool  // leaves the temperature out, for models that refuse it
}

// CreateMessage answers one request. It fits client.Options.CreateMessage.
func (s *Sampler) CreateMessage(ctx context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
	return llm.Sampling{
		Profile: Messages(), Model: s.Model, Pick: s.Pick, Approve: s.Approve, Review: s.Review, MaxTokens: s.MaxTokens, Ask: s.ask,
	}.CreateMessage(ctx, req)
}

func (s *Sampler) ask(ctx context.Context, q llm.SamplingQuestion) (*llm.SamplingAnswer, error) {
	body, err := s.request(q)
	if err != nil {
		return nil, err
	}
	endpoint := s.Endpoint
	if endpoint.BaseURL == "" {
		endpoint.BaseURL = "https://api.anthropic.com"
	}
	version := s.Version
	if version == "" {
		version = Version2023
	}
	auth := http.Header{"Anthropic-Version": {version}}
	if endpoint.Key != "" {
		auth.Set("X-Api-Key", endpoint.Key)
	}
	raw, err := endpoint.Post(ctx, "/v1/messages", auth, body)
	if err != nil {
		return nil, err
	}
	return readAnswer(raw)
}

func (s *Sampler) request(p llm.SamplingQuestion) (json.RawMessage, error) {
	messages, err := messagesOf(p.CreateMessageParams)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"model": p.Model, "messages": messages, "max_tokens": p.MaxTokens}
	if p.SystemPrompt != "" {
		out["system"] = p.SystemPrompt
	}
	if p.Temperature != nil && !s.NoTemperature && s.Version != Version2026 {
		out["temperature"] = min(max(*p.Temperature, 0), 1)
	}
	var stops []string
	for _, stop := range p.StopSequences {
		if strings.TrimSpace(stop) != "" {
			stops = append(stops, stop)
		}
	}
	if stops != nil {
		out["stop_sequences"] = stops
	}
	if tools := Tools(p.Tools); tools != nil {
		out["tools"] = tools
		if p.ToolChoice != nil {
			out["tool_choice"] = choice(p.ToolChoice.Mode)
		}
	}
	return encode(out), nil
}

func choice(mode string) map[string]string {
	switch mode {
	case mcp.ToolChoiceRequired:
		return map[string]string{"type": "any"}
	case mcp.ToolChoiceNone:
		return map[string]string{"type": "none"}
	}
	return map[string]string{"type": "auto"}
}

func messagesOf(p *mcp.CreateMessageParams) ([]json.RawMessage, error) {
	var out []json.RawMessage
	profile := Messages()
	for _, m := range p.Messages {
		said := message{Role: string(m.Role)}
		var results []llm.Result
		for _, b := range m.Content {
			switch c := b.(type) {
			case *mcp.ToolUseContent:
				input := c.Input
				if input == nil {
					input = json.RawMessage("{}")
				}
				said.Content = append(said.Content, struct {
					Type  string          `json:"type"`
					ID    string          `json:"id"`
					Name  string          `json:"name"`
					Input json.RawMessage `json:"input"`
				}{"tool_use", profile.ID(c.ID), profile.Name("", c.Name), input})
			case *mcp.ToolResultContent:
				results = append(results, llm.SamplingResult(c, profile.ID(c.ToolUseID), "the tool"))
			default:
				blocks, err := plainBlocks(b, m.Role)
				if err != nil {
					return nil, err
				}
				said.Content = append(said.Content, blocks...)
			}
		}
		switch {
		case results != nil:
			out = append(out, Results(results))
		case said.Content != nil:
			out = append(out, encode(said))
		}
	}
	return out, nil
}

// plainBlocks writes a block of a message.
func plainBlocks(b mcp.Content, role mcp.Role) ([]any, error) {
	if t, ok := b.(*mcp.TextContent); ok && strings.TrimSpace(t.Text) == "" {
		return nil, nil
	}
	parts, err := llm.SamplingParts([]mcp.Content{b}, func(p llm.Part) bool {
		_, inWords := block(p).(textBlock)
		return !inWords && role != mcp.RoleAssistant
	})
	var out []any
	for _, p := range parts {
		if made := block(p); made != nil {
			out = append(out, made)
		}
	}
	return out, err
}

// readAnswer reads what the model said.
func readAnswer(raw json.RawMessage) (*llm.SamplingAnswer, error) {
	var a struct {
		Model   string `json:"model"`
		Stop    string `json:"stop_reason"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("read the model's answer: %w", err)
	}
	calls, err := Calls(raw)
	if err != nil {
		return nil, err
	}
	out := &llm.SamplingAnswer{Model: a.Model, StopReason: stopReason(a.Stop), Calls: calls}
	for _, b := range a.Content {
		if b.Type == "text" {
			out.Texts = append(out.Texts, b.Text)
		}
	}
	return out, nil
}

func stopReason(stop string) string {
	switch stop {
	case "end_turn", "":
		return mcp.StopEndTurn
	case "stop_sequence":
		return mcp.StopStopSequence
	case "max_tokens", "model_context_window_exceeded":
		return mcp.StopMaxTokens
	case "tool_use":
		return mcp.StopToolUse
	}
	return stop
}
