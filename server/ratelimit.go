package server

import (
	"context"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// RateLimitOptions configures [RateLimit].
type RateLimitOptions struct {
	// PerSecond is how many requests may come in a second in the long run. It must be positive, and may be less than one.
	PerSecond float64

	// Burst is how many may come at once after a pause. Zero or less means PerSecond, and at least one.
	Burst int

	// Key says whose requests are counted together. It may be called concurrently. Nil means those of a principal, else those
	// of a network address, else those of a pipe. Behind a proxy all come from its address; tell them apart by a header that
	// it sets.
	Key func(*Request) string

	// MaxKeys bounds how many are counted apart. When there are more at a time, the further ones are counted as one. Zero or
	// less means 100,000.
	MaxKeys int
}

func (o RateLimitOptions) withDefaults() RateLimitOptions {
	if o.Burst <= 0 {
		o.Burst = int(max(1, math.Ceil(o.PerSecond)))
	}
	if o.Key == nil {
		o.Key = sender
	}
	if o.MaxKeys <= 0 {
		o.MaxKeys = 100_000
	}
	return o
}

// sender names who has sent a request.
func sender(req *Request) string {
	if who := req.Principal(); !who.IsZero() {
		return "principal " + who.Key()
	}
	if address := req.RemoteAddr(); address != "" {
		if host, _, err := net.SplitHostPort(address); err == nil {
			address = host
		}
		return "address " + address
	}
	return fmt.Sprintf("pipe %p", req.in.Peer)
}

// RateLimit refuses requests that come too fast, with an error whose data say after how many milliseconds to try again.
// Pings pass. It panics when PerSecond is not a positive number.
func RateLimit(o RateLimitOptions) Middleware {
	if !(o.PerSecond > 0) || math.IsInf(o.PerSecond, 0) {
		panic("server: RateLimit needs a positive number of requests per second")
	}
	o = o.withDefaults()
	limit := buckets{rate: o.PerSecond, burst: float64(o.Burst), most: o.MaxKeys, of: make(map[string]*bucket)}
	return func(next Call) Call {
		return func(ctx context.Context, req *Request) (*Result, error) {
			if passes(req) {
				return next(ctx, req)
			}
			if wait := limit.take(o.Key(req), time.Now()); wait > 0 {
				return nil, mcp.Errorf(mcp.CodeInternal, "Too many requests; try again in %s", wait).
					WithData(map[string]int64{"retryAfterMs": wait.Milliseconds()})
			}
			return next(ctx, req)
		}
	}
}

// buckets count requests: each key has a bucket of tokens that fills by itself.
type buckets struct {
	rate, burst float64 // tokens a second, tokens at most
	most        int

	mu    sync.Mutex
	of    map[string]*bucket
	rest  bucket    // of all keys beyond most
	swept time.Time // when full buckets were last thrown away
}

type bucket struct {
	tokens float64
	at     time.Time // when tokens was right; zero for a full one
}

// take takes a token. The answer is how long to wait for one when there is none, in whole milliseconds, else 0.
func (b *buckets) take(key string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.bucket(key, now)
	own.tokens, own.at = b.level(own, now), now
	if own.tokens >= 1 {
		own.tokens--
		return 0
	}
	missing := (1 - own.tokens) / b.rate * 1000 // in milliseconds
	return time.Duration(math.Ceil(min(missing, float64(math.MaxInt32)))) * time.Millisecond
}

// level is how many tokens a bucket holds now.
func (b *buckets) level(own *bucket, now time.Time) float64 {
	if own.at.IsZero() {
		return b.burst
	}
	return min(b.burst, own.tokens+max(0, now.Sub(own.at).Seconds())*b.rate)
}

func (b *buckets) bucket(key string, now time.Time) *bucket {
	if own := b.of[key]; own != nil {
		return own
	}
	if len(b.of) >= b.most {
		b.sweep(now)
	}
	if len(b.of) >= b.most {
		return &b.rest
	}
	own := &bucket{}
	b.of[key] = own
	return own
}

// sweep throws away full buckets, which are as good as none, but not again before others can have become full: looking at
// all of them takes its time.
func (b *buckets) sweep(now time.Time) {
	if now.Sub(b.swept).Seconds() < 1/b.rate {
		return
	}
	b.swept = now
	for key, own := range b.of {
		if b.level(own, now) >= b.burst {
			delete(b.of, key)
		}
	}
}
