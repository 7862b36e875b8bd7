package auth

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// ToolScopes is an Options.ScopesFor for calls of tools: what each needs, by its name. Other tools and methods need nothing.
// The map must not be changed afterwards.
func ToolScopes(needed map[string][]string) func(method, name string) []string {
	return func(method, name string) []string {
		if method != mcp.MethodCallTool {
			return nil
		}
		return needed[name]
	}
}

// allow is what the server asks once it knows what a request wants: the scopes of all of it are judged together, so that a
// client is told at once of everything it lacks.
func (g *guard) allow(w http.ResponseWriter, r *http.Request, who *mcp.Principal, scheme string, asked []transport.Operation) bool {
	needed := slices.Clone(g.opts.Scopes)
	if who == nil {
		needed = nil // what every request needs is passed over for those who may come without a token
	}
	for _, one := range asked {
		for _, scope := range g.opts.ScopesFor(one.Method, one.Name) {
			if !slices.Contains(needed, scope) {
				needed = append(needed, scope)
			}
		}
	}
	no := g.short(who, scheme, needed)
	if no != nil {
		g.challenge(w, r, no)
	}
	return no == nil
}

// short refuses who lacks a scope, with all that are needed; nil for who has them.
func (g *guard) short(who *mcp.Principal, scheme string, needed []string) *refusal {
	switch {
	case who == nil && len(needed) > 0:
		return g.nobody(needed)
	case who != nil && !g.sufficient(who, needed):
		return lacking(scheme, needed)
	}
	return nil
}

// lacking is what a handler tells a client that lacks scopes; nil when it has them. Those of every request are named too.
func (g *guard) lacking(r *http.Request, who *mcp.Principal, scheme string, scopes []string) *transport.Demand {
	var needed []string
	if who != nil {
		needed = slices.Clone(g.opts.Scopes)
	}
	for _, scope := range scopes {
		if !slices.Contains(needed, scope) {
			needed = append(needed, scope)
		}
	}
	no := g.short(who, scheme, needed)
	if no == nil {
		return nil
	}
	d := &transport.Demand{Status: no.status, Header: http.Header{}, Reason: no.reason}
	g.challengeIn(d.Header, r, no)
	return d
}

// Require returns nil when the sender of the request that ctx belongs to has every scope named, or scopes that stand for them,
// and otherwise an error for the handler to return: the client is then answered with 403 and a challenge that names them. Use
// it where what is needed shows in the arguments only; [Options].ScopesFor refuses before anything runs.
//
// An answer that has begun as an event stream, is one of an array, or goes over HTTP+SSE has no status of its own any more: the
// client gets the error alone. Where no [Bearer] stands around the server, and so on standard input and output, nobody has any
// scope. Name no scope that is not one (RFC 6749, 3.3).
func Require(ctx context.Context, scopes ...string) error {
	g := transport.GrantOf(ctx)
	if g == nil || g.Lacking == nil {
		return mcp.Errorf(mcp.CodeInvalidRequest, "this needs an access token, and there is none")
	}
	d := g.Lacking(scopes)
	if d == nil {
		return nil
	}
	g.Demand(d)
	return mcp.Errorf(mcp.CodeInvalidRequest, "%s", d.Reason)
}

// sufficient tells whether a principal has every scope that is needed.
func (g *guard) sufficient(who *mcp.Principal, needed []string) bool {
	return !slices.ContainsFunc(needed, func(scope string) bool {
		return !slices.ContainsFunc(who.Scopes, func(granted string) bool {
			return granted == scope || g.opts.Implies(granted, scope)
		})
	})
}

// lacking refuses a token that grants too little. It names all that is needed, also what is there already (RFC 6750, 3.1).
func lacking(scheme string, needed []string) *refusal {
	return &refusal{
		status: http.StatusForbidden, code: errScope, scheme: scheme, scopes: needed,
		reason: "the access token does not grant what this request needs: " + strings.Join(needed, " "),
	}
}

// isScope tells whether a text is one scope (RFC 6749, 3.3).
func isScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}
