package llm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// Sampling answers a sampling request of a server through one API: what the samplers of the vendors' packages have in
// common, for those of other APIs too. Use openai.Sampler, anthropic.Sampler or gemini.Sampler where they fit.
//
// Its fields must not be changed once it is used; its method may be called concurrently.
type Sampling struct {
	Profile Profile // of the API, for the server's tools

	Model string                             // required, unless Pick answers
	Pick  func(*mcp.ModelPreferences) string // chooses a model by what the server prefers; "" leaves it to Model

	// Approve is asked before anything is sent, and Review before the model's message goes to the server. Nil lets all pass.
	Approve func(ctx context.Context, req *client.SamplingRequest) error
	Review  func(ctx context.Context, req *client.SamplingRequest, answer *mcp.CreateMessageResult) error

	MaxTokens int64 // bounds what a server may ask for. Zero means 4,096; negative means no bound

	// Ask writes the request, sends it, and reads the answer.
	Ask func(ctx context.Context, q SamplingQuestion) (*SamplingAnswer, error)
}

// SamplingQuestion is a sampling request with what the client's side adds to it.
type SamplingQuestion struct {
	*mcp.CreateMessageParams
	Model     string
	MaxTokens int64 // what the server asks for, bounded
	Tools     *Set  // the server's, under names that the API takes
}

// SamplingAnswer is what the model said.
type SamplingAnswer struct {
	Model      string   // as the API reports it; empty where it does not
	StopReason string   // a word of MCP, or the vendor's where MCP has none
	Texts      []string // in order; empty ones do not count
	Calls      []Call   // in order, under the names of the API

	// Notes are beside Calls, and may be fewer: what goes into the _meta of each, for the way back.
	Notes []mcp.Meta
}

// CreateMessage answers one request. It fits client.Options.CreateMessage.
func (s Sampling) CreateMessage(ctx context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
	if s.Approve != nil {
		if err := s.Approve(ctx, req); err != nil {
			return nil, err
		}
	}
	set, err := Tools(ctx, List(req.Tools...), Options{Profile: s.Profile})
	if err != nil {
		return nil, err
	}
	if skipped := set.Skipped(); len(skipped) > 0 {
		return nil, mcp.InvalidParams("the tool %q cannot be offered to the model: %v", skipped[0].Tool, skipped[0].Reason)
	}
	q := SamplingQuestion{CreateMessageParams: &req.CreateMessageParams, Model: s.Model, MaxTokens: s.bounded(req.MaxTokens), Tools: set}
	if s.Pick != nil {
		if picked := s.Pick(req.ModelPreferences); picked != "" {
			q.Model = picked
		}
	}
	if q.Model == "" {
		return nil, fmt.Errorf("the sampler for %s has no Model", s.Profile.API)
	}
	said, err := s.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	answer, err := said.result(set)
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

func (s Sampling) bounded(asked int64) int64 {
	switch {
	case s.MaxTokens == 0:
		return min(asked, 4096)
	case s.MaxTokens < 0:
		return asked
	}
	return min(asked, s.MaxTokens)
}

// result writes what the model said for the server, calls under the server's own names. Of an answer that was cut off no
// call is passed on: the last one is half a call.
func (a *SamplingAnswer) result(set *Set) (*mcp.CreateMessageResult, error) {
	out := &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: a.Model, StopReason: a.StopReason}
	if out.Model == "" {
		out.Model = "unknown"
	}
	for _, text := range a.Texts {
		if text != "" {
			out.Content = append(out.Content, mcp.Text(text))
		}
	}
	for i, call := range a.Calls {
		if a.StopReason == mcp.StopMaxTokens {
			break
		}
		tool, known := set.Tool(call.Name)
		if !known {
			return nil, fmt.Errorf("the model calls %.80q, which was not offered", call.Name)
		}
		args, err := set.Restore(call)
		if err != nil {
			return nil, fmt.Errorf("the model's call cannot be used: %w", err)
		}
		use := &mcp.ToolUseContent{ID: call.ID, Name: tool.Original, Input: args}
		if i < len(a.Notes) {
			use.Meta = a.Notes[i]
		}
		out.Content = append(out.Content, use)
		out.StopReason = mcp.StopToolUse
	}
	if len(out.Content) == 0 {
		out.Content = []mcp.Content{mcp.Text("")}
	}
	return out, nil
}

// SamplingParts makes parts of the blocks of a sampling message. takes says whether the model gets to see a part; what it
// would not see is refused: an answer about a sound it does not know would mislead.
func SamplingParts(content []mcp.Content, takes func(Part) bool) ([]Part, error) {
	parts := ContentParts(content, nil, Options{})
	for _, p := range parts {
		if p.Kind != TextPart && !takes(p) {
			return nil, mcp.InvalidParams("the model behind this client does not take %s here", p.MIME)
		}
	}
	return parts, nil
}

// SamplingResult makes a result of a block that holds one, with the id that the API takes for the call.
func SamplingResult(c *mcp.ToolResultContent, id, tool string) Result {
	return Result{ID: id, Name: tool, IsError: c.IsError, Structured: json.RawMessage(c.StructuredContent), Parts: ContentParts(c.Content, c.StructuredContent, Options{})}
}
