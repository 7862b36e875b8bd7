package oauth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/rialto-mcp/rialto/client"
)

// What callers may branch on. All come inside an [*Error].
var (
	// ErrNoPKCE: the authorization server does not say that it checks PKCE with S256, so no login is begun.
	ErrNoPKCE = errors.New("the authorization server does not offer PKCE with S256")

	// ErrIssuer: an answer to a login, or the metadata of an authorization server, comes from another issuer than expected.
	ErrIssuer = errors.New("the issuer is not the expected one")

	// ErrResource: the server publishes a resource that does not cover its own address.
	ErrResource = errors.New("the resource does not cover the address of the server")

	// ErrGuard: an address that the server named must not be reached from here.
	ErrGuard = errors.New("the address is not allowed")

	// ErrLoginNeeded: there is no token and none can be got without a person.
	ErrLoginNeeded = errors.New("a login is needed")

	// ErrRefused: the server refuses a token that it has just been given.
	ErrRefused = errors.New("the server refuses the new access token")
)

// Attempt is one address that was tried in vain.
type Attempt struct {
	URL    string // without query and user
	Reason string // the status, or what was wrong
}

// Error is why there is no token. It never contains one, nor any other secret. It unwraps to its cause and, unless the
// cause is a passing one, to client.ErrUnauthorized.
type Error struct {
	Server string    // scheme and host of the MCP server
	Doing  string    // what failed
	Tried  []Attempt // every address that was tried, in order; may be empty
	Err    error     // why; may be nil when Tried says it
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "authorization for %s: %s", e.Server, e.Doing)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	for i, tried := range e.Tried {
		sep := "; "
		if i == 0 {
			sep = " (tried "
		}
		fmt.Fprintf(&b, "%s%s: %s", sep, tried.URL, tried.Reason)
	}
	if len(e.Tried) > 0 {
		b.WriteByte(')')
	}
	return b.String()
}

// Unwrap answers the cause, and client.ErrUnauthorized where trying again is of no use.
func (e *Error) Unwrap() []error {
	var out []error
	if e.Err != nil {
		out = append(out, e.Err)
	}
	if !e.Temporary() {
		out = append(out, client.ErrUnauthorized)
	}
	return out
}

// Temporary tells that the same may work later: a server could not be reached, or said that it is busy or broken.
func (e *Error) Temporary() bool { return transient(e.Err) }

// blame takes up why one address of several gave nothing: a cause that may pass before one that will not.
func (e *Error) blame(err error, passing string) {
	switch {
	case transient(err) && (e.Err == nil || errors.Is(e.Err, ErrGuard)):
		e.Err = &unreachable{errors.New(passing)}
	case e.Err == nil && errors.Is(err, ErrGuard):
		e.Err = ErrGuard
	}
}

// ResponseError is what an authorization server answered instead of giving what it was asked for. RFC 6749, section 5.2.
type ResponseError struct {
	URL         string // without query and user
	Status      int    // of HTTP; 0 when it came through a browser
	Code        string // such as invalid_grant; may be empty
	Description string // for people, as the server has it, cut and cleaned; may be empty
}

// Error implements error.
func (e *ResponseError) Error() string {
	var b strings.Builder
	b.WriteString(e.URL)
	b.WriteString(" answered")
	if e.Status != 0 {
		fmt.Fprintf(&b, " with HTTP status %d", e.Status)
	}
	if e.Code != "" {
		fmt.Fprintf(&b, " %s", e.Code)
	}
	if e.Description != "" {
		fmt.Fprintf(&b, " (%s)", e.Description)
	}
	return b.String()
}

func (e *ResponseError) transient() bool {
	return e.Status >= 500 || e.Status == 429 || e.Status == 408 || e.Code == "temporarily_unavailable" || e.Code == "server_error"
}

// unreachable marks failures of the network, which say nothing about credentials.
type unreachable struct{ err error }

// Error shows the cause, in which there may be what a peer has written: into its certificate, for one.
func (u *unreachable) Error() string { return clean(u.err.Error(), 300) }
func (u *unreachable) Unwrap() error { return u.err }

// transient tells that an error says nothing about the credentials that were used.
func transient(err error) bool {
	var net *unreachable
	var answer *ResponseError
	if errors.As(err, &answer) {
		return answer.transient()
	}
	return errors.As(err, &net)
}

// hasCode tells that an authorization server answered with one of these codes.
func hasCode(err error, codes ...string) bool {
	var answer *ResponseError
	if !errors.As(err, &answer) {
		return false
	}
	for _, code := range codes {
		if answer.Code == code {
			return true
		}
	}
	return false
}

// plain is an address as errors and logs show it: without user, query and fragment, which may hold secrets.
func plain(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return plainURL(u)
}

func plainURL(u *url.URL) string {
	return clean((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), 300)
}

// clean cuts a text of a peer and takes out what does not print, so that it can stand in an error: control characters, and
// those that turn the direction of a line.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// listed is a list of a peer as an error shows it.
func listed(names []string) string {
	const most = 10
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "...")
	}
	return clean(fmt.Sprintf("%q", names), 300)
}

// redact takes what was sent in confidence out of a text that a peer may have echoed, as it is or as part of a form.
func redact(text string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 {
			text = strings.NewReplacer(secret, "[redacted]", url.QueryEscape(secret), "[redacted]").Replace(text)
		}
	}
	return text
}
