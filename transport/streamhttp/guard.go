package streamhttp

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
)

// Guard checks the Host and Origin headers of requests, against pages that reach a local server through a browser (DNS
// rebinding). It may be used concurrently, by several handlers, and be given other lists while they serve; see [Guard.Allow].
//
// On a loopback address Host must be a loopback name or listed, and Origin, where present, a loopback name, the host of
// the request or listed. On other addresses Origin must name the host of the request or be listed, and Host is checked
// only when hosts are listed. The scheme of an origin is not compared with the request, since TLS may end before it.
type Guard struct{ lists atomic.Pointer[guardLists] }

// guardLists are never changed.
type guardLists struct{ hosts, origins map[string]bool }

// NewGuard makes a guard. Hosts are names without port; origins are written as browsers send them.
func NewGuard(hosts, origins []string) *Guard {
	g := &Guard{}
	g.Allow(hosts, origins)
	return g
}

// Allow puts other lists in the place of those the guard has, for all requests from now on.
func (g *Guard) Allow(hosts, origins []string) {
	l := &guardLists{hosts: make(map[string]bool, len(hosts)), origins: make(map[string]bool, len(origins))}
	for _, h := range hosts {
		l.hosts[hostname(h)] = true
	}
	for _, o := range origins {
		l.origins[strings.ToLower(strings.TrimSuffix(o, "/"))] = true
	}
	g.lists.Store(l)
}

// Check returns nil for a request that may pass, and an error fit for the client, which names the option that would let
// it pass.
func (g *Guard) Check(r *http.Request) error {
	local, hosts := isLoopback(r), g.lists.Load().hosts
	if (local || len(hosts) > 0) && !(local && isLoopbackName(r.Host)) && !hosts[hostname(r.Host)] {
		return fmt.Errorf("the Host header %.100q is not served here; list the name in the option AllowedHosts to serve it", r.Host)
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 || len(origins) == 1 && (origins[0] == "" || g.allows(origins[0], r.Host, local)) {
		return nil
	}
	return fmt.Errorf("the Origin %.100q may not call this server; list it in the option AllowedOrigins to let it", strings.Join(origins, ", "))
}

// Listed tells whether an origin stands in the list, so that it gets CORS answers.
func (g *Guard) Listed(origin string) bool {
	return origin != "" && g.lists.Load().origins[strings.ToLower(origin)]
}

// AnyHost tells whether Host is not checked on an address that other machines can reach.
func (g *Guard) AnyHost() bool { return len(g.lists.Load().hosts) == 0 }

// listsOrigins tells whether there is any origin in the list.
func (g *Guard) listsOrigins() bool { return len(g.lists.Load().origins) > 0 }

func (g *Guard) allows(origin, host string, local bool) bool {
	if g.Listed(origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme == "" {
		return false
	}
	return local && isLoopbackName(u.Host) || sameHost(u, host)
}

// sameHost compares the host of an origin with a Host header: names without case, ports where the header names one.
func sameHost(origin *url.URL, host string) bool {
	if hostname(origin.Host) != hostname(host) {
		return false
	}
	_, port, err := net.SplitHostPort(host)
	if err != nil || port == origin.Port() {
		return true
	}
	return origin.Port() == "" && (port == "80" || port == "443")
}

// hostname returns the name of an authority: without port and brackets, in lower case, without a final dot.
func hostname(authority string) string {
	name := authority
	if h, _, err := net.SplitHostPort(authority); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

func isLoopbackName(authority string) bool {
	name := hostname(authority)
	switch name {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	if name == "" || name[0] != '1' && name[0] != ':' {
		return false
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// isLoopback tells whether the connection came in on a loopback address of this machine.
func isLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}
