package auth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// IntrospectionOptions configures [NewIntrospection]. URL and Issuer must be set.
type IntrospectionOptions struct {
	// URL is the introspection endpoint of the authorization server.
	URL string

	// Issuer is the authorization server, for the principal. An answer that names another one is refused.
	Issuer string

	// ClientID and ClientSecret are what this server shows to the endpoint, as HTTP Basic.
	ClientID, ClientSecret string

	// AnyAudience takes tokens about which the answer names no audience: for servers that answer only about tokens for the
	// resource that asks. Otherwise such tokens are refused.
	AnyAudience bool

	// CacheFor is how long an answer that a token is good is believed, at most until the token ends: a token that is revoked is
	// taken that much longer. Zero means 30 s; negative means that each request asks.
	CacheFor time.Duration

	// MaxCached bounds the answers that are kept; beyond it the oldest go. Zero or less means 10,000.
	MaxCached int

	// MaxInFlight bounds the questions at once, of which there is one for a token; beyond it requests are refused with 503. Zero or less means 64.
	MaxInFlight int

	// Timeout bounds one question. Zero or less means 5 s.
	Timeout time.Duration

	// HTTPClient asks. Nil means one that follows no redirects.
	HTTPClient *http.Client
}

// String names the endpoint and the client, without the secret; so do GoString, LogValue and MarshalText.
func (o IntrospectionOptions) String() string {
	return fmt.Sprintf("auth.IntrospectionOptions{URL: %q, ClientID: %q}", o.URL, o.ClientID)
}

// GoString is String, for %#v.
func (o IntrospectionOptions) GoString() string { return o.String() }

// LogValue is String, for package slog.
func (o IntrospectionOptions) LogValue() slog.Value { return slog.StringValue(o.String()) }

// MarshalText is String, for logs in JSON.
func (o IntrospectionOptions) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Introspection is a Verifier that asks the authorization server about each token (RFC 7662). Its methods may be called
// concurrently. When the server does not answer, no token is good that is not in the cache.
type Introspection struct {
	opts   IntrospectionOptions
	client *http.Client
	places chan struct{}

	mu     sync.Mutex
	known  map[[sha256.Size]byte]answer
	order  [][sha256.Size]byte // oldest first; holds each key of known once
	asking map[[sha256.Size]byte]*question
}

// question is one that is out. token and err are set when done is closed.
type question struct {
	done  chan struct{}
	token *Token
	err   error
}

// answer is what is remembered of a good token.
type answer struct {
	token *Token
	until time.Time
}

var _ Verifier = (*Introspection)(nil)

// String names the endpoint and nothing that is known of tokens; so does GoString.
func (v *Introspection) String() string { return "auth.Introspection at " + v.opts.URL }

// GoString is String, for %#v.
func (v *Introspection) GoString() string { return v.String() }

// NewIntrospection makes a verifier. It asks nothing yet.
func NewIntrospection(o IntrospectionOptions) (*Introspection, error) {
	if err := checkOption("URL", o.URL, CheckAddress); err != nil {
		return nil, err
	}
	if o.Issuer == "" {
		return nil, errors.New("auth: Issuer is not set")
	}
	if o.CacheFor == 0 {
		o.CacheFor = 30 * time.Second
	}
	if o.MaxCached <= 0 {
		o.MaxCached = 10_000
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 64
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	return &Introspection{
		opts: o, client: clientFor(o.HTTPClient), places: make(chan struct{}, o.MaxInFlight),
		known: make(map[[sha256.Size]byte]answer), asking: make(map[[sha256.Size]byte]*question),
	}, nil
}

// Verify implements Verifier.
func (v *Introspection) Verify(ctx context.Context, token string) (*Token, error) {
	known, q, err := v.look(ctx, token)
	if q != nil {
		select {
		case <-q.done:
			known, err = q.token, q.err
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	own := *known // handlers get a pointer to what is in it, each to its own
	return &own, nil
}

// look returns what is known of a token, or the question that is out about it: one for all who want to know at once.
func (v *Introspection) look(ctx context.Context, token string) (*Token, *question, error) {
	key := sha256.Sum256([]byte(token))
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.known[key]; ok && time.Now().Before(known.until) {
		return known.token, nil, nil
	}
	if q := v.asking[key]; q != nil {
		return nil, q, nil
	}
	select {
	case v.places <- struct{}{}:
	default:
		return nil, nil, errors.New("too many tokens are being asked about at once")
	}
	q := &question{done: make(chan struct{}), err: errors.New("introspection broke off")}
	if v.opts.CacheFor >= 0 { // else each request wants an answer of its own
		v.asking[key] = q
	}
	go v.run(context.WithoutCancel(ctx), key, token, q) // ends within Timeout
	return nil, q, nil
}

// run puts a question. It goes on when the request that began it is given up: others wait for it.
func (v *Introspection) run(ctx context.Context, key [sha256.Size]byte, token string, q *question) {
	defer func() {
		if p := recover(); p != nil { // of the client of the options; what it says may hold the token
			q.err = fmt.Errorf("introspection broke off with a panic of the type %T", p)
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.asking[key] == q {
			delete(v.asking, key)
		}
		if q.err == nil {
			v.remember(key, q.token)
		}
		<-v.places
		close(q.done)
	}()
	q.token, q.err = v.ask(ctx, token)
}

// ask puts the question.
func (v *Introspection) ask(ctx context.Context, token string) (*Token, error) {
	ctx, cancel := context.WithTimeout(ctx, v.opts.Timeout)
	defer cancel()
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, v.opts.URL, strings.NewReader(form))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if v.opts.ClientID != "" { // RFC 6749, 2.3.1: both are encoded first
		req.SetBasicAuth(url.QueryEscape(v.opts.ClientID), url.QueryEscape(v.opts.ClientSecret))
	}
	body, err := fetchJSON(v.client, req)
	if err != nil {
		return nil, fmt.Errorf("introspection: %w", err)
	}
	return v.read(body)
}

// read makes a Token of an answer.
//
// Shape: {"active": bool, ...} with the claims of a token beside it. RFC 7662, 2.2.
func (v *Introspection) read(body []byte) (*Token, error) {
	var said struct {
		Active *bool  `json:"active"`
		User   string `json:"username"`
	}
	if err := jsonv2.Unmarshal(body, &said); err != nil || said.Active == nil {
		return nil, errors.New("introspection: the answer does not say whether the token is active")
	}
	if !*said.Active {
		return nil, Invalidf("the access token is not, or no longer, good")
	}
	var about claims
	switch err := jsonv2.Unmarshal(body, &about); {
	case err != nil:
		return nil, errors.New("introspection: the answer about an active token cannot be read")
	case about.Issuer != "" && about.Issuer != v.opts.Issuer:
		return nil, Invalidf("the access token is from another issuer")
	}
	about.Issuer = v.opts.Issuer
	if about.Subject == "" {
		about.Subject = said.User
	}
	out, err := about.token(json.RawMessage(body))
	if err != nil {
		return nil, err
	}
	out.Ours = v.opts.AnyAudience && len(out.Audience) == 0
	return out, nil
}

// remember keeps an answer. One that is there already keeps its place in the order. v.mu is held.
func (v *Introspection) remember(key [sha256.Size]byte, found *Token) {
	if v.opts.CacheFor < 0 {
		return
	}
	until := time.Now().Add(v.opts.CacheFor)
	if !found.Expiry.IsZero() && found.Expiry.Before(until) {
		until = found.Expiry
	}
	if _, ok := v.known[key]; !ok {
		for len(v.order) >= v.opts.MaxCached {
			delete(v.known, v.order[0])
			v.order = v.order[1:]
		}
		v.order = append(v.order, key)
	}
	v.known[key] = answer{found, until}
}
