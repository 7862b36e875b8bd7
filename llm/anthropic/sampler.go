package anthropic

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
	if s.Approve != nil {
		if err := s.Approve(ctx, req); err != nil {
			return nil, err
		}
	}
	set, err := llm.Tools(ctx, llm.List(req.Tools...), llm.Options{Profile: Messages()})
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
		return nil, errors.New("anthropic.Sampler has no Model")
	}
	messages, err := messagesOf(p)
	if err != nil {
		return nil, err
	}
	most := s.MaxTokens
	if most == 0 {
		most = 4096
	}
	out := map[string]any{"model": model, "messages": messages, "max_tokens": p.MaxTokens}
	if most > 0 {
		out["max_tokens"] = min(p.MaxTokens, most)
	}
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
	if tools := Tools(set); tools != nil {
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
				results = append(results, llm.Result{
					ID: profile.ID(c.ToolUseID), Name: "the tool", IsError: c.IsError,
					Parts: llm.ContentParts(c.Content, c.StructuredContent, llm.Options{}),
				})
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

// plainBlocks writes a block of a message. What the model would never get to see is refused: an answer about a sound it
// does not know would mislead.
func plainBlocks(b mcp.Content, role mcp.Role) ([]any, error) {
	var out []any
	if t, ok := b.(*mcp.TextContent); ok && strings.TrimSpace(t.Text) == "" {
		return nil, nil
	}
	for _, p := range llm.ContentParts([]mcp.Content{b}, nil, llm.Options{}) {
		made := block(p)
		if _, isText := made.(textBlock); p.Kind != llm.TextPart && (isText || role == mcp.RoleAssistant) {
			return nil, mcp.InvalidParams("the model behind this client does not take %s in a message of the %s", p.MIME, role)
		}
		if made != nil {
			out = append(out, made)
		}
	}
	return out, nil
}

// readAnswer reads what the model said, calls under the server's own names.
func readAnswer(raw json.RawMessage, set *llm.Set) (*mcp.CreateMessageResult, error) {
	var a struct {
		Model   string `json:"model"`
		Stop    string `json:"stop_reason"`
		Content []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			ID    string          `json:"id"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("read the model's answer: %w", err)
	}
	out := &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: a.Model, StopReason: stopReason(a.Stop)}
	if out.Model == "" {
		out.Model = "unknown"
	}
	var uses []mcp.Content
	for _, b := range a.Content {
		switch {
		case b.Type == "text" && b.Text != "":
			out.Content = append(out.Content, mcp.Text(b.Text))
		case b.Type == "tool_use" && out.StopReason != mcp.StopMaxTokens: // cut off, the last one is half a call
			tool, known := set.Tool(b.Name)
			args, err := set.Restore(llm.Call{Name: b.Name, Args: b.Input})
			switch {
			case !known:
				return nil, fmt.Errorf("the model calls %.80q, which was not offered", b.Name)
			case err != nil:
				return nil, fmt.Errorf("the model's call cannot be used: %w", err)
			}
			uses = append(uses, &mcp.ToolUseContent{ID: b.ID, Name: tool.Original, Input: args})
		}
	}
	if uses != nil {
		out.StopReason = mcp.StopToolUse
		out.Content = append(out.Content, uses...)
	}
	if len(out.Content) == 0 {
		out.Content = []mcp.Content{mcp.Text("")}
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
