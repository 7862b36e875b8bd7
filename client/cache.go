package client

import (
	"context"
	"encoding/json"
	"time"
)

// CacheMode says what one call does with kept answers. Lists and reads of resources have them; other calls look at none.
type CacheMode uint8

// The modes.
const (
	CacheUse     CacheMode = iota // an answer that is fresh is used, else the server is asked
	CacheRefresh                  // the server is asked, and its answer kept
	CacheBypass                   // the server is asked, and nothing is kept
)

// CacheOptions says which answers are kept and for whom. The zero value keeps in memory, for this client alone, what a
// server says may be kept, as long as it says. Spec 2026-07-28, server/utilities/caching.
//
// An answer goes early when the server tells of a change, as far as the client hears of it: see [Client.Subscribe],
// [Client.OnToolsChange]. After a gap in the news, and when a connection was opened anew, nothing of the server is kept.
// Answers that came by way of the server's questions are never kept. The raw door keeps nothing.
//
// A kept answer passes no middleware. Clients that share a store must not differ in middleware that makes the server answer
// differently.
type CacheOptions struct {
	// Off keeps nothing and uses nothing.
	Off bool

	// Store keeps the answers. Clients may share one: what a server calls public is then used by all of them that are
	// connected to the same address over HTTP, speak the same revision, declare the same capabilities and send the same
	// Options.Headers, credentials aside. Nil means a [MemoryCache] of this client.
	Store CacheStore

	// Partition names on whose behalf a call is made, by an id of the user or a digest of the token, from the context of the
	// call. What a server does not call public is used for the same name alone; for the empty one it is not kept. It must be
	// set where calls for several users go through one client, and where clients are to share answers for the same user. Nil
	// means that all calls of this client are made for the same one, whom it shares with no other client.
	Partition func(ctx context.Context) string

	// Floor is how long a page of a list of a legacy server is kept, which has no way to say. A modern one that does not say
	// counts as one that says not at all. Zero keeps none.
	Floor time.Duration

	// MaxTTL bounds how long an answer counts as fresh. Zero means 24 h; negative means no bound.
	MaxTTL time.Duration

	// StaleOnError is how long an answer that is no longer fresh may be used when the server cannot be reached, does not
	// answer in time or fails. It is reported to Options.OnError. What the server has said to have changed is never used.
	// Zero means not at all.
	StaleOnError time.Duration
}

// CacheStore keeps answers of servers. [MemoryCache] is one; package client/cachetest holds any to what is promised here.
// Its methods are called concurrently, and fail with the cause of ctx when that has ended. What they fail with is reported,
// and the server is asked.
type CacheStore interface {
	// Get returns the answer under a key, and false where there is none. The answer must not be changed.
	Get(ctx context.Context, key CacheKey) (CacheEntry, bool, error)

	// Put keeps an answer in the place of the one that was there. A store may forget it at any time, and from entry.Keep
	// on it should.
	Put(ctx context.Context, key CacheKey, entry CacheEntry) error

	// Drop forgets all answers whose keys agree with key in the members that are not empty.
	Drop(ctx context.Context, key CacheKey) error
}

// CacheKey says what an answer answers. The members are filled from the first on in a Drop: all of a server, all of a
// method, all of one resource, one alone.
type CacheKey struct {
	Server  string // a digest of the address and of what is said to it, and the revision
	Method  string
	URI     string // of the resource in resources/read
	Variant string // a digest: the cursor, on whose behalf, and what else the call carries
}

// CacheEntry is an answer that is kept. It has a JSON form.
type CacheEntry struct {
	Result json.RawMessage `json:"result"` // neutral: without the members that only one era has
	Scope  string          `json:"scope"`  // as the server said; "" for nothing
	Fresh  time.Time       `json:"fresh"`  // until when it is used without a question
	Keep   time.Time       `json:"keep"`   // until when it may be of use at all
}

// ClearCache forgets the answers of this server, for everybody who shares the store.
func (c *Client) ClearCache(ctx context.Context) error {
	if c.cache == nil {
		return nil
	}
	return c.cache.forget(ctx, CacheKey{Server: c.cache.serverOf(c.now())})
}
