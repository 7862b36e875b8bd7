package app

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// door lets requests over HTTP in, by what the configuration in use says of who may call. Its methods may be called
// concurrently.
type door struct {
	hosts   *streamhttp.Guard
	log     *refusals
	bad     *attempts
	replays server.Consumer // proofs that have been used
	lock    atomic.Pointer[lock]
	none    http.Handler // where nothing is

	mu     sync.Mutex
	places []place // that are guarded and have metadata of their own
}

// place is where clients know a handler: a path, or one below that of the endpoint, which a reload may change.
type place struct {
	below bool
	path  string
}

// atEndpoint is where the endpoint is.
var atEndpoint = place{below: true}

// of is its path, where the endpoint has this one.
func (p place) of(endpoint string) string {
	if p.below {
		return endpoint + p.path
	}
	return p.path
}

func newDoor(hosts *streamhttp.Guard, log *refusals) *door {
	d := &door{hosts: hosts, log: log, bad: &attempts{}, replays: server.MemoryNonces(0), places: []place{atEndpoint}}
	d.none = d.page("", http.NotFoundHandler())
	return d
}

// fit makes the lock of a configuration, which is not in use yet. open lets everybody in where callers have no names, also from
// other machines.
func (d *door) fit(c *config.Config, open bool) (*lock, error) {
	a := c.Auth
	l := &lock{door: d, auth: a, path: c.Path, open: open}
	if a == nil {
		return l, nil
	}
	var err error
	if l.verifier, l.issuers, err = keysOf(a, d.lock.Load(), d.bad); err != nil {
		return nil, err
	}
	return l, l.options(l.path).Check()
}

// guard stands in front of a handler: who is not let in gets the answer of [auth.Bearer]. The place has
// metadata of its own where tokens are made for addresses. The handler finds the caller by transport.PrincipalOf, and sees no
// token.
func (d *door) guard(at place, inner http.Handler) http.Handler {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.places, at) {
		d.places = append(d.places, at)
	}
	return &guarded{door: d, place: at, inner: inner}
}

// forget takes back what guard has noted of places that are served no longer.
func (d *door) forget(places ...place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.places = slices.DeleteFunc(d.places, func(at place) bool { return slices.Contains(places, at) })
}

// page is guard for what people look at, at a path that the configuration may make public. It has no metadata of its own. Host
// and Origin are checked as at the endpoint.
func (d *door) page(at string, inner http.Handler) http.Handler {
	return &guarded{door: d, place: atEndpoint, at: at, inner: page{d.hosts, inner}}
}

// ajar is guard for what strangers may see a part of: without a token a request passes, with nobody as its principal.
func (d *door) ajar(inner http.Handler) http.Handler {
	return &guarded{door: d, place: atEndpoint, inner: inner, optional: true}
}

// knows tells whether a request that came through ajar may see everything. Where callers have no names, a page of a stranger that
// comes through a browser may not.
func (d *door) knows(r *http.Request) bool {
	a := d.lock.Load().auth
	if a == nil {
		return d.hosts.Check(r) == nil
	}
	return slices.Contains(a.Public, r.URL.Path) || transport.PrincipalOf(r) != nil
}

// metadata serves what says where tokens are to be had (RFC 9728), to everybody.
func (d *door) metadata(w http.ResponseWriter, r *http.Request) {
	l := d.lock.Load()
	if l.auth == nil {
		http.NotFound(w, r)
		return
	}
	d.mu.Lock()
	places := slices.Clone(d.places)
	d.mu.Unlock()
	of := l.path
	suffix := strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), auth.MetadataPath), "/")
	for _, at := range places {
		path := at.of(l.path)
		if u, err := url.Parse(l.resource(path)); err == nil && suffix != "" && strings.TrimSuffix(u.EscapedPath(), "/") == suffix {
			of = path
		}
	}
	auth.Metadata(l.options(of)).ServeHTTP(w, r)
}

// guarded is a handler behind the door.
type guarded struct {
	door     *door
	place    place  // that tokens are for
	at       string // path that may be public; "" for none
	inner    http.Handler
	optional bool
	fitted   atomic.Pointer[fitted]
}

// fromElsewhere tells whether a request came in at an address that others on the network can reach.
func fromElsewhere(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && !isLoopback(at)
}

// fitted is a handler as one lock guards it.
type fitted struct {
	lock *lock
	http.Handler
}

// ServeHTTP implements http.Handler.
func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l, f := g.door.lock.Load(), g.fitted.Load()
	if l.auth == nil && !l.open && fromElsewhere(r) { // by a connection that an address has left behind which is not listened on any more
		http.Error(w, "nobody may call this gateway from other machines now", http.StatusForbidden)
		return
	}
	if f == nil || f.lock != l {
		f = &fitted{l, l.around(g)}
		g.fitted.Store(f)
	}
	f.ServeHTTP(w, r)
}

// lock is what one configuration says of who may call. It is not changed.
type lock struct {
	door     *door
	auth     *config.Auth // nil: everybody may, from this machine
	open     bool         // and from others
	path     string       // of the endpoint
	verifier auth.Verifier
	issuers  map[string]issuer
}

func (l *lock) around(g *guarded) http.Handler {
	if l.auth == nil || slices.Contains(l.auth.Public, g.at) {
		return g.inner
	}
	o := l.options(g.place.of(l.path))
	o.Optional = g.optional
	return auth.Bearer(o)(g.inner)
}

// options are those for one path.
func (l *lock) options(path string) auth.Options {
	main := strings.TrimSuffix(l.auth.Resource, "/")
	o := auth.Options{
		Resource: l.resource(path), Path: path, Verifier: l.verifier, Scopes: l.auth.Scopes, ScopesSupported: l.auth.ScopesSupported,
		VerifyTimeout: verifyTime, OnError: l.door.log.failed, OnRefuse: l.door.log.refused,
	}
	if main != "" { // a token for the whole gateway is good at all its paths
		o.Audiences = []string{main, main + "/"}
	}
	if o.ScopesSupported == nil {
		o.ScopesSupported = l.auth.Scopes
	}
	for _, i := range l.auth.Issuers {
		o.AuthorizationServers = append(o.AuthorizationServers, i.URL)
	}
	o.KeepToken = true // for connections that exchange it; see package signon
	if l.auth.DPoP != config.DPoPOff {
		o.DPoP = &auth.DPoPOptions{Required: l.auth.DPoP == config.DPoPRequired, Replays: l.door.replays}
	}
	return o
}

// resource is the public address of a path: the endpoint's with another end, or with something behind it. Where the public
// address of the endpoint ends in another way than its path does, nothing is known of paths beside it.
func (l *lock) resource(path string) string {
	main, own := strings.TrimSuffix(l.auth.Resource, "/"), l.path
	switch {
	case main == "" || path == own:
		return l.auth.Resource
	case strings.HasPrefix(path, own+"/"):
		return main + strings.TrimPrefix(path, own)
	}
	if base, ok := strings.CutSuffix(main, own); ok && strings.HasPrefix(path, "/") {
		return base + strings.TrimSuffix(path, "/")
	}
	return l.auth.Resource
}

// gone tells whether somebody who could call may not any more: what is open of theirs has to end.
func (l *lock) gone(who *mcp.Principal) bool {
	switch {
	case who == nil || l.auth == nil:
		return (who == nil) != (l.auth == nil) // what nobody has opened is nobody's once callers have names, and the other way round
	case who.Issuer == "":
		return !slices.ContainsFunc(l.auth.Tokens, func(t config.Token) bool { return t.Name == who.Subject })
	}
	return !slices.ContainsFunc(l.auth.Issuers, func(i config.Issuer) bool { return i.URL == who.Issuer })
}
