package oauth

import (
	"fmt"
	"slices"
	"strings"
)

// maxScopes bounds the scopes that are asked for together, in bytes of the parameter. It travels in the address of a login,
// and a server could name new ones without end.
const maxScopes = 8 << 10

// scopesFor picks the scopes to ask for: those the server names in its answer, else those of its metadata; those asked for
// before, so that nothing is lost; and those of the options. Spec 2026-07-28, basic/authorization, "Scope Selection
// Strategy".
func (a *Authorizer) scopesFor(n need, had *token, at *place) ([]string, error) {
	named := n.scopes
	if len(named) == 0 {
		named = at.scopes
	}
	var before []string
	if had != nil {
		before = had.Asked
		if len(n.scopes) == 0 && len(before) > 0 {
			named = nil
		}
	}
	all := splitScopes(joinScopes(slices.Concat(before, named, a.opts.Scopes))) // an element with blanks is several
	if size := len(joinScopes(all)); size > maxScopes {
		return nil, &Error{Server: a.where, Doing: "choose the scopes to ask for",
			Err: fmt.Errorf("the server wants %d of them in %d bytes, and %d bytes are sent at most", len(all), size, maxScopes)}
	}
	return all, nil
}

// scope is the parameter of the same name; "" leaves it out. offline_access is asked for where it is offered and something
// else is asked for: alone it would take the place of what a server gives by default.
func (v *visit) scope() string {
	scopes := v.scopes
	if v.a.opts.Flow.interactive() && v.wantsOffline() {
		scopes = union(scopes, []string{scopeOffline})
	}
	return joinScopes(scopes)
}

const scopeOffline = "offline_access"

func (v *visit) wantsOffline() bool {
	return slices.Contains(v.scopes, scopeOffline) ||
		len(v.scopes) > 0 && !v.a.opts.NoOffline && slices.Contains(v.server.Scopes, scopeOffline)
}

// splitScopes splits a scope parameter into its tokens, each once.
func splitScopes(text string) []string { return union(strings.Fields(text)) }

func joinScopes(scopes []string) string { return strings.Join(scopes, " ") }

// union joins lists of scopes, each scope once, in the order of their first appearance. Lists of a peer may be as long as an
// answer is.
func union(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, list := range lists {
		for _, scope := range list {
			if !seen[scope] {
				seen[scope] = true
				out = append(out, scope)
			}
		}
	}
	return out
}

// covers tells that every scope wanted is among those had.
func covers(had, wanted []string) bool {
	have := make(map[string]bool, len(had))
	for _, scope := range had {
		have[scope] = true
	}
	return !slices.ContainsFunc(wanted, func(scope string) bool { return !have[scope] })
}
