package oauth

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// token is one access token and what belongs to it, as it is stored.
type token struct {
	Issuer   string         `json:"issuer"`
	ClientID string         `json:"client_id"`
	Resource string         `json:"resource"`
	Access   string         `json:"access_token,omitempty"`
	Refresh  string         `json:"refresh_token,omitempty"`
	Asked    []string       `json:"asked,omitempty"` // scopes asked for, over time
	Expires  time.Time      `json:"expires,omitzero"`
	Obtained time.Time      `json:"obtained"`
	LoggedIn time.Time      `json:"logged_in"`          // when the flow ran that all of it began with
	Renewed  bool           `json:"renewed,omitzero"`   // it came by a refresh
	Key      jsontext.Value `json:"dpop_key,omitempty"` // private; the token is bound to it

	proofs *prover
}

// stale tells that a token has expired, or is about to: the shorter of 30 s and a quarter of its life before.
func (t *token) stale(now time.Time) bool {
	if t.Access == "" {
		return true
	}
	if t.Expires.IsZero() {
		return false
	}
	return !now.Before(t.Expires.Add(-min(30*time.Second, t.Expires.Sub(t.Obtained)/4)))
}

// over tells that it has expired for certain.
func (t *token) over(now time.Time) bool {
	return t.Access == "" || !t.Expires.IsZero() && !now.Before(t.Expires)
}

// registration is a client that an authorization server has registered, as it is stored.
type registration struct {
	Issuer   string    `json:"issuer"`
	ClientID string    `json:"client_id"`
	Secret   string    `json:"client_secret,omitempty"`
	Method   string    `json:"method,omitempty"`
	Redirect string    `json:"redirect_uri,omitempty"`
	Expires  time.Time `json:"expires,omitzero"` // of the secret
}

// Keys of the store. A token belongs to a server and a user; a registration besides to an issuer.
func (a *Authorizer) tokenKey() string { return "token " + a.resourceKey() + " " + a.opts.User }

func (a *Authorizer) registrationKey(issuer string) string {
	return "client " + issuer + " " + a.resourceKey() + " " + a.opts.User
}

func (a *Authorizer) bindingKey(clientID string) string {
	return "issuer " + clientID + " " + a.resourceKey() + " " + a.opts.User
}

func (a *Authorizer) resourceKey() string { return canonical(a.server) }

// load reads the stored token; nil when there is none. A record that cannot be read is as good as none.
func (a *Authorizer) load(ctx context.Context) (*token, error) {
	raw, err := a.opts.Store.Get(ctx, a.tokenKey())
	if err != nil || raw == nil {
		return nil, wrap("read the stored token", err)
	}
	var t token
	if err := json.Unmarshal(raw, &t); err != nil {
		a.log.Warn("oauth: the stored token cannot be read and is not used", "server", a.where)
		return nil, nil //nolint:nilerr // a new one will be got and stored over it
	}
	if len(t.Key) > 0 {
		if t.proofs, err = readProver(t.Key); err != nil {
			a.log.Warn("oauth: the stored key cannot be read, its token is not used", "server", a.where)
			return nil, nil //nolint:nilerr // likewise
		}
	}
	return &t, nil
}

func (a *Authorizer) save(ctx context.Context, t *token) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("store the token: %w", err)
	}
	return wrap("store the token", a.opts.Store.Put(ctx, a.tokenKey(), raw))
}

// readStored decodes a stored record; false when there is none, or it cannot be read.
func (a *Authorizer) readStored(ctx context.Context, key string, into any) (bool, error) {
	raw, err := a.opts.Store.Get(ctx, key)
	if err != nil || raw == nil {
		return false, wrap("read what is stored", err)
	}
	return json.Unmarshal(raw, into) == nil, nil
}

func (a *Authorizer) writeStored(ctx context.Context, key string, record any) error {
	raw, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return wrap("store", a.opts.Store.Put(ctx, key, raw))
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
