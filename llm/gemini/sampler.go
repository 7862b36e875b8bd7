package gemini

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

// Sampler answers sampling requests of servers through generateContent:
//
//	sampler := &gemini.Sampler{Endpoint: llm.Endpoint{Key: key}, Model: "gemini-3-pro"}
//	client.Options{CreateMessage: sampler.CreateMessage, SamplingTools: true}
//
// Its fields must not be changed once it is used; its method may be called concurrently.
type Sampler struct {
	Endpoint llm.Endpoint // BaseURL is Google's where it is empty; it ends with the version and before /models
	Model    string       // required, unless Pick answers
	Older    bool         // for models before Gemini 3: their schemas, and text alone in results

	// Pick chooses a model by what the server prefers; "" leaves it to Model. Nil leaves it to Model always.
	Pick func(*mcp.ModelPreferences) string

	// Approve is asked before anything is sent, and Review before the model's message goes to the server: both are where a
	// person may say no, with client.ErrUserRejected. Nil lets all pass, which is for tests and trusted servers.
	Approve func(ctx context.Context, req *client.SamplingRequest) error
	Review  func(ctx context.Context, req *client.SamplingRequest, answer *mcp.CreateMessageResult) error

	MaxTokens     int64 // bounds what a server may ask for. Zero means 4,096; negative means no bound
	NoTemperature bool  // leaves the temperature out
}

// maxStops is how many stop sequences the API takes.
const maxStops = 5

// MetaSignature is the member of _meta of a call in a sampling message that holds the signature of the thinking behind it.
// A server that sends the call back with it, as the protocol asks, spares the model thinking it again.
const MetaSignature = "io.github.rialto-mcp/thoughtSignature"

// noSignature is what the API takes in place of a signature, for calls of another model or whose signature was lost.
const noSignature = "skip_thought_signature_validator"

// CreateMessage answers one request. It fits client.Options.CreateMessage.
func (s *Sampler) CreateMessage(ctx context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
	profile := GenerateContent()
	if s.Older {
		profile = Older()
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
		endpoint.BaseURL = "https://generativelanguage.googleapis.com/v1beta"
	}
	if endpoint.Key != "" {
		auth.Set("X-Goog-Api-Key", endpoint.Key)
	}
	raw, err := endpoint.Post(ctx, "/models/"+url.PathEscape(strings.TrimPrefix(q.Model, "models/"))+":generateContent", auth, body)
	if err != nil {
		return nil, err
	}
	return readAnswer(raw, len(q.Messages))
}

func (s *Sampler) request(q llm.SamplingQuestion) (json.RawMessage, error) {
	contents, err := s.contents(q)
	if err != nil {
		return nil, err
	}
	config := map[string]any{"maxOutputTokens": q.MaxTokens}
	if q.Temperature != nil && !s.NoTemperature {
		config["temperature"] = min(max(*q.Temperature, 0), 2)
	}
	if stops := q.StopSequences; len(stops) > 0 {
		config["stopSequences"] = stops[:min(len(stops), maxStops)]
	}
	out := map[string]any{"contents": contents, "generationConfig": config}
	if q.SystemPrompt != "" {
		out["systemInstruction"] = map[string]any{"parts": []any{map[string]string{"text": q.SystemPrompt}}}
	}
	if tools := Tools(q.Tools); tools != nil {
		out["tools"] = tools
		if q.ToolChoice != nil {
			mode := map[string]string{mcp.ToolChoiceRequired: "ANY", mcp.ToolChoiceNone: "NONE"}[q.ToolChoice.Mode]
			if mode == "" {
				mode = "AUTO"
			}
			out["toolConfig"] = map[string]any{"functionCallingConfig": map[string]string{"mode": mode}}
		}
	}
	return encode(out), nil
}

// contents writes the conversation. Calls go without ids, since only the API may give any; so results stand in the order of
// their calls.
func (s *Sampler) contents(q llm.SamplingQuestion) ([]json.RawMessage, error) {
	var out []json.RawMessage
	var open []*mcp.ToolUseContent // the calls of the last message
	for _, m := range q.Messages {
		said := content{Role: "user"}
		if m.Role == mcp.RoleAssistant {
			said.Role = "model"
		}
		var calls []*mcp.ToolUseContent
		var results []*mcp.ToolResultContent
		for _, b := range m.Content {
			switch c := b.(type) {
			case *mcp.ToolUseContent:
				said.Parts = append(said.Parts, s.call(c, q.Tools.Profile(), calls == nil))
				calls = append(calls, c)
			case *mcp.ToolResultContent:
				results = append(results, c)
			default:
				parts, err := plainParts(b)
				if err != nil {
					return nil, err
				}
				said.Parts = append(said.Parts, parts...)
			}
		}
		switch {
		case results != nil:
			answers, err := inOrder(open, results, q.Tools.Profile())
			if err != nil {
				return nil, err
			}
			out = append(out, write(answers, !s.Older))
		case said.Parts != nil:
			out = append(out, encode(said))
		}
		open = calls
	}
	return out, nil
}

// call writes a call of the model. The first of a message needs a signature.
func (s *Sampler) call(c *mcp.ToolUseContent, profile llm.Profile, first bool) any {
	call := map[string]any{"name": profile.Name("", c.Name)}
	if len(c.Input) > 0 {
		call["args"] = c.Input
	}
	part := map[string]any{"functionCall": call}
	if first && !s.Older {
		part["thoughtSignature"] = noSignature
	}
	if signature, ok := c.Meta.Text(MetaSignature); ok { // from the server, which may have changed it: only its form is known
		if _, err := base64.StdEncoding.DecodeString(signature); err == nil && signature != "" {
			part["thoughtSignature"] = signature
		}
	}
	return part
}

// inOrder gives the results the order and the names of their calls.
func inOrder(calls []*mcp.ToolUseContent, results []*mcp.ToolResultContent, profile llm.Profile) ([]llm.Result, error) {
	if len(calls) != len(results) {
		return nil, mcp.InvalidParams("%d calls of a message have %d results in the next", len(calls), len(results))
	}
	var out []llm.Result
	for _, call := range calls {
		at := slices.IndexFunc(results, func(r *mcp.ToolResultContent) bool { return r.ToolUseID == call.ID })
		if at < 0 {
			return nil, mcp.InvalidParams("the call %.80q has no result in the next message", call.ID)
		}
		out = append(out, llm.SamplingResult(results[at], "", profile.Name("", call.Name)))
	}
	return out, nil
}

// plainParts writes a block of a message.
func plainParts(b mcp.Content) ([]any, error) {
	if t, ok := b.(*mcp.TextContent); ok && t.Text == "" {
		return nil, nil
	}
	parts, err := llm.SamplingParts([]mcp.Content{b}, func(p llm.Part) bool { return inline(p) != nil })
	var out []any
	for _, p := range parts {
		if part := inline(p); part != nil {
			out = append(out, part)
		} else {
			out = append(out, map[string]string{"text": p.Text})
		}
	}
	return out, err
}

// readAnswer reads what the model said. Its thinking stays here. turn goes into the ids of calls that have none.
func readAnswer(raw json.RawMessage, turn int) (*llm.SamplingAnswer, error) {
	var a struct {
		Model      string `json:"modelVersion"`
		Candidates []struct {
			Finish  string          `json:"finishReason"`
			Content json.RawMessage `json:"content"`
		} `json:"candidates"`
		Feedback struct {
			Reason string `json:"blockReason"`
		} `json:"promptFeedback"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("read the model's answer: %w", err)
	}
	if len(a.Candidates) == 0 {
		if a.Feedback.Reason != "" {
			return nil, fmt.Errorf("the model's endpoint refuses the messages: %.80s", a.Feedback.Reason)
		}
		return nil, errors.New("read the model's answer: it has no candidates")
	}
	out := &llm.SamplingAnswer{Model: a.Model}
	var err error
	if out.StopReason, err = stopReason(a.Candidates[0].Finish); err != nil {
		return nil, err
	}
	said := a.Candidates[0].Content
	if !jsonrpc.IsObject(said) {
		return out, nil // the end may come before the first word
	}
	var c struct {
		Parts []struct {
			Text      string          `json:"text"`
			Thought   bool            `json:"thought"`
			Call      json.RawMessage `json:"functionCall"`
			Signature string          `json:"thoughtSignature"`
		} `json:"parts"`
	}
	if err := json.Unmarshal(said, &c); err != nil {
		return nil, fmt.Errorf("read the model's answer: %w", err)
	}
	if out.Calls, err = Calls(said); err != nil {
		return nil, err
	}
	for _, p := range c.Parts {
		switch {
		case p.Call != nil:
			var note mcp.Meta
			if p.Signature != "" {
				if note, err = mcp.NewMeta(MetaSignature, p.Signature); err != nil {
					return nil, err
				}
			}
			out.Notes = append(out.Notes, note)
		case !p.Thought:
			out.Texts = append(out.Texts, p.Text)
		}
	}
	for i := range out.Calls {
		if out.Calls[i].ID == "" { // the server needs one to answer by
			out.Calls[i].ID = fmt.Sprintf("call_%d_%d", turn, i)
		}
	}
	return out, nil
}

func stopReason(finish string) (string, error) {
	switch finish {
	case "STOP", "":
		return mcp.StopEndTurn, nil
	case "MAX_TOKENS":
		return mcp.StopMaxTokens, nil
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE":
		return "contentFilter", nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return "", fmt.Errorf("the model's call cannot be used: %s", finish)
	}
	return finish, nil
}
