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
	if s.Approve != nil {
		if err := s.Approve(ctx, req); err != nil {
			return nil, err
		}
	}
	profile := Chat()
	if s.MaxTokensName != "" {
		profile = Compatible()
	}
	set, err := llm.Tools(ctx, llm.List(req.Tools...), llm.Options{Profile: profile})
	if err != nil {
		return nil, err
	}
	if skipped := set.Skipped(); len(skipped) > 0 {
		return nil, mcp.InvalidParams("the tool %q cannot be offered to the model: %v", skipped[0].Tool, skipped[0].Reason)
	}
	body, err := s.request(&req.CreateMessageParams, set)
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
	answer, err := readAnswer(raw, set)
	if err != nil {
		return nil, err
	}
	if s.Review != nil {
		if err := s.Review(ctx, req, answer); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

func (s *Sampler) request(p *mcp.CreateMessageParams, set *llm.Set) (json.RawMessage, error) {
	model := s.Model
	if s.Pick != nil {
		if picked := s.Pick(p.ModelPreferences); picked != "" {
			model = picked
		}
	}
	if model == "" {
		return nil, errors.New("openai.Sampler has no Model")
	}
	messages, err := s.messages(p, set.Profile())
	if err != nil {
		return nil, err
	}
	out := map[string]any{"model": model, "messages": messages}
	most, name := s.MaxTokens, s.MaxTokensName
	if most == 0 {
		most = 4096
	}
	if name == "" {
		name = "max_completion_tokens"
	}
	out[name] = p.MaxTokens
	if most > 0 {
		out[name] = min(p.MaxTokens, most)
	}
	if p.Temperature != nil && !s.NoTemperature {
		out["temperature"] = min(max(*p.Temperature, 0), 2)
	}
	if stops := p.StopSequences; len(stops) > 0 {
		out["stop"] = stops[:min(len(stops), maxStops)]
	}
	if tools := ChatTools(set); tools != nil {
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
				results = append(results, llm.Result{
					ID: idFor(c.ToolUseID), Name: "the tool", IsError: c.IsError,
					Parts: llm.ContentParts(c.Content, c.StructuredContent, llm.Options{}),
				})
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
			parts := llm.ContentParts(texts, nil, llm.Options{})
			if err := s.takes(parts); err != nil {
				return nil, err
			}
			out = append(out, ChatMessages(llm.Message{Role: m.Role, Parts: parts})...)
		}
	}
	return out, nil
}

// takes refuses what the model would never get to see: an answer about a picture it does not know would mislead.
func (s *Sampler) takes(parts []llm.Part) error {
	for _, p := range parts {
		if p.Kind != llm.TextPart && (s.TextOnly || chatPart(p) == nil) {
			return mcp.InvalidParams("the model behind this client does not take %s", p.MIME)
		}
	}
	return nil
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
func readAnswer(raw json.RawMessage, set *llm.Set) (*mcp.CreateMessageResult, error) {
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
	out := &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: a.Model, StopReason: stopReason(a.Choices[0].Finish)}
	if out.Model == "" {
		out.Model = "unknown"
	}
	for _, text := range []string{contentText(m.Content), m.Refusal} {
		if text != "" {
			out.Content = append(out.Content, mcp.Text(text))
		}
	}
	if err := addCalls(out, message, set); err != nil {
		return nil, err
	}
	if len(out.Content) == 0 {
		out.Content = []mcp.Content{mcp.Text("")}
	}
	return out, nil
}

// addCalls adds the calls under the server's own names. Of an answer that was cut off none is passed on: the last one is
// half a call.
func addCalls(out *mcp.CreateMessageResult, message json.RawMessage, set *llm.Set) error {
	calls, err := ChatCalls(message)
	if err != nil || out.StopReason == mcp.StopMaxTokens {
		return err
	}
	for _, call := range calls {
		tool, known := set.Tool(call.Name)
		args, err := set.Restore(call)
		switch {
		case !known:
			return fmt.Errorf("the model calls %.80q, which was not offered", call.Name)
		case err != nil:
			return fmt.Errorf("the model's call cannot be used: %w", err)
		}
		out.Content = append(out.Content, &mcp.ToolUseContent{ID: call.ID, Name: tool.Original, Input: args})
	}
	if len(calls) > 0 {
		out.StopReason = mcp.StopToolUse
	}
	return nil
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
