package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Bounds of what is kept of one server.
const (
	mostKeptBytes = 8_000_000
	longestKept   = 24 * time.Hour
	mostAddresses = 10_000 // of resources: beyond it all are forgotten
)

// cache keeps what a server says may be kept of its resources, as long as it says. What it calls public is for everybody;
// all else is for whoever had the connection that it came over, or for the principal, or else the session, that it was answered
// to, and for nobody where none is known. It is one for all connections to the server.
//
// An answer goes early when the server says that it or what lies above or below it has changed, or that the lists of resources
// have, when a connection is opened anew, and when the entry of the server changes. An answer that is under way then is handed
// over and not kept, so that nothing old stays, without comparing clocks.
type cache struct {
	mu        sync.Mutex
	tuning    CacheTuning
	store     client.CacheStore
	flights   map[*flight]struct{}
	shared    map[string]*flight  // those that equal calls wait for
	addresses map[string]struct{} // that there may be an answer for
	keeps     bool                // the last answer was to be kept: it is worth to wait for another's
}

// flight is one read under way.
type flight struct {
	uri     string
	private client.CacheKey // Variant is empty where nobody knows whom it is for
	public  client.CacheKey
	done    chan struct{}
	answer  *Answer // good for those who wait; nil where there is no such answer
	spoiled bool    // guarded by cache.mu
}

func newCache(t CacheTuning) *cache {
	c := &cache{flights: make(map[*flight]struct{}), shared: make(map[string]*flight)}
	c.tune(t)
	return c
}

// tune takes up a tuning. One that keeps something else forgets all.
func (c *cache) tune(t CacheTuning) {
	if t.Max == 0 {
		t.Max = mostKeptBytes
	}
	if t.MaxTTL == 0 {
		t.MaxTTL = longestKept
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.tuning
	c.tuning = t
	old.Lists = t.Lists // is about no answer that is kept
	if old == t {
		return
	}
	c.empty()
}

// empty begins with a new store. c.mu is held.
func (c *cache) empty() {
	c.spoil(func(string) bool { return true })
	c.store, c.addresses = nil, make(map[string]struct{})
	if !c.tuning.Off {
		c.store = client.NewMemoryCache(-1, c.tuning.Max)
	}
}

// do answers a read of a reader from what is kept, or by ask.
func (c *cache) do(ctx context.Context, call Call, reader string, ask func(context.Context) (*Answer, error)) (*Answer, error) {
	store, f := c.flightOf(call, reader)
	if store == nil {
		return ask(ctx)
	}
	if answer := look(ctx, store, f); answer != nil {
		return answer, nil
	}
	other := c.begin(f)
	if other != nil {
		select {
		case <-other.done:
			if other.answer != nil {
				kept := *other.answer
				kept.Kept = true
				return &kept, nil
			}
			c.lead(f)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer c.end(f)
	answer, err := ask(ctx)
	if err == nil {
		c.settle(ctx, store, f, answer)
	}
	return answer, err
}

// isRead tells whether the answer to a call may be kept.
func (c *Call) isRead() bool {
	return c.Method == mcp.MethodReadResource && c.InputResponses == nil && c.RequestState == nil
}

// flightOf gives a read for a call; no store where nothing is kept of it.
func (c *cache) flightOf(call Call, reader string) (client.CacheStore, *flight) {
	c.mu.Lock()
	store := c.store
	c.mu.Unlock()
	raw, _ := jsonrpc.Member(call.Params, "uri")
	uri, ok := jsonrpc.Text(raw)
	if store == nil || !ok || uri == "" {
		return nil, nil
	}
	question := []string{string(withoutRide(call.Params)), ""}
	if from := call.Caller; from != nil {
		question[1] = string(from.Capabilities)
	}
	f := &flight{uri: uri, done: make(chan struct{})}
	f.public = client.CacheKey{Method: call.Method, URI: uri, Variant: digestOf(append(question, "public")...)}
	f.private = client.CacheKey{Method: call.Method, URI: uri}
	if reader != "" {
		f.private.Variant = digestOf(append(question, "private", reader)...)
	}
	return store, f
}

// withoutRide takes out of params what rides along and does not change the answer.
func withoutRide(params json.RawMessage) json.RawMessage {
	meta, ok := jsonrpc.Member(params, "_meta")
	if !ok || !jsonrpc.IsObject(meta) {
		return params
	}
	return jsonrpc.With(nil, params, "_meta", jsonrpc.Without(meta, mcp.MetaProgressToken, mcp.MetaTraceParent, mcp.MetaTraceState, mcp.MetaBaggage))
}

func digestOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = h.Write(strconv.AppendInt(nil, int64(len(part)), 10)) // a hash takes everything
		_, _ = h.Write([]byte{':'})
		_, _ = h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// look finds a fresh answer. It may be kept as long as is left of its time.
func look(ctx context.Context, store client.CacheStore, f *flight) *Answer {
	for _, key := range []client.CacheKey{f.private, f.public} {
		if key.Variant == "" {
			continue
		}
		entry, ok, err := store.Get(ctx, key)
		if left := time.Until(entry.Fresh); err == nil && ok && left > 0 {
			return &Answer{Result: entry.Result, Cache: mcp.CacheFor(left, entry.Scope), Kept: true}
		}
	}
	return nil
}

// begin enters a read, or finds one under way whose answer will do.
func (c *cache) begin(f *flight) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := f.public.Variant + f.private.Variant
	if other := c.shared[name]; other != nil {
		return other
	}
	c.flights[f] = struct{}{}
	if c.keeps {
		c.shared[name] = f
	}
	return nil
}

// lead enters a read that nobody waits for.
func (c *cache) lead(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flights[f] = struct{}{}
}

// end lets those go on who wait for a read.
func (c *cache) end(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, f)
	c.unshare(f)
	close(f.done)
}

// unshare sees to it that nobody begins to wait for a read. c.mu is held.
func (c *cache) unshare(f *flight) {
	if name := f.public.Variant + f.private.Variant; c.shared[name] == f {
		delete(c.shared, name)
	}
}

// settle keeps an answer that may be kept.
func (c *cache) settle(ctx context.Context, store client.CacheStore, f *flight, answer *Answer) {
	place := f.private
	if answer.Cache.Scope == mcp.CachePublic {
		place = f.public
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ttl := min(answer.Cache.TTL(), c.tuning.MaxTTL)
	c.keeps = ttl > 0
	if ttl <= 0 || place.Variant == "" || answer.Result == nil || f.spoiled || c.store != store {
		return
	}
	if len(c.addresses) >= mostAddresses {
		c.empty()
		store = c.store
	}
	fresh := time.Now().Add(ttl)
	// A store in memory, which fails only with the context.
	err := store.Put(context.WithoutCancel(ctx), place, client.CacheEntry{Result: answer.Result, Scope: answer.Cache.Scope, Fresh: fresh, Keep: fresh})
	if err == nil {
		c.addresses[f.uri] = struct{}{}
		f.answer = answer
	}
}

// clear forgets all.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.empty()
}

// updated forgets a resource, what lies below it, and what it lies in.
func (c *cache) updated(uri string) {
	related := func(known string) bool { return strings.HasPrefix(known, uri) || strings.HasPrefix(uri, known) }
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spoil(related)
	for known := range c.addresses {
		if related(known) {
			delete(c.addresses, known)
			_ = c.store.Drop(context.Background(), client.CacheKey{Method: mcp.MethodReadResource, URI: known}) // a store in memory does not fail
		}
	}
}

// spoil sees to it that reads that are under way are not kept. c.mu is held.
func (c *cache) spoil(which func(uri string) bool) {
	for f := range c.flights {
		if which(f.uri) {
			f.spoiled = true
			c.unshare(f)
		}
	}
}
