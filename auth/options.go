package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

// Options configures [Bearer] and [Metadata], which get the same. Verifier must be set; [Options.Check] says what else is
// missing.
type Options struct {
	// Resource is the public address of the protected endpoint, as clients write it: "https://mcp.example.com/mcp". It is the
	// one setting from which all others follow: the audience that tokens must have, the address of the metadata and what it
	// says, and what proofs of possession are compared with. No header of a request changes it.
	//
	// Empty means that addresses are derived from the request: its host, and Path. Tokens are then never compared with those,
	// since the sender has chosen them: Audiences must be set, unless the verifier says that a token is ours.
	Resource string

	// Path is the path of the endpoint where Resource is empty. Empty means /mcp.
	Path string

	// TrustedProxies are the networks of proxies in front of the server. X-Forwarded-Proto and X-Forwarded-Host count where
	// Resource is empty and the request comes from one of them, and never otherwise.
	TrustedProxies []netip.Prefix

	// AuthorizationServers are the issuers that clients get tokens from, for the metadata. Without one there is no metadata,
	// and challenges name none: right for tokens that are handed out in another way.
	AuthorizationServers []string

	// Verifier finds out whose a token is. It is given no longer than VerifyTimeout.
	Verifier Verifier

	// Audiences are names of this server beside Resource that the audience of a token may hold. A token needs one of all
	// these; they are compared to the letter, but that Resource may be written with a slash at the end or without.
	Audiences []string

	// Scopes are needed for every request. A token without one of them gets a 403 that names them all.
	Scopes []string

	// ScopesFor returns what is needed beside Scopes for one request or notification: name is that of a tool or prompt or
	// the URI of a resource, "" where the method has none. It is asked when the message has been read and its revision is
	// known, before anything of it runs, and may be called concurrently. Nil means nothing. See [ToolScopes].
	ScopesFor func(method, name string) []string

	// Implies tells whether a granted scope stands for a needed one, where scopes have an order ("files:write" stands for
	// "files:read", say). Equal ones always do. It may be called concurrently. Nil means that no other does.
	Implies func(granted, needed string) bool

	// Optional lets requests without a token pass, with nobody as their principal. Those that need scopes are still refused,
	// and a token that is no good is never passed over.
	Optional bool

	// DPoP takes tokens that are bound to a key (RFC 9449). Nil refuses them: without a proof they prove nothing.
	DPoP *DPoPOptions

	// KeepHeaders leaves the token in the header Authorization for the handlers behind, who may exchange it for another
	// (RFC 8693). It must not be sent on to any other server. Otherwise that header and the proof are taken off.
	KeepHeaders bool

	// KeepToken leaves the token where [TokenOf] finds it, and nowhere else: for a server that exchanges it, in which not all
	// code that sees headers should see the token.
	KeepToken bool

	// Name, Documentation and ScopesSupported are told in the metadata, for people and clients. The scopes should be the few
	// that are good to begin with. Empty ones are left out.
	Name, Documentation string
	ScopesSupported     []string

	// Leeway is what clocks may differ by when times of tokens are judged. Zero means 30 s; negative means nothing.
	Leeway time.Duration

	// VerifyTimeout bounds a verification. Zero means 10 s; negative means that the verifier's own bounds are enough.
	VerifyTimeout time.Duration

	// OnRefuse is told of each request that is refused, when it has been answered: for logs and for who counts attempts. It may be
	// called concurrently, and holds up the request. Nil means no interest.
	OnRefuse func(Refusal)

	// OnError is called with faults that no client is told of: a verifier that cannot say. It may be called concurrently. Nil
	// drops them.
	OnError func(error)
}

// Refusal is a request that was refused.
type Refusal struct {
	Request *http.Request // without the token and the proof that it came with
	Status  int           // 400, 401, 403, 429 or 503
	Code    string        // error of the challenge, such as invalid_token; "" for a request without a token, and where nobody could say
	Reason  string        // as the client was told; it never holds the token
}

// DPoPOptions says how proofs of possession are judged. The zero value is ready to use.
type DPoPOptions struct {
	// Required refuses tokens that are not bound to a key.
	Required bool

	// Algorithms are those a proof may be signed with. Nil means ES256, ES384, ES512, EdDSA, PS256, PS384, PS512 and RS256.
	// Symmetric ones and none are refused by Check.
	Algorithms []string

	// Window is how old a proof may be, and how far ahead a clock. Zero or less means 1 min.
	Window time.Duration

	// Replays remembers the proofs that have been used. Replicas behind one address share one. Nil means 200,000 of them in
	// memory; while it is full, further ones are refused with 503.
	Replays server.Consumer

	// NonceKey makes proofs carry a nonce of the server's, so that none can be made beforehand. It is a secret of at least 32
	// bytes that replicas share. Nil asks for no nonce.
	NonceKey []byte

	// NonceLife is how long a nonce is good for, at least. Zero or less means 5 min.
	NonceLife time.Duration
}

// String says whether there is a secret, and not which; so do GoString, LogValue and MarshalText.
func (o DPoPOptions) String() string {
	return fmt.Sprintf("auth.DPoPOptions{Required: %t, NonceKey: %d bytes}", o.Required, len(o.NonceKey))
}

// GoString is String, for %#v.
func (o DPoPOptions) GoString() string { return o.String() }

// LogValue is String, for package slog.
func (o DPoPOptions) LogValue() slog.Value { return slog.StringValue(o.String()) }

// MarshalText is String, for logs in JSON.
func (o DPoPOptions) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// withDefaults is the one place that knows the defaults.
func (o Options) withDefaults() Options {
	if o.Path == "" {
		o.Path = "/mcp"
	}
	if o.Leeway == 0 {
		o.Leeway = 30 * time.Second
	}
	o.Leeway = max(o.Leeway, 0)
	if o.VerifyTimeout == 0 {
		o.VerifyTimeout = 10 * time.Second
	}
	if o.ScopesFor == nil {
		o.ScopesFor = func(string, string) []string { return nil }
	}
	if o.Implies == nil {
		o.Implies = func(string, string) bool { return false }
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if o.OnRefuse == nil {
		o.OnRefuse = func(Refusal) {}
	}
	return o
}

// Check returns what is wrong with the options, or nil. Bearer and Metadata panic where it does not return nil; a program
// that reads its options from a file calls it first.
func (o Options) Check() error {
	if o.Verifier == nil {
		return errors.New("auth: Verifier is not set")
	}
	if o.Resource != "" {
		if err := checkOption("Resource", o.Resource, CheckAddress); err != nil {
			return err
		}
	}
	if o.Path != "" && !strings.HasPrefix(o.Path, "/") {
		return fmt.Errorf("auth: Path %q does not begin with a slash", o.Path)
	}
	for _, issuer := range o.AuthorizationServers {
		if err := checkOption("AuthorizationServers", issuer, CheckAddress); err != nil {
			return err
		}
	}
	for _, scope := range append(append([]string(nil), o.Scopes...), o.ScopesSupported...) {
		if !isScope(scope) {
			return fmt.Errorf("auth: %q is no scope: visible ASCII without quotes, backslashes and blanks", scope)
		}
	}
	if o.DPoP != nil {
		return o.DPoP.check()
	}
	return nil
}

// checkOption says which option an address is wrong in.
func checkOption(option, address string, check func(string) error) error {
	if err := check(address); err != nil {
		return fmt.Errorf("auth: %s: %w", option, err)
	}
	return nil
}
