package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
)

// guard decides which addresses may be reached because a server named them. Without it a server could make the client
// knock at the doors of the network it stands in.
type guard struct {
	server *url.URL // of the MCP server
	plain  bool     // http is allowed
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	mu    sync.Mutex
	known bool
	near  reachability // of the server itself, public where it is on no address of its own
}

func newGuard(server *url.URL, plain bool) *guard {
	return &guard{server: server, plain: plain, lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}}
}

// permits says why a URL must not be used, before anything is resolved or dialled.
func (g *guard) permits(ctx context.Context, u *url.URL) error {
	switch {
	case u.Host == "" || u.Hostname() == "":
		return fmt.Errorf("%w: it names no host", ErrGuard)
	case u.User != nil:
		return fmt.Errorf("%w: it carries a user", ErrGuard)
	case u.Fragment != "":
		return fmt.Errorf("%w: it carries a fragment", ErrGuard)
	case u.Scheme == "https":
	case u.Scheme != "http":
		return fmt.Errorf("%w: it is no https address", ErrGuard)
	case isLoopbackHost(u.Hostname()), g.plain:
	default:
		return fmt.Errorf("%w: it has to be https", ErrGuard)
	}
	addr, ok := literal(u.Hostname())
	switch {
	case ok:
		return g.judge(ctx, addr)
	case isLoopbackHost(u.Hostname()): // a proxy would take it for its own machine
		return g.judge(ctx, netip.IPv6Loopback())
	}
	return nil
}

// control is called by the dialer with the address a connection is about to go to, after names are resolved.
func (g *guard) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrGuard, err)
	}
	return g.judge(ctx, to.Addr())
}

// judge says whether an address may be connected to.
func (g *guard) judge(ctx context.Context, addr netip.Addr) error {
	kind := reach(addr)
	switch {
	case kind == public:
		return nil
	case kind == never:
		return fmt.Errorf("%w: %s is no address of a server", ErrGuard, addr.Unmap().WithZone(""))
	case kind <= g.nearness(ctx):
		return nil
	case kind == loopback:
		return fmt.Errorf("%w: it leads to this machine, and the MCP server is elsewhere", ErrGuard)
	}
	return fmt.Errorf("%w: it leads into a private network, and the MCP server is outside of it", ErrGuard)
}

// nearness is how far inside the MCP server is: loopback, private or public, the outermost of all that its name stands for,
// since one of several could be put inside to open this door. A name is looked up once; a failed look-up counts as public.
func (g *guard) nearness(ctx context.Context) reachability {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known {
		return g.near
	}
	host := g.server.Hostname()
	if isLoopbackHost(host) {
		g.known, g.near = true, loopback
		return g.near
	}
	var addrs []netip.Addr
	if addr, ok := literal(host); ok {
		addrs = []netip.Addr{addr}
	} else {
		found, err := g.lookup(ctx, host)
		if err != nil {
			return public
		}
		addrs = found
	}
	g.known, g.near = true, public
	for i, addr := range addrs {
		kind := reach(addr)
		if kind == never {
			kind = public
		}
		if i == 0 || kind < g.near {
			g.near = kind
		}
	}
	return g.near
}

// reachability says where an address leads. A server may name what is as far inside as itself, or less far.
type reachability uint8

const (
	public   reachability = iota
	private               // private networks
	loopback              // this machine
	never                 // link-local (cloud metadata services are there), multicast, unspecified, reserved
)

// special are ranges that netip has no word for.
var special = []struct {
	prefix netip.Prefix
	kind   reachability
}{
	{netip.MustParsePrefix("100.64.0.0/10"), private},    // shared by carriers and overlay networks, RFC 6598
	{netip.MustParsePrefix("0.0.0.0/8"), never},          // "this network"
	{netip.MustParsePrefix("192.0.0.0/24"), never},       // protocol assignments
	{netip.MustParsePrefix("198.18.0.0/15"), private},    // benchmarks
	{netip.MustParsePrefix("240.0.0.0/4"), never},        // reserved, broadcast
	{netip.MustParsePrefix("fec0::/10"), private},        // site-local, retired
	{netip.MustParsePrefix("64:ff9b:1::/48"), private},   // local NAT64
	{netip.MustParsePrefix("100::/64"), never},           // discard
	{netip.MustParsePrefix("2001:db8::/32"), never},      // documentation
	{netip.MustParsePrefix("::/96"), never},              // IPv4-compatible, retired; loopback is judged before
	{netip.MustParsePrefix("192.88.99.0/24"), never},     // 6to4 relays, retired
	{netip.MustParsePrefix("255.255.255.255/32"), never}, // broadcast
}

func reach(addr netip.Addr) reachability {
	addr = addr.Unmap().WithZone("")
	switch {
	case addr.IsLoopback():
		return loopback
	case addr.IsPrivate():
		return private
	case addr.IsUnspecified(), addr.IsLinkLocalUnicast(), addr.IsMulticast(), !addr.IsValid():
		return never
	}
	for _, s := range special {
		if s.prefix.Contains(addr) {
			return s.kind
		}
	}
	if inner, ok := embedded(addr); ok {
		return reach(inner)
	}
	return public
}

// embedded answers the IPv4 address that a NAT64 or 6to4 address leads to.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case netip.MustParsePrefix("2002::/16").Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

func literal(host string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}

// isLoopbackHost tells whether a host is this machine by its name alone.
func isLoopbackHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, ok := literal(host)
	return ok && addr.Unmap().IsLoopback()
}

var errRedirects = errors.New("too many redirects")
