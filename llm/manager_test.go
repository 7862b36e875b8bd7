package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
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

// TestToolsOfAManager offers the tools of two real servers of a manager under the names of their entries, and calls one of
// each; a third server is down.
func TestToolsOfAManager(t *testing.T) {
	serve := func(name string) manager.Server {
		s := server.New(mcp.Implementation{Name: name, Version: "1"}, server.Options{})
		server.AddTool(s, mcp.Tool{Name: "who.am.i"}, func(context.Context, *server.Request, struct{}) (string, error) { return name, nil })
		web := httptest.NewServer(s.Handler())
		t.Cleanup(web.Close)
		return manager.Server{Name: name, Transport: manager.HTTP, URL: web.URL + "/mcp"}
	}
	m, err := manager.Open([]manager.Server{serve("one"), serve("two"), {Name: "down", Transport: manager.HTTP, URL: "http://127.0.0.1:1/mcp"}}, manager.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	set := bind(t, m, llm.Options{Profile: openai.Chat()})
	if len(set.Tools()) != 2 || len(set.Skipped()) != 1 || set.Skipped()[0].Server != "down" {
		t.Fatalf("%s, left out %v", names(set), set.Skipped())
	}
	for i, want := range []string{"one", "two"} {
		tool := set.Tools()[i]
		if r := set.Invoke(t.Context(), llm.Call{Name: tool.Name}); r.Text() != want || !strings.HasPrefix(tool.Name, want+"__who_am_i_") {
			t.Errorf("%s: %+v", tool.Name, r)
		}
	}
}
