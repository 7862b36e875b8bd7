// Package policy holds what an operator lays down about calls that pass the gateway: who may use what (rules), how often
// (limits), what servers may ask of users and models (ask), which definitions of tools are trusted (pins), which look as if
// they were meant to mislead a model (scan), and which secrets go no further (redaction).
//
// It plugs into the seam of package bridge: [Policy.Over] turns [Settings] into a [bridge.Rules]. A Policy lives as long as
// the gateway and keeps what must outlive a reload: the counts of the limits and the pins. Every decision that is not plain
// consent is given to [Options.OnDecision].
//
// Rules are expressions of CEL, the Common Expression Language, over the variables of [Variables]. A rule is read twice: by
// what it names it is seen whether it can be decided before the arguments of a call are known; what can is decided for lists
// too, what cannot is evaluated for lists with the arguments unknown, so that a thing is left out of a list only when no
// arguments could make it usable.
package policy
