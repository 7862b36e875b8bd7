package app

import (
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
	path    string // of the endpoint
	hosts   *streamhttp.Guard
	log     *refusals
	bad     *attempts
	replays server.Consumer // proofs that have been used
	lock    atomic.Pointer[lock]
	none    http.Handler // where nothing is

	mu    sync.Mutex
	paths []string // that are guarded and have metadata of their own
}

func newDoor(path string, hosts *streamhttp.Guard, log *refusals) *door {
	d := &door{path: path, hosts: hosts, log: log, bad: &attempts{}, replays: server.MemoryNonces(0), paths: []string{path}}
	d.none = d.page("", http.NotFoundHandler())
	return d
}

// fit makes the lock of a configuration, which is not in use yet.
func (d *door) fit(a *config.Auth) (*lock, error) {
	l := &lock{door: d, auth: a}
	if a == nil {
		return l, nil
	}
	var err error
	if l.verifier, l.issuers, err = keysOf(a, d.lock.Load(), d.bad); err != nil {
		return nil, err
	}
	return l, l.options(d.path).Check()
}

// guard stands in front of a handler: who is not let in gets the answer of [auth.Bearer]. path is where clients know the
// handler; it has metadata of its own where tokens are made for addresses. The handler finds the caller by
// transport.PrincipalOf, and sees no token.
func (d *door) guard(path string, inner http.Handler) http.Handler {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.paths, path) {
		d.paths = append(d.paths, path)
	}
	return &guarded{door: d, path: path, inner: inner}
}

// forget takes back what guard has noted of paths that are served no longer.
func (d *door) forget(paths ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paths = slices.DeleteFunc(d.paths, func(path string) bool { return slices.Contains(paths, path) })
}

// page is guard for what people look at, at a path that the configuration may make public. It has no metadata of its own. Host
// and Origin are checked as at the endpoint.
func (d *door) page(at string, inner http.Handler) http.Handler {
	return &guarded{door: d, path: d.path, at: at, inner: page{d.hosts, inner}}
}

// ajar is guard for what strangers may see a part of: without a token a request passes, with nobody as its principal.
func (d *door) ajar(inner http.Handler) http.Handler {
	return &guarded{door: d, path: d.path, inner: inner, optional: true}
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
	paths := slices.Clone(d.paths)
	d.mu.Unlock()
	of := d.path
	suffix := strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), auth.MetadataPath), "/")
	for _, path := range paths {
		if u, err := url.Parse(l.resource(path)); err == nil && suffix != "" && strings.TrimSuffix(u.EscapedPath(), "/") == suffix {
			of = path
		}
	}
	auth.Metadata(l.options(of)).ServeHTTP(w, r)
}

// guarded is a handler behind the door.
type guarded struct {
	door     *door
	path     string // that tokens are for
	at       string // path that may be public; "" for none
	inner    http.Handler
	optional bool
	fitted   atomic.Pointer[fitted]
}

// fitted is a handler as one lock guards it.
type fitted struct {
	lock *lock
	http.Handler
}

// ServeHTTP implements http.Handler.
func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l, f := g.door.lock.Load(), g.fitted.Load()
	if f == nil || f.lock != l {
		f = &fitted{l, l.around(g)}
		g.fitted.Store(f)
	}
	f.ServeHTTP(w, r)
}

// lock is what one configuration says of who may call. It is not changed.
type lock struct {
	door     *door
	auth     *config.Auth // nil: everybody may
	verifier auth.Verifier
	issuers  map[string]issuer
}

func (l *lock) around(g *guarded) http.Handler {
	if l.auth == nil || slices.Contains(l.auth.Public, g.at) {
		return g.inner
	}
	o := l.options(g.path)
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
	main, own := strings.TrimSuffix(l.auth.Resource, "/"), l.door.path
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
