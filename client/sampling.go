package client

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
)

// SamplingRequest asks for a message of this client's model. Tools and ToolChoice are set only where
// Options.SamplingTools says that the handler takes them, IncludeContext only with Options.SamplingContext.
type SamplingRequest struct {
	mcp.CreateMessageParams
	Origin Origin
}

// createMessage gives a sampling request to its handler.
//
// A request with tools that the client has not declared is refused, and so is a conversation whose tool results do not
// follow their tool uses. Spec 2025-11-25 and 2026-07-28, client/sampling, "Tool Use" and "Error Handling".
func (c *Client) createMessage(ctx context.Context, params json.RawMessage, from Origin) (json.RawMessage, error) {
	req := &SamplingRequest{Origin: from}
	if err := readQuestion(mcp.MethodCreateMessage, params, &req.CreateMessageParams); err != nil {
		return nil, err
	}
	withTools := req.Tools != nil || req.ToolChoice != nil
	declared := c.declared.Sampling
	switch {
	case len(req.Messages) == 0:
		return nil, mcp.InvalidParams("a sampling request needs at least one message")
	case withTools && (declared == nil || declared.Tools == nil):
		return nil, mcp.InvalidParams("this client does not declare sampling.tools; ask without tools")
	}
	if err := checkToolTurns(req.Messages); err != nil {
		return nil, err
	}
	if declared == nil || declared.Context == nil {
		req.IncludeContext = ""
	}
	result, err := c.opts.CreateMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	if result, err = c.fitMessage(result, withTools); err != nil {
		return nil, err
	}
	return encode(result)
}

// checkToolTurns checks that a message with tool results holds nothing else and answers the tool uses of the one before it,
// all of them.
func checkToolTurns(messages []mcp.SamplingMessage) error {
	var open []string // ids of the tool uses in the message before
	for i, m := range messages {
		var uses, results []string
		for _, block := range m.Content {
			switch block := block.(type) {
			case *mcp.ToolUseContent:
				uses = append(uses, block.ID)
			case *mcp.ToolResultContent:
				results = append(results, block.ToolUseID)
			}
		}
		slices.Sort(results)
		switch {
		case len(results) > 0 && len(results) < len(m.Content):
			return mcp.InvalidParams("Tool results mixed with other content: message %d", i+1)
		case !slices.Equal(open, results):
			return mcp.InvalidParams("Tool result missing in request: message %d does not answer the tool uses before it, each once", i+1)
		}
		slices.Sort(uses)
		open = uses
	}
	if len(open) > 0 {
		return mcp.InvalidParams("Tool result missing in request: the last message uses tools and nothing follows it")
	}
	return nil
}

// fitMessage completes a message and brings it into the shape of the revision: several blocks exist since 2025-11-25 only,
// and there some servers take them only where they have sent tools. Several texts become one; anything else that does not
// fit is an error.
func (c *Client) fitMessage(result *mcp.CreateMessageResult, withTools bool) (*mcp.CreateMessageResult, error) {
	switch {
	case result == nil:
		return nil, badAnswer(mcp.MethodCreateMessage, "CreateMessage returned neither a result nor an error")
	case result.Model == "":
		return nil, badAnswer(mcp.MethodCreateMessage, "the result of CreateMessage names no Model")
	case len(result.Content) == 0:
		return nil, badAnswer(mcp.MethodCreateMessage, "the result of CreateMessage has no Content")
	case !withTools && len(result.ToolUses()) > 0:
		return nil, badAnswer(mcp.MethodCreateMessage, "the result of CreateMessage uses a tool, but the server has offered none")
	}
	fitted := *result
	if fitted.Role == "" {
		fitted.Role = mcp.RoleAssistant
	}
	traits := c.traits()
	if len(fitted.Content) == 1 || traits.InputRounds || traits.SamplingTools && withTools {
		return &fitted, nil
	}
	var texts []string
	for _, block := range fitted.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	switch {
	case len(texts) == len(fitted.Content):
		fitted.Content = []mcp.Content{mcp.Text(strings.Join(texts, "\n"))}
	case !traits.SamplingTools:
		return nil, badAnswer(mcp.MethodCreateMessage, "the server's revision takes one block of content, and CreateMessage returned %d", len(fitted.Content))
	}
	return &fitted, nil
}
