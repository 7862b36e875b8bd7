package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

// Sampler answers sampling requests of servers through an endpoint that is compatible with Chat Completions:
//
//	sampler := &openai.Sampler{Endpoint: llm.Endpoint{BaseURL: url, Key: key}, Model: "gpt-5"}
//	client.Options{CreateMessage: sampler.CreateMessage, SamplingTools: true}
//
// Its fields must not be changed once it is used; its method may be called concurrently.
type Sampler struct {
	Endpoint llm.Endpoint // BaseURL is OpenAI's where it is empty
	Model    string       // required, unless Pick answers

	// Pick chooses a model by what the server prefers; "" leaves it to Model. Nil leaves it to Model always.
	Pick func(*mcp.ModelPreferences) string

	// Approve is asked before anything is sent, and Review before the model's message goes to the server: both are where a
	// person may say no, with client.ErrUserRejected. Nil lets all pass, which is for tests and trusted servers.
	Approve func(ctx context.Context, req *client.SamplingRequest) error
	Review  func(ctx context.Context, req *client.SamplingRequest, answer *mcp.CreateMessageResult) error

	MaxTokens     int64  // bounds what a server may ask for. Zero means 4,096; negative means no bound
	MaxTokensName string // the member that holds it. Empty means "max_completion_tokens"; older endpoints want "max_tokens"
	NoTemperature bool   // leaves the temperature out, for models that refuse it
	TextOnly      bool   // for endpoints that take no pictures and no sounds
}

// maxStops is how many stop sequences the API takes.
const maxStops = 4

// CreateMessage answers one request. It fits client.Options.CreateMessage.
func (s *Sampler) CreateMessage(ctx context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
	profile := Chat()
	if s.MaxTokensName != "" {
		profile = Compatible()
	}
	return llm.Sampling{
		Profile: profile, Model: s.Model, Pick: s.Pick, Approve: s.Approve, Review: s.Review, MaxTokens: s.MaxTokens, Ask: s.ask,
	}.CreateMessage(ctx, req)
}

func (s *Sampler) ask(ctx context.Context, q llm.SamplingQuestion) (*llm.SamplingAnswer, error) {
	body, err := s.request(q)
	if err != nil {
		return nil, err
	}
	endpoint, auth := s.Endpoint, http.Header{}
	if endpoint.BaseURL == "" {
		endpoint.BaseURL = "https://api.openai.com/v1"
	}
	if endpoint.Key != "" {
		auth.Set("Authorization", "Bearer "+endpoint.Key)
	}
	raw, err := endpoint.Post(ctx, "/chat/completions", auth, body)
	if err != nil {
		return nil, err
	}
	return readAnswer(raw)
}

func (s *Sampler) request(p llm.SamplingQuestion) (json.RawMessage, error) {
	messages, err := s.messages(p.CreateMessageParams, p.Tools.Profile())
	if err != nil {
		return nil, err
	}
	out := map[string]any{"model": p.Model, "messages": messages}
	name := s.MaxTokensName
	if name == "" {
		name = "max_completion_tokens"
	}
	out[name] = p.MaxTokens
	if p.Temperature != nil && !s.NoTemperature {
		out["temperature"] = min(max(*p.Temperature, 0), 2)
	}
	if stops := p.StopSequences; len(stops) > 0 {
		out["stop"] = stops[:min(len(stops), maxStops)]
	}
	if tools := ChatTools(p.Tools); tools != nil {
		out["tools"] = tools
		if p.ToolChoice != nil && p.ToolChoice.Mode != "" {
			out["tool_choice"] = p.ToolChoice.Mode // the words are the same
		}
	}
	return encode(out), nil
}

func (s *Sampler) messages(p *mcp.CreateMessageParams, profile llm.Profile) ([]json.RawMessage, error) {
	var out []json.RawMessage
	if p.SystemPrompt != "" {
		out = append(out, encode(chatMessage{Role: "system", Content: p.SystemPrompt}))
	}
	for _, m := range p.Messages {
		var texts []mcp.Content
		var calls []any
		var results []llm.Result
		for _, block := range m.Content {
			switch c := block.(type) {
			case *mcp.ToolUseContent:
				calls = append(calls, map[string]any{"id": idFor(c.ID), "type": "function", "function": map[string]string{
					"name": profile.Name("", c.Name), "arguments": objectText(c.Input),
				}})
			case *mcp.ToolResultContent:
				results = append(results, llm.SamplingResult(c, idFor(c.ToolUseID), "the tool"))
			default:
				texts = append(texts, block)
			}
		}
		switch {
		case results != nil:
			out = append(out, chatResults(results, !s.TextOnly)...)
		case m.Role == mcp.RoleAssistant:
			said := chatMessage{Role: "assistant"}
			if len(texts) > 0 {
				said.Content = wordsOf(llm.ContentParts(texts, nil, llm.Options{}))
			}
			if calls != nil {
				said.ToolCalls = calls
			}
			out = append(out, encode(said))
		default:
			parts, err := llm.SamplingParts(texts, func(part llm.Part) bool { return !s.TextOnly && chatPart(part) != nil })
			if err != nil {
				return nil, err
			}
			out = append(out, ChatMessages(llm.Message{Role: m.Role, Parts: parts})...)
		}
	}
	return out, nil
}

// idFor shortens ids that are longer than the API takes; all others are opaque and stay.
func idFor(id string) string {
	if id != "" && len(id) <= 40 {
		return id
	}
	return Chat().ID(id)
}

func objectText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}

// readAnswer reads what the model said.
func readAnswer(raw json.RawMessage) (*llm.SamplingAnswer, error) {
	message, err := Message(raw)
	if err != nil {
		return nil, err
	}
	var a struct {
		Model   string `json:"model"`
		Choices []struct {
			Finish string `json:"finish_reason"`
		} `json:"choices"`
	}
	var m struct {
		Content json.RawMessage `json:"content"`
		Refusal string          `json:"refusal"`
	}
	if err := errors.Join(json.Unmarshal(raw, &a), json.Unmarshal(message, &m)); err != nil {
		return nil, fmt.Errorf("read the model's answer: %w", err)
	}
	calls, err := ChatCalls(message)
	if err != nil {
		return nil, err
	}
	return &llm.SamplingAnswer{Model: a.Model, StopReason: stopReason(a.Choices[0].Finish), Texts: []string{contentText(m.Content), m.Refusal}, Calls: calls}, nil
}

func stopReason(finish string) string {
	switch finish {
	case "length":
		return mcp.StopMaxTokens
	case "content_filter":
		return "contentFilter"
	case "tool_calls", "function_call":
		return mcp.StopToolUse
	}
	return mcp.StopEndTurn
}

// contentText reads a message's content: a text, or a list of parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []textPart
	var lines []string
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			if p.Text != "" {
				lines = append(lines, p.Text)
			}
		}
	}
	return strings.Join(lines, "\n")
}
