package policy

import (
	"container/list"
	"context"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/rialto-mcp/rialto/mcp"
)

// defaultKeys bounds what one limit counts apart.
const defaultKeys = 10_000

// counts keeps the limits in use, so that a reload of other settings does not begin to count anew.
type counts struct {
	mu    sync.Mutex
	inUse []*limit
	old   []*limit // that were in use before: a reload may be taken back
}

// limits gives the limits of some settings: those that are in use already, with their counts, and new ones.
func (c *counts) limits(wanted []Limit) ([]*limit, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*limit
	for _, w := range wanted {
		l, err := c.limit(w)
		if err != nil {
			return nil, fmt.Errorf("limit %q: %w", w.Name, err)
		}
		out = append(out, l)
	}
	if !slices.Equal(out, c.inUse) {
		c.inUse, c.old = out, c.inUse
	}
	return out, nil
}

func (c *counts) limit(wanted Limit) (*limit, error) {
	for _, l := range slices.Concat(c.inUse, c.old) {
		if reflect.DeepEqual(l.Limit, wanted) {
			return l, nil
		}
	}
	l := &limit{Limit: wanted, byKey: make(map[string]*list.Element)}
	if wanted.When != "" {
		var err error
		if l.when, err = compile(wanted.When); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// limit counts requests in buckets of tokens: one for each key, and those not used for longest go first.
type limit struct {
	Limit
	when *expression // nil counts all requests

	mu    sync.Mutex
	byKey map[string]*list.Element // of *bucket
	used  list.List                // the bucket used last in front
}

type bucket struct {
	key    string
	tokens *rate.Limiter
}

// take takes a token, which may be there only after a while; then it is to be given back.
func (l *limit) take(key string, now time.Time) *rate.Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bucket(key).ReserveN(now, 1)
}

func (l *limit) bucket(key string) *rate.Limiter {
	if known := l.byKey[key]; known != nil {
		l.used.MoveToFront(known)
		return known.Value.(*bucket).tokens
	}
	most, burst := l.MaxKeys, l.Burst
	if most <= 0 {
		most = defaultKeys
	}
	if burst <= 0 {
		burst = l.Count
	}
	if l.used.Len() >= most {
		oldest := l.used.Back()
		delete(l.byKey, l.used.Remove(oldest).(*bucket).key)
	}
	fresh := &bucket{key, rate.NewLimiter(rate.Limit(float64(l.Count)/l.Within.Seconds()), burst)}
	l.byKey[key] = l.used.PushFront(fresh)
	return fresh.tokens
}

// key is what a request is counted under.
func (l *limit) key(f *facts) string {
	var b strings.Builder
	for _, per := range l.Per {
		part := f.part(per)
		fmt.Fprintf(&b, "%d:%s", len(part), part)
	}
	return b.String()
}

func (f *facts) part(per Per) string {
	switch per {
	case PerPrincipal:
		return f.caller.name()
	case PerSession:
		switch {
		case f.caller.session != "":
			return "session " + f.caller.session
		case f.caller.name() != "":
			return "principal " + f.caller.name()
		}
		return "address " + network(f.caller.address)
	case PerAddress:
		return network(f.caller.address)
	case PerServer:
		return f.entry.Server
	}
	return f.entry.Server + "\x00" + string(f.entry.Kind) + "\x00" + f.entry.Name
}

func (c *caller) name() string {
	if c.who == nil {
		return ""
	}
	return c.who.Key()
}

// network is an address as it is counted: of IPv6 the first 64 bits, since one machine has all that begin with them.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	const ofOneMachine = 64
	if ip = ip.Unmap(); ip.Is6() {
		if prefix, err := ip.WithZone("").Prefix(ofOneMachine); err == nil {
			return prefix.String()
		}
	}
	return ip.String()
}

// counted tells whether a limit is about a request. Where that cannot be found out it is.
func (l *laid) counted(ctx context.Context, lim *limit, f *facts) bool {
	if lim.when == nil {
		return true
	}
	v, err := lim.when.eval(ctx, f)
	if err != nil {
		l.policy.failed(ctx, f, lim.Name, err)
	}
	return v == yes || err != nil
}

// limited refuses what comes too often.
func (l *laid) limited(ctx context.Context, f *facts) error {
	now := time.Now()
	var taken []*rate.Reservation
	var longest time.Duration
	by := ""
	for _, lim := range l.limits {
		if !l.counted(ctx, lim, f) {
			continue
		}
		token := lim.take(lim.key(f), now)
		taken = append(taken, token)
		if wait := token.DelayFrom(now); wait > longest {
			longest, by = wait, lim.Name
		}
	}
	if longest == 0 {
		return nil
	}
	for _, token := range taken { // a request that is refused by one limit costs nothing in the others
		token.CancelAt(now)
	}
	l.policy.decided(ctx, f.about(ByLimit, Limited, by, "it comes too often"))
	return tooOften(longest)
}

// tooOften says when to come again, in the form that package server gives its own limits.
func tooOften(wait time.Duration) error {
	ms := int64(math.Ceil(float64(wait) / float64(time.Millisecond)))
	return mcp.Errorf(mcp.CodeInternal, "Too many requests; try again in %s", time.Duration(ms)*time.Millisecond).
		WithData(map[string]int64{"retryAfterMs": ms})
}
