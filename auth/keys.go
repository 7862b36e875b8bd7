package auth

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	jsonv2 "github.com/go-json-experiment/json"
)

const (
	maxKeys    = 100             // of one key set
	failedWait = 5 * time.Second // before a fetch that failed is tried again
	staleWait  = time.Second     // how long a fetch may hold up who could do with the old keys
	keysLast   = 24 * time.Hour  // how long old keys are good for while no new ones can be had
	minRSABits = 2048            // the library reads none above 4096, which would take long to check with
)

// keySet are the public keys of an issuer, fetched when they are needed and kept for a time. Whoever needs keys that are
// being fetched waits for them, but not for long where the old ones would do.
type keySet struct {
	issuer   string
	url      string // "" until it is found by the issuer's metadata
	client   *http.Client
	life     time.Duration // how long keys are good without a look
	cooldown time.Duration // between two looks for a key that is not there

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	epoch   atomic.Uint64 // how often they have become others
	fetched time.Time     // when the keys came
	tried   time.Time     // when a fetch last began
	failed  error         // of the last fetch
	flight  chan struct{} // closed when the fetch that runs has ended; nil when none runs
}

// find returns the keys that a token may be signed with: the one it names, or all that fit its algorithm. When there are none
// it looks whether the issuer has new ones, but not more often than the cooldown lets it.
func (s *keySet) find(ctx context.Context, kid, algorithm string) ([]jose.JSONWebKey, error) {
	for looked := false; ; looked = true {
		s.mu.Lock()
		fit, wait, err := s.look(ctx, kid, algorithm, looked)
		s.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case wait == nil:
			return fit, nil
		}
		if err := wait.await(ctx); err != nil {
			return nil, err
		}
	}
}

// look returns the keys that fit, or a fetch to wait for; s.mu is held. After one wait it is content with what there is.
func (s *keySet) look(ctx context.Context, kid, algorithm string, looked bool) (fit []jose.JSONWebKey, wait *fetching, err error) {
	now := time.Now()
	age := now.Sub(s.fetched)
	last := max(s.life, keysLast)
	if !s.fetched.IsZero() && age < last {
		fit = fitting(s.keys, kid, algorithm)
	}
	pause := s.cooldown
	if s.failed != nil {
		pause = min(pause, failedWait)
	}
	stale := s.fetched.IsZero() || age >= s.life
	if !looked && (stale || len(fit) == 0) {
		if s.flight == nil && (s.tried.IsZero() || now.Sub(s.tried) >= pause) {
			s.flight, s.tried = make(chan struct{}), now
			go s.run(ctx, s.flight) // ends within fetchTimeout
		}
		switch left := staleWait - now.Sub(s.tried); {
		case s.flight != nil && len(fit) == 0:
			return nil, &fetching{s.flight, math.MaxInt64}, nil
		case s.flight != nil && left > 0:
			return nil, &fetching{s.flight, left}, nil
		}
	}
	switch {
	case len(fit) > 0:
		return fit, nil, nil
	case s.failed != nil:
		return nil, nil, fmt.Errorf("the keys of %s cannot be had: %w", s.issuer, s.failed)
	}
	return nil, nil, Invalidf("the access token is signed with a key that the issuer does not have")
}

// fetching is a fetch that runs, and how long it is worth waiting for.
type fetching struct {
	done chan struct{}
	most time.Duration
}

// await waits for a fetch.
func (f *fetching) await(ctx context.Context) error {
	timer := time.NewTimer(f.most)
	defer timer.Stop()
	select {
	case <-f.done:
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run fetches the keys. It goes on when the request that began it is given up: others wait for it.
func (s *keySet) run(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	keys, err := []jose.JSONWebKey(nil), errors.New("the fetch broke off")
	defer func() {
		if v := recover(); v != nil { // of the client of the options
			err = fmt.Errorf("the fetch broke off: %v", v)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failed = err; err == nil {
			if s.keys != nil && !reflect.DeepEqual(s.keys, keys) {
				s.epoch.Add(1)
			}
			s.keys, s.fetched = keys, time.Now()
		}
		s.flight = nil
		close(done)
	}()
	keys, err = s.fetch(ctx)
}

// fetch gets the key set, after its address when that is not known.
func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	where := s.url
	if where == "" {
		var err error
		if where, err = discover(ctx, s.client, s.issuer); err != nil {
			return nil, err
		}
	}
	body, err := get(ctx, s.client, where)
	if err != nil {
		return nil, err
	}
	return readKeys(body)
}

// discover finds the address of an issuer's keys by its metadata, in the places that MCP names and their order. RFC 8414, 3;
// Spec 2026-07-28, basic/authorization/authorization-server-discovery.
func discover(ctx context.Context, client *http.Client, issuer string) (string, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return "", err
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + "/.well-known/openid-configuration" + path,
		origin + path + "/.well-known/openid-configuration",
	}
	var missing []error
	for _, place := range slices.Compact(places) {
		body, err := get(ctx, client, place)
		if isMissing(err) {
			missing = append(missing, err)
			continue
		}
		if err != nil {
			return "", err
		}
		var doc struct {
			Issuer string `json:"issuer"`
			Keys   string `json:"jwks_uri"`
		}
		switch err := jsonv2.Unmarshal(body, &doc); {
		case err != nil:
			return "", fmt.Errorf("%s cannot be read: %w", place, err)
		case doc.Issuer != issuer:
			return "", fmt.Errorf("%s is the metadata of another issuer", place)
		}
		if err := checkOption("jwks_uri", doc.Keys, CheckEndpoint); err != nil {
			return "", err
		}
		if u.Scheme == "https" && !strings.HasPrefix(strings.ToLower(doc.Keys), "https:") {
			return "", fmt.Errorf("the keys of %s are said to be on this machine, without https://", issuer)
		}
		return doc.Keys, nil
	}
	return "", fmt.Errorf("there is no metadata of %s: %w", issuer, errors.Join(missing...))
}

// readKeys reads a key set. Keys that cannot check a signature are left out, and so are those of kinds that are not known: an
// issuer may have more than we can use.
func readKeys(body []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := jsonv2.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("the key set cannot be read: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && isStrong(&key) && (key.Use == "" || key.Use == "sig") {
			keys = append(keys, key)
		}
	}
	switch {
	case len(keys) == 0:
		return nil, errors.New("the key set holds no public key for signatures")
	case len(keys) > maxKeys:
		return nil, fmt.Errorf("the key set holds %d keys; %d are allowed", len(keys), maxKeys)
	}
	return keys, nil
}

// isStrong takes public keys for signatures. Symmetric ones are none: they would let everybody sign who can check.
func isStrong(key *jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() {
		return false
	}
	if r, ok := key.Key.(*rsa.PublicKey); ok {
		return r.N.BitLen() >= minRSABits
	}
	return true
}

// fitting picks the keys that a token may be signed with. A token without a key id may be signed with any that fits.
func fitting(keys []jose.JSONWebKey, kid, algorithm string) []jose.JSONWebKey {
	var out []jose.JSONWebKey
	for _, key := range keys {
		if (kid == "" || key.KeyID == kid) && (key.Algorithm == "" || key.Algorithm == algorithm) && suits(key.Key, algorithm) {
			out = append(out, key)
		}
	}
	return out
}
