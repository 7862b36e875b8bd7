package bridge_test

import (
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/mcp"
)

// planned are rules of what is said of single servers.
func planned(servers map[string]shape.Server) bridge.Options {
	plan := shape.New(servers)
	return bridge.Options{Rules: bridge.Rules{Names: plan.Names, Shape: plan.Shape, Serves: plan.Serves, Steps: []bridge.Step{plan.Step}}}
}

// TestDenied holds that what an operator denies is neither listed nor there for those who know its name: tools, prompts, and
// resources, those that a template stands for and those that no list names too.
func TestDenied(t *testing.T) {
	said := shape.Server{
		Tools: shape.Names{Filter: shape.Filter{Deny: []string{"echo"}}}, Prompts: shape.Names{Filter: shape.Filter{Deny: []string{"gr*"}}}, Resources: shape.Filter{Allow: []string{"memo://n/*"}, Deny: []string{"memo://n/8"}},
	}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, planned(map[string]shape.Server{"a": said}), backend{name: "a", modern: upModern, fill: everything(nil)})
		c := w.dial(t, modern, client.Options{})
		if names := toolNames(t, c); slices.Contains(names, "echo") || !slices.Contains(names, "sum") {
			t.Errorf("the tools are %v", names)
		}
		for _, ask := range []struct{ method, params string }{
			{mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"x"}}`},
			{mcp.MethodGetPrompt, `{"name":"greet","arguments":{"name":"x"}}`},
			{mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"x"}}`},
			{mcp.MethodReadResource, `{"uri":"memo://one"}`},
			{mcp.MethodReadResource, `{"uri":"memo://n/8"}`},
			{mcp.MethodReadResource, `{"uri":"rialto+a:memo://n/8"}`},
		} {
			fault(t, c, ask.method, ask.params)
		}
		raw(t, c, mcp.MethodReadResource, `{"uri":"memo://n/7"}`)
		raw(t, c, mcp.MethodComplete, `{"ref":{"type":"ref/resource","uri":"memo://n/{id}"},"argument":{"name":"id","value":"x"}}`)
	})
}
