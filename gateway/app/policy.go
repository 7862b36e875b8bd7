package app

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/rialto-mcp/rialto/gateway/observe"
	"github.com/rialto-mcp/rialto/gateway/policy"
)

// policyOptions is what the policy has of the gateway around it.
func (g *gateway) policyOptions(log *slog.Logger) policy.Options {
	o := policy.Options{Logger: log, OnDecision: noteDecision, Tell: func(line string) { g.say.line("%s", line) }}
	if g.opts.Source != nil {
		o.Folder = filepath.Dir(g.opts.Source.File)
	}
	return o
}

// noteDecision has the record of a request say what the policy has decided about it. What is said in the middle of a call, which is
// about no entry, may be decided side by side or when the request is over, and is not a decision about the call.
func noteDecision(ctx context.Context, d policy.Decision) {
	if d.Kind == "" {
		return
	}
	switch d.By {
	case policy.ByRule, policy.ByLimit, policy.ByRedact:
		word := "deny"
		if d.Effect == policy.Changed || d.Effect == policy.Warned {
			word = string(d.Effect)
		}
		observe.Decide(ctx, word, d.Name)
	}
}
