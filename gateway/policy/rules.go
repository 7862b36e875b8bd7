package policy

import (
	"context"
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// ruleset is the rules of some settings, compiled.
type ruleset struct {
	rules    []rule
	fallback Action
	names    []string // of the variables that any rule uses
	failed   func(ctx context.Context, f *facts, rule string, err error)
}

type rule struct {
	Rule
	when *expression
}

func newRuleset(s Settings, failed func(context.Context, *facts, string, error)) (*ruleset, error) {
	set := &ruleset{fallback: s.Default, failed: failed}
	if set.fallback == "" {
		set.fallback = Allow
	}
	for _, r := range s.Rules {
		when, err := compile(r.When)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.Name, err)
		}
		set.rules = append(set.rules, rule{r, when})
		set.names = append(set.names, when.names...)
	}
	slices.Sort(set.names)
	set.names = slices.Compact(set.names)
	return set, nil
}

// idle tells whether everything is allowed to everybody.
func (s *ruleset) idle() bool { return len(s.rules) == 0 && s.fallback == Allow }

// hides tells whether lists may lack anything.
func (s *ruleset) hides() bool {
	return s.fallback == Hide || slices.ContainsFunc(s.rules, func(r rule) bool { return r.Do == Hide })
}

// ruling is what has been decided about a call.
type ruling struct {
	Action
	rule    string // "" for the default
	message string
	err     error // of an evaluation, which denies
}

// decide decides a call. Without its arguments, of a call that was decided before and whose result is fetched, it decides by
// what is known still: a rule that depends on them may have allowed the call, and has not refused it.
func (s *ruleset) decide(ctx context.Context, f *facts) ruling {
	for _, r := range s.rules {
		v, err := r.when.eval(ctx, f)
		switch {
		case err != nil:
			s.failed(ctx, f, r.Name, err)
			return ruling{Action: Deny, rule: r.Name, err: err}
		case v == yes, v == maybe && r.Do == Allow:
			return ruling{Action: r.Do, rule: r.Name, message: r.Message}
		}
	}
	return ruling{Action: s.fallback}
}

// shows decides whether a list shows a thing to a caller: unless it is hidden whatever the arguments of a call may be.
func (s *ruleset) shows(ctx context.Context, f *facts) bool {
	for _, r := range s.rules {
		v, err := r.when.eval(ctx, f)
		switch {
		case err != nil:
			s.failed(ctx, f, r.Name, err)
			return false
		case v == yes, v == maybe && r.Do != Hide:
			return r.Do != Hide
		}
	}
	return s.fallback != Hide
}

// sight is what the sender of a request sees.
func (s *ruleset) sight(req *server.Request) bridge.Sight {
	who := callerOf(req, s.names)
	return bridge.Sight{Key: who.key(s.names), Admits: func(e bridge.Entry) bool {
		return s.shows(context.Background(), &facts{caller: who, method: uses[e.Kind], entry: e})
	}}
}

// judgeStep decides each request by the rules, and refuses what comes too often.
func (l *laid) judgeStep(ctx context.Context, p *bridge.Passage, next bridge.Next) (*server.RawResult, error) {
	f := l.factsOf(p)
	if err := l.ruled(ctx, f); err != nil {
		return nil, err
	}
	if !p.Task { // else the call has been counted
		if err := l.limited(ctx, f); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}

// ruled decides a request by the rules.
func (l *laid) ruled(ctx context.Context, f *facts) error {
	switch r := l.rules.decide(ctx, f); r.Action {
	case Deny:
		l.policy.decided(ctx, f.about(ByRule, Denied, r.rule, r.reason()))
		return denied(r.message)
	case Hide:
		l.policy.decided(ctx, f.about(ByRule, Hidden, r.rule, r.reason()))
		return server.ErrUnhandled
	}
	return nil
}

// follows decides a subscription by the rules.
func (l *laid) follows(req *server.Request, e bridge.Entry) bool {
	ctx := context.Background()
	f := &facts{caller: callerOf(req, l.rules.names), method: req.Method(), entry: e, call: true}
	r := l.rules.decide(ctx, f)
	if r.Action == Allow {
		return true
	}
	l.policy.decided(ctx, f.about(ByRule, Hidden, r.rule, r.reason()))
	return false
}

// hears decides whether somebody goes on to hear of something. How that was begun is not known any more, nor are the client and
// its address; what depends on them has not refused it then.
func (l *laid) hears(who server.Caller, e bridge.Entry) bool {
	f := &facts{caller: &caller{who: who.Principal, session: who.SessionID}, entry: e, news: true}
	return l.rules.decide(context.Background(), f).Action == Allow
}

func (l *laid) factsOf(p *bridge.Passage) *facts {
	f := &facts{caller: callerOf(p.Request, l.used), method: uses[p.Kind], entry: p.Entry}
	if !p.Task {
		f.method, f.call, f.params = p.Request.Method(), true, p.Params
	}
	return f
}

func (r ruling) reason() string {
	switch {
	case r.err != nil:
		return "the rule could not be evaluated: " + r.err.Error()
	case r.rule == "":
		return "no rule allows it"
	}
	return "the rule says so"
}

// denied is what a client is told that may not do something.
func denied(message string) error {
	if message == "" {
		message = "The rules of this gateway do not allow this"
	}
	return mcp.Errorf(mcp.CodeInvalidRequest, "%s", message)
}
