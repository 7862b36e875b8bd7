package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestFixedArgumentsPassRedactions holds that a value which the operator has fixed reaches the server, though it looks like a secret,
// and that the client's own words do not.
func TestFixedArgumentsPassRedactions(t *testing.T) {
	plan := shape.New(map[string]shape.Server{"a": {Tools: shape.Names{Edit: map[string]shape.Edit{
		"get_forecast": {Arguments: map[string]shape.Argument{"units": {Value: json.RawMessage(`"key-77"`)}}},
	}}}})
	for _, do := range []policy.RedactDo{policy.Mask, policy.Withhold} {
		pairings(t, func(t *testing.T, modern, upModern bool) {
			s := policy.Settings{Redact: []policy.Redaction{{Name: "keys", Pattern: "key-[0-9]+", In: policy.InArguments, Do: do}}}
			rules, err := policy.New(policy.Options{}).Over(s, bridge.Rules{Names: plan.Names, Shape: plan.Shape, Serves: plan.Serves, Steps: []bridge.Step{plan.Step}})
			if err != nil {
				t.Fatal(err)
			}
			c := newWorldWith(t, bridge.Options{Rules: rules}, backend{name: "a", modern: upModern, fill: func(s *server.Server) { forecasts(s) }}).dial(t, modern, client.Options{})
			if got := raw(t, c, mcp.MethodCallTool, `{"name":"get_forecast","arguments":{"city":"Oslo","days":1,"debug":false}}`); !strings.Contains(got, "Units:key-77") {
				t.Errorf("the server got %s", got)
			}
			const own = `{"name":"get_forecast","arguments":{"city":"key-12","days":1,"debug":false}}`
			if do == policy.Withhold {
				fault(t, c, mcp.MethodCallTool, own)
			} else if got := raw(t, c, mcp.MethodCallTool, own); !strings.Contains(got, "City:[redacted keys] Units:key-77") {
				t.Errorf("the server got %s", got)
			}
		})
	}
}
