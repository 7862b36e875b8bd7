package policy

import (
	"context"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
)

// Subject says which part of the policy has decided.
type Subject string

// The parts of a policy.
const (
	ByRule   Subject = "rule"
	ByLimit  Subject = "limit"
	ByAsk    Subject = "ask"
	ByPin    Subject = "pin"
	ByScan   Subject = "scan"
	ByRedact Subject = "redact"
)

// Effect is what a decision does to a request, or to a thing that a server lists.
type Effect string

// The effects of decisions.
const (
	Denied  Effect = "denied"  // refused with an error
	Hidden  Effect = "hidden"  // answered as if it did not exist, or left out of lists
	Limited Effect = "limited" // refused until later
	Refused Effect = "refused" // a question of a server that its user or model does not get, or a message that holds a secret
	Changed Effect = "changed" // passed on with something else in the place of what it held
	Warned  Effect = "warned"  // passed on, and told to the operator
)

// Decision is one thing that the policy has done, for an audit. It holds no arguments and no results.
type Decision struct {
	By     Subject
	Effect Effect
	Name   string // of the rule, limit or pattern; "" where there is none
	Reason string // in words, for the operator

	Method string     // of the request, or of the question or notification in the middle of one; "" where there is none
	Kind   route.Kind // of what it is about; "" for none, and in the middle of a call
	route.Target

	Principal *mcp.Principal // who called; nil for nobody known, and where nobody did
	Session   string         // the legacy session; "" for none
}

// decided tells of a decision.
func (p *Policy) decided(ctx context.Context, d Decision) {
	if p.opts.OnDecision != nil {
		p.opts.OnDecision(ctx, d)
	}
}

// about is a decision about one call.
func (f *facts) about(by Subject, effect Effect, name, reason string) Decision {
	return Decision{
		By: by, Effect: effect, Name: name, Reason: reason, Method: f.method, Kind: f.entry.Kind, Target: f.entry.Target,
		Principal: f.caller.who, Session: f.caller.session,
	}
}
