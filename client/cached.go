package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// storeTime bounds one operation of a store.
const storeTime = 5 * time.Second

// cache is what a client does with a CacheStore: it finds the keys, and sees to it that nothing old is kept after news of a
// change. Its methods may be called concurrently.
type cache struct {
	c     *Client
	opts  CacheOptions
	store CacheStore
	base  string // of CacheKey.Server
	own   string // the partition of a client whose calls are all made for the same one

	mu      sync.Mutex
	fetches map[*fetch]struct{} // under way
	shared  map[string]*fetch   // those that equal calls wait for, by the name of their keys
	idle    map[string]bool     // methods whose last answer was not to be kept: nobody waits for another's
}

// fetch is one request whose answer may be kept.
type fetch struct {
	keys    keys
	done    chan struct{} // closed when outcome is set
	outcome *era.Outcome  // good for those who wait; nil where there is no such answer
	floor   time.Duration // how long the answer is kept when the server does not say
	spoiled bool          // what it asks for has changed since it began; guarded by cache.mu
}

// fetching marks the context of a fetch: a call that is made on its way must not wait for it.
type fetching struct{}

// keys are the two places that an answer may have. The private one is empty when nobody knows on whose behalf it comes.
type keys struct{ public, private CacheKey }

func newCache(c *Client) *cache {
	o := c.opts.Cache
	if o.Off {
		return nil
	}
	if o.MaxTTL == 0 {
		o.MaxTTL = 24 * time.Hour
	}
	if o.Store == nil {
		o.Store = NewMemoryCache(0, 0)
	}
	k := &cache{c: c, opts: o, store: o.Store, own: rand.Text(), fetches: map[*fetch]struct{}{}, shared: map[string]*fetch{}, idle: map[string]bool{}}
	at := c.to.key
	if at == "" || c.to.sibling { // nobody but this client talks to what is behind it
		at = k.own
	}
	can, err := encode(c.declared)
	if err != nil {
		can = []byte(k.own) // what cannot be compared is not shared
	}
	k.base = keyOf(at, string(can), headerText(c.opts.Headers))
	return k
}

// headerText writes what headers say, credentials aside.
func headerText(h http.Header) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		switch canonical := http.CanonicalHeaderKey(name); canonical {
		case "Authorization", "Cookie", "Proxy-Authorization":
		default:
			all = append(all, fmt.Sprintf("%q:%q", canonical, h[name]))
		}
	}
	return fmt.Sprint(all)
}

func (k *cache) serverOf(l *live) string { return k.base + "/" + l.codec.Revision() }

// keysOf finds where the answer to a call is kept.
func (k *cache) keysOf(ctx context.Context, l *live, method, name string, params json.RawMessage, o *CallOptions) keys {
	meta := o.Meta
	for _, ride := range []string{mcp.MetaTraceParent, mcp.MetaTraceState, mcp.MetaBaggage, mcp.MetaProgressToken} {
		meta = meta.Without(ride)
	}
	call := []string{string(params), string(meta), headerText(o.Headers)}
	key := CacheKey{Server: k.serverOf(l), Method: method}
	if method == mcp.MethodReadResource {
		key.URI = name
	}
	both := keys{public: key}
	both.public.Variant = keyOf(append(call, "public")...)
	who := k.own
	if k.opts.Partition != nil {
		who = k.opts.Partition(ctx)
	}
	if who != "" {
		both.private = key
		both.private.Variant = keyOf(append(call, "private", who)...)
	}
	return both
}

// takes tells whether a call may have to do with kept answers.
func (k *cache) takes(l *live, method string, o *CallOptions) bool {
	if k == nil || o.Cache == CacheBypass || o.InputResponses != nil || o.RequestState != nil {
		return false
	}
	return l.codec.Traits().CacheHints || k.floor(method, o) > 0
}

func (k *cache) floor(method string, o *CallOptions) time.Duration {
	if method == mcp.MethodReadResource {
		return 0
	}
	return max(k.opts.Floor, o.CacheFloor)
}

// ask answers a call from what is kept, or by asking the server. kept tells that the answer is not of this moment.
func (c *Client) ask(ctx context.Context, method, name string, params json.RawMessage, o CallOptions, l limits) (outcome *era.Outcome, kept bool, err error) {
	if !c.cache.takes(c.now(), method, &o) {
		outcome, err = c.call(ctx, method, params, o, l)
		return outcome, false, err
	}
	if err := c.usable(); err != nil {
		return nil, false, err
	}
	k := c.cache
	keys := k.keysOf(ctx, c.now(), method, name, params, &o)
	var entry CacheEntry
	var found bool
	if o.Cache == CacheUse {
		if entry, found = k.look(ctx, keys); found && time.Now().Before(entry.Fresh) {
			return entry.outcome(), true, nil
		}
	}
	f, leads := k.begin(keys, o.Cache == CacheUse && ctx.Value(fetching{}) == nil)
	if !leads {
		outcome, err := f.wait(ctx, pick(o.Timeout, l.timeout))
		if outcome != nil || err != nil {
			return outcome, true, err
		}
		f, _ = k.begin(keys, false)
	}
	defer k.end(f)
	f.floor = k.floor(method, &o)
	ctx = context.WithValue(ctx, fetching{}, true)
	if outcome, err = c.call(ctx, method, params, o, l); err == nil {
		k.settle(ctx, f, outcome, found || o.Cache == CacheRefresh)
		return outcome, false, nil
	}
	if found && time.Now().Before(entry.Keep) && k.opts.StaleOnError > 0 && isOutage(ctx, err) && !k.isSpoiled(f) {
		c.faults.report(c.named("an old answer to %s is used: %w", method, err))
		return entry.outcome(), true, nil
	}
	return nil, false, err
}

// look finds an answer that is of use yet, the fresher of the two.
func (k *cache) look(ctx context.Context, keys keys) (best CacheEntry, found bool) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	for _, key := range []CacheKey{keys.private, keys.public} {
		if key.Variant == "" {
			continue
		}
		entry, ok, err := k.store.Get(ctx, key)
		switch {
		case err != nil && ctx.Err() == nil:
			k.c.faults.report(fmt.Errorf("kept answers: %w", err))
		case err == nil && ok && time.Now().Before(entry.Keep) && isObject(entry.Result) && (!found || entry.Fresh.After(best.Fresh)):
			best, found = entry, true
		}
	}
	return best, found
}

// outcome makes an answer of an entry; the time it may be kept is what is left of it.
func (e *CacheEntry) outcome() *era.Outcome {
	return &era.Outcome{Result: e.Result, Cache: mcp.CacheFor(time.Until(e.Fresh), e.Scope)}
}

// begin enters a fetch, or finds one under way whose answer will do.
func (k *cache) begin(keys keys, share bool) (f *fetch, leads bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	share = share && !k.idle[keys.public.Method]
	name := keys.name()
	if f := k.shared[name]; share && f != nil {
		return f, false
	}
	f = &fetch{keys: keys, done: make(chan struct{})}
	k.fetches[f] = struct{}{}
	if share {
		k.shared[name] = f
	}
	return f, true
}

// end lets those go on who wait for a fetch.
func (k *cache) end(f *fetch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.fetches, f)
	k.unshare(f)
	close(f.done)
}

// unshare sees to it that nobody begins to wait for a fetch; k.mu is held.
func (k *cache) unshare(f *fetch) {
	if name := f.keys.name(); k.shared[name] == f {
		delete(k.shared, name)
	}
}

// name tells equal fetches from others.
func (k *keys) name() string {
	return k.public.Method + k.public.Server + k.public.Variant + k.private.Variant + k.public.URI
}

func (k *cache) isSpoiled(f *fetch) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return f.spoiled
}

// wait waits for the fetch of another call. It answers nil when that brings nothing that may be shared.
func (f *fetch) wait(ctx context.Context, limit time.Duration) (*era.Outcome, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, mcp.Errorf(mcp.CodeRequestTimeout, "no answer within %s", limit))
		defer cancel()
	}
	select {
	case <-f.done:
		if f.outcome == nil {
			return nil, nil
		}
		copied := *f.outcome
		return &copied, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// settle keeps an answer that may be kept. replaces tells that there may be an older one.
func (k *cache) settle(ctx context.Context, f *fetch, outcome *era.Outcome, replaces bool) {
	method := f.keys.public.Method
	ttl := outcome.Cache.TTL()
	if outcome.Cache.TTLMs == nil {
		ttl = f.floor
	}
	if k.opts.MaxTTL > 0 {
		ttl = min(ttl, k.opts.MaxTTL)
	}
	place, other := f.keys.private, f.keys.public
	if outcome.Cache.Scope == mcp.CachePublic {
		place, other = other, place
	}
	keeps := ttl > 0 && place.Variant != "" && outcome.ResultType == ""
	k.mu.Lock()
	k.idle[method] = ttl <= 0
	keeps = keeps && !f.spoiled
	k.mu.Unlock()
	if !keeps {
		if replaces {
			k.drop(ctx, place, other)
		}
		return
	}
	now := time.Now()
	entry := CacheEntry{Result: outcome.Result, Scope: outcome.Cache.Scope, Fresh: now.Add(ttl), Keep: now.Add(ttl + max(k.opts.StaleOnError, 0))}
	f.outcome = outcome
	k.put(ctx, place, entry)
	if k.isSpoiled(f) { // between the look above and the end of put
		k.drop(ctx, place)
	}
	if replaces {
		k.drop(ctx, other)
	}
}

func (k *cache) put(ctx context.Context, key CacheKey, entry CacheEntry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	if err := k.store.Put(ctx, key, entry); err != nil {
		k.c.faults.report(fmt.Errorf("keep an answer to %s: %w", key.Method, err))
	}
}

// drop forgets single answers.
func (k *cache) drop(ctx context.Context, all ...CacheKey) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	for _, key := range all {
		if key.Variant == "" {
			continue
		}
		if err := k.store.Drop(ctx, key); err != nil {
			k.c.faults.report(fmt.Errorf("forget an answer to %s: %w", key.Method, err))
		}
	}
}

// isOutage tells whether a call failed because the server is not there or not well, and not by anything the caller did.
func isOutage(ctx context.Context, err error) bool {
	var status *transport.StatusError
	var fault *mcp.Error
	var network net.Error
	switch {
	case ctx.Err() != nil || errors.Is(err, ErrUnauthorized) || errors.Is(err, mcp.CodeNotConnected):
		return false
	case errors.As(err, &fault) && fault.Remote:
		return fault.Code == mcp.CodeInternal
	case errors.As(err, &status):
		return status.Status >= 500 || status.Status == http.StatusTooManyRequests
	}
	return errors.As(err, &network) || errors.Is(err, mcp.CodeConnectionClosed) || errors.Is(err, mcp.CodeRequestTimeout)
}
