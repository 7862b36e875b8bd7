package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// losing is a source whose calls fail with an error.
type losing struct {
	err   error
	calls int
}

func (l *losing) ListTools(context.Context) ([]llm.Listed, error) {
	yes := true
	return []llm.Listed{{Server: "a", Tool: mcp.Tool{
		Name: "read", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: &yes},
	}}}, nil
}

func (l *losing) CallTool(context.Context, string, string, json.RawMessage) (*mcp.CallToolResult, error) {
	l.calls++
	return nil, l.err
}

// TestManagerDecidesOnRepeats holds that a call is not repeated here which the manager did not want to repeat, since its
// server is not to be believed.
func TestManagerDecidesOnRepeats(t *testing.T) {
	lost := mcp.Errorf(mcp.CodeConnectionClosed, "gone")
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"a lost connection":                   {lost, 2},
		"one that the manager has decided on": {errors.Join(&manager.UnknownOutcomeError{Server: "a"}, lost), 1},
	} {
		source := &losing{err: tc.err}
		set, err := llm.Tools(t.Context(), source, llm.Options{Profile: openai.Compatible()})
		if err != nil {
			t.Fatal(err)
		}
		result := set.Invoke(t.Context(), llm.Call{ID: "1", Name: set.Tools()[0].Name})
		if !result.IsError || source.calls != tc.want {
			t.Errorf("%s: %d calls, want %d; %+v", name, source.calls, tc.want, result)
		}
	}
}
