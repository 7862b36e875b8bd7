package auth

import (
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
	switch {
	case who == nil && len(needed) > 0:
		g.challenge(w, r, g.nobody(needed))
		return false
	case who != nil && !g.sufficient(who, needed):
		g.challenge(w, r, lacking(scheme, needed))
		return false
	}
	return true
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
