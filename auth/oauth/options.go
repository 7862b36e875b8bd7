package oauth

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// Options configures an Authorizer. Flow is required; everything else is ready to use at zero. For the durations zero
// means the default and a negative value means no limit.
type Options struct {
	// Flow says how a token is got.
	Flow Flow

	// Credentials are clients that authorization servers know already. One with an Issuer is used at that issuer alone; one
	// without is bound to the first issuer it is used at, and refused at any other afterwards.
	Credentials []Credentials

	// ClientMetadataURL is the address of a document of yours that describes the client (a Client ID Metadata Document). It
	// is the client's id at authorization servers which read such documents. An https address with a path.
	ClientMetadataURL string

	// NoRegistration never registers a client at an authorization server.
	NoRegistration bool

	// ClientName and ClientURI are shown to people by authorization servers where the client is registered. The name is
	// "MCP client" by default.
	ClientName, ClientURI string

	// Scopes are asked for besides those that the server names.
	Scopes []string

	// NoOffline does not ask for offline_access where an authorization server offers it, which is what long logins need.
	NoOffline bool

	// Issuer is the authorization server where the MCP server names none.
	Issuer string

	// Choose picks one of several authorization servers. Nil means those that there are credentials for, then those of
	// tokens at hand, then the order of the server; one that cannot be used is passed over.
	Choose func(ctx context.Context, issuers []string) (string, error)

	// OldDiscovery allows the rules of 2025-03-26 for servers that answer 404 at both places of their metadata: the
	// authorization server is then at the root of the MCP server's own address, with default endpoints where it has no
	// metadata either.
	OldDiscovery bool

	// DPoP says when tokens are bound to a key of this client.
	DPoP DPoP

	// Store keeps tokens and registrations. Nil means a store in memory, for this authorizer alone.
	Store Store

	// User tells several users of one server apart in the store.
	User string

	// LoginTimeout bounds how long a person may take; 5 min. Others who need the token wait as well, as long as their own
	// contexts allow; the login goes on when nobody waits.
	LoginTimeout time.Duration

	// Pause is how long a refused or failed login, or refused credentials, are not tried again on their own; 30 s. Login
	// tries at once.
	Pause time.Duration

	// FetchTimeout bounds one request to an authorization server, or for metadata; 10 s, at least 1 ms.
	FetchTimeout time.Duration

	// MaxBodyBytes bounds one answer to such a request. Zero or less means 1 MiB.
	MaxBodyBytes int64

	// Base does the requests to the MCP server. Nil means a transport of its own.
	Base http.RoundTripper

	// Transport is the pattern of the transport for all other requests: for certificates of your own, or a proxy. Its
	// dialer is replaced by one that refuses private addresses, except where Proxy is set: a proxy looks names up by
	// itself, and has to guard them itself. Nil means one without a proxy.
	Transport *http.Transport

	// PlainHTTP allows http addresses outside of this machine, for closed networks: tokens then travel unprotected.
	PlainHTTP bool

	// Logger gets records of logins, refreshes and their failures, without secrets. Nil means silence.
	Logger *slog.Logger
}

// DPoP says when access tokens are bound to a key (RFC 9449).
type DPoP uint8

// When tokens are bound.
const (
	DPoPWhenAsked DPoP = iota // where the MCP server demands it
	DPoPAlways
	DPoPNever
)

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
		if *d < 0 {
			*d = 1<<63 - 1
		}
	}
	set(&o.LoginTimeout, 5*time.Minute)
	set(&o.FetchTimeout, 10*time.Second)
	if o.Pause == 0 {
		o.Pause = 30 * time.Second
	}
	o.Pause = max(o.Pause, 0)
	if o.MaxBodyBytes <= 0 {
		o.MaxBodyBytes = 1 << 20
	}
	if o.ClientName == "" {
		o.ClientName = "MCP client"
	}
	if o.Store == nil {
		o.Store = NewMemoryStore(0)
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second,
			MaxResponseHeaderBytes: 256 << 10}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
