package auth

import (
	"errors"
	"net/http"
	"strings"
)

// Error codes of challenges: RFC 6750, 3.1, and RFC 9449, 7.1 and 9.
const (
	errInvalidRequest = "invalid_request"
	errInvalidToken   = "invalid_token"
	errScope          = "insufficient_scope"
	errProof          = "invalid_dpop_proof"
	errNonce          = "use_dpop_nonce"
)

// refusal is an answer to a request that may not pass.
type refusal struct {
	status int
	code   string // of the challenge; "" when the client has shown nothing yet
	reason string // for the client
	scheme string // the client used; "" for none
	scopes []string
}

// Error returns the reason.
func (r *refusal) Error() string { return r.reason }

func malformed(reason string) error {
	return &refusal{status: http.StatusBadRequest, code: errInvalidRequest, reason: reason}
}

func badProof(reason string) error {
	return &refusal{status: http.StatusUnauthorized, code: errProof, reason: reason, scheme: schemeDPoP}
}

// unauthorized is the refusal for an error of a verifier or a check; nil when the error says that nobody knows.
func unauthorized(err error, scheme string) *refusal {
	var own *refusal
	if errors.As(err, &own) {
		return own
	}
	var invalid *InvalidToken
	if !errors.As(err, &invalid) {
		return nil
	}
	return &refusal{status: http.StatusUnauthorized, code: errInvalidToken, reason: invalid.Reason, scheme: scheme}
}

// challenge writes a refusal: the status, what the client is to do in WWW-Authenticate, and the reason as a line of text.
// Where bound tokens are taken, a challenge that answers no credentials names both ways in, Bearer first: many clients read
// no further.
func (g *guard) challenge(w http.ResponseWriter, r *http.Request, no *refusal) {
	g.challengeIn(w.Header(), r, no)
	text(w, no.status, no.reason)
	g.opts.OnRefuse(Refusal{Request: forOthers(r), Status: no.status, Code: no.code, Reason: no.reason})
}

// challengeIn writes the headers of a refusal.
func (g *guard) challengeIn(header http.Header, r *http.Request, no *refusal) {
	var bearer, bound []string
	switch {
	case g.proofs == nil, no.scheme == schemeBearer && !g.proofs.required:
		bearer = no.parameters()
	case no.scheme == schemeDPoP, g.proofs.required:
		bound = no.parameters()
	default:
		bearer, bound = no.parameters(), no.parameters()
	}
	if where := g.metadataURL(r); where != "" {
		bearer, bound = named(bearer, where), named(bound, where)
	}
	if bearer != nil {
		header.Add("WWW-Authenticate", schemeBearer+separated(bearer))
	}
	if bound != nil {
		bound = append(bound, parameter("algs", strings.Join(g.proofs.algorithms, " ")))
		header.Add("WWW-Authenticate", schemeDPoP+separated(bound))
		g.proofs.offerNonce(header)
	}
	header.Set("Cache-Control", "no-store")
}

// parameters are those that every scheme has. It is never nil.
func (r *refusal) parameters() []string {
	out := []string{}
	if len(r.scopes) > 0 {
		out = append(out, parameter("scope", strings.Join(r.scopes, " ")))
	}
	if r.code != "" {
		out = append(out, parameter("error", r.code), parameter("error_description", r.reason))
	}
	return out
}

// named puts the address of the metadata ahead of other parameters.
func named(parameters []string, where string) []string {
	if parameters == nil {
		return nil
	}
	return append([]string{parameter("resource_metadata", where)}, parameters...)
}

func separated(parameters []string) string {
	if len(parameters) == 0 {
		return ""
	}
	return " " + strings.Join(parameters, ", ")
}

// parameter writes one parameter. What RFC 6750 (3) does not let stand in a value becomes an apostrophe or goes.
func parameter(name, value string) string {
	clean := strings.Map(func(c rune) rune {
		switch {
		case c == '"' || c == '\\':
			return '\''
		case c < ' ' || c > '~':
			return -1
		}
		return c
	}, value)
	return name + `="` + clean + `"`
}

// text answers with a line of text, as the server does for what is refused before there is JSON-RPC.
func text(w http.ResponseWriter, status int, line string) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write([]byte(line + "\n"))
}
