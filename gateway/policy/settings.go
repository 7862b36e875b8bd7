package policy

import (
	"errors"
	"fmt"
	"time"
)

// Action is what a rule does.
type Action string

// The actions of a rule.
const (
	Allow Action = "allow" // the request goes on
	Deny  Action = "deny"  // it is refused, with a message; lists show the thing
	Hide  Action = "hide"  // the thing is left out of lists, and a request for it is answered as if it did not exist
)

// Check says what is wrong with an action.
func (a Action) Check() error {
	if a != Allow && a != Deny && a != Hide {
		return errors.New("write allow, deny or hide")
	}
	return nil
}

// Rule decides requests that its expression is true of.
type Rule struct {
	Name    string // for logs; unique
	When    string // a CEL expression that is true or false; see [Variables]
	Do      Action
	Message string // what a client is told that is denied; "" for a general one
}

// Limit bounds how often requests go to servers. The zero value bounds nothing.
type Limit struct {
	Name    string
	Per     []Per         // whose requests are counted together: those that agree in all of these; none means all requests
	When    string        // a CEL expression that says which requests are counted; "" means all
	Count   int           // so many
	Within  time.Duration // in this time, in the long run
	Burst   int           // at once after a pause; 0 means Count
	MaxKeys int           // counted apart; those not seen for longest are forgotten. 0 means 10,000
}

// Per is what tells requests apart that a limit counts.
type Per string

// What a limit may count apart.
const (
	PerPrincipal Per = "principal" // who calls; all that nobody knows are one
	PerSession   Per = "session"   // a legacy session; where there is none, the principal, or else the address
	PerAddress   Per = "address"   // the client's network address, of IPv6 the first 64 bits; one where there is no network
	PerServer    Per = "server"    // where the request goes
	PerTool      Per = "tool"      // what it is for: a tool, prompt or resource of a server
)

// Check says what is wrong with it.
func (p Per) Check() error {
	switch p {
	case PerPrincipal, PerSession, PerAddress, PerServer, PerTool:
		return nil
	}
	return fmt.Errorf("write %s, %s, %s, %s or %s", PerPrincipal, PerSession, PerAddress, PerServer, PerTool)
}

// Settings is all that an operator lays down. It is plain data: what is the same compares as the same.
type Settings struct {
	// Rules are asked in order; the first whose expression is true decides.
	Rules []Rule

	// Default decides what no rule does. "" means Allow.
	Default Action

	// Limits are all kept: one that is used up refuses the request.
	Limits []Limit

	// Ask says what servers may ask; see [Policy.Asking].
	Ask Ask

	// Redact keeps secrets from going further.
	Redact []Redaction

	// Scan looks for signs of definitions that are meant to mislead a model.
	Scan Scan

	// Pin holds servers to the definitions that were accepted.
	Pin Pin
}
