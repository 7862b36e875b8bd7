package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/transport/httpsse"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

const (
	healthPath  = "/healthz"
	ssePath     = "/sse" // of clients that know HTTP+SSE alone, and where they post
	messagePath = "/message"
)

// handler serves the endpoint at a path, the two paths of HTTP+SSE, and /healthz. What the configuration has the endpoint on is
// the endpoint's. Everything stands behind the door but /healthz and /readyz, which tell strangers less, and the metadata that say where
// tokens are to be had.
func (g *gateway) handler(path string) *http.ServeMux {
	mux := http.NewServeMux()
	whole := g.find("")
	mux.Handle(path, g.whole(whole.endpoint))
	mux.Handle(path+"/", g.below(path))
	if path != ssePath && path != messagePath {
		mux.Handle(ssePath, g.whole(whole.sse))
		mux.Handle(messagePath, g.whole(whole.sse))
	}
	if path != healthPath {
		mux.Handle("GET "+healthPath, g.door.ajar(http.HandlerFunc(g.health)))
	}
	if path != readyPath {
		mux.Handle("GET "+readyPath, g.door.ajar(http.HandlerFunc(g.ready)))
	}
	if path != auth.MetadataPath && !strings.HasPrefix(path, auth.MetadataPath+"/") {
		mux.HandleFunc(auth.MetadataPath, g.door.metadata)
		mux.HandleFunc(auth.MetadataPath+"/", g.door.metadata)
	}
	if g.hasPages(path) {
		mux.Handle(signon.PagesPath, g.desk.Pages())
	}
	mux.Handle("GET /{$}", g.door.page("/", http.HandlerFunc(g.root)))
	mux.Handle("/", g.door.none)
	return mux
}

// Limits of connections: strangers must not be able to hold them for ever.
const (
	headerTime = 10 * time.Second // for the head of a request
	bodyTime   = 30 * time.Second // for its body, whoever takes it or does not
	idleTime   = 15 * time.Minute // between two requests; load balancers keep theirs for up to 10 min
)

// web is an HTTP server of the gateway: each address has its own, and all serve the same.
func (g *gateway) web() *http.Server {
	now := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.routes.Load().ServeHTTP(w, r) })
	return &http.Server{
		Handler: inTime(now, cmp.Or(g.opts.body, bodyTime)), ReadHeaderTimeout: headerTime, IdleTimeout: cmp.Or(g.opts.idle, idleTime), ConnContext: withSender,
		ErrorLog: slog.NewLogLogger(g.say.handler(), slog.LevelWarn),
	}
}

// inTime bounds the time for the bodies of all requests: net/http takes them in before it answers, and would wait for ever for one
// that nobody here reads. Endpoints set the time anew.
func inTime(inner http.Handler, most time.Duration) http.Handler {
	bodies := streamhttp.Bodies{Timeout: most}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bodies.Limit(w, r)
		inner.ServeHTTP(w, r)
	})
}

// page is a handler for browsers, which answers nothing to pages of strangers.
type page struct {
	hosts *streamhttp.Guard
	http.Handler
}

// Admit implements transport.Gatekeeper: what it refuses is refused before a token is asked for.
func (p page) Admit(w http.ResponseWriter, r *http.Request) bool {
	err := p.hosts.Check(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
	}
	return err == nil
}

// ServeHTTP implements http.Handler.
func (p page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.Admit(w, r) {
		p.Handler.ServeHTTP(w, r)
	}
}

// whole serves everything that is behind the gateway, where the configuration has it so.
func (g *gateway) whole(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.conf.Load().ServeAll {
			g.door.none.ServeHTTP(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// below serves the bundles, each under its name below the path of the endpoint, and HTTP+SSE below that.
func (g *gateway) below(path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, path+"/"), "/")
		f := g.find(name)
		switch {
		case name == "" && rest == "":
			g.whole(f.endpoint).ServeHTTP(w, r)
		case name == "" || f == nil:
			g.door.none.ServeHTTP(w, r)
		case rest == "":
			f.endpoint.ServeHTTP(w, r)
		case "/"+rest == ssePath, "/"+rest == messagePath:
			f.sse.ServeHTTP(w, r)
		default:
			g.door.none.ServeHTTP(w, r)
		}
	})
}

// anywhere is a handler of HTTP+SSE that a reload may have moved: it sees the last part of a path, and tells clients the rest of
// it as they sent it.
type anywhere struct{ inner *httpsse.Handler }

// Admit implements transport.Gatekeeper.
func (a anywhere) Admit(w http.ResponseWriter, r *http.Request) bool {
	return a.inner.Admit(w, lastPart(r))
}

// ServeHTTP implements http.Handler.
func (a anywhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.inner.ServeHTTP(w, lastPart(r))
}

// lastPart is a request as http.StripPrefix would leave it.
func lastPart(r *http.Request) *http.Request {
	out, u := *r, *r.URL
	u.Path, u.RawPath = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/'):], ""
	out.URL = &u
	return &out
}

// root tells a person who has opened the address in a browser where things are.
func (g *gateway) root(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	var paths []string
	for _, f := range g.all() {
		if f.bundle != "" || g.conf.Load().ServeAll {
			paths = append(paths, g.path(f.bundle))
		}
	}
	_, err := fmt.Fprintf(w, "This is a gateway for the Model Context Protocol. Clients use the address %s; %s has the states of the servers.\n",
		strings.Join(paths, " or "), healthPath)
	if err != nil {
		g.say.line("rialto: /: %v", err)
	}
}

// health answers 200 while the gateway serves, with the state of each server for who may call. Reasons stay on standard error:
// they may tell more than callers should know.
func (g *gateway) health(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		Name  string        `json:"name"`
		State manager.State `json:"state"`
	}
	answer := struct {
		Status  string  `json:"status"`
		Servers []entry `json:"servers,omitzero"`
	}{Status: "ok"}
	if g.door.knows(r) {
		answer.Servers = []entry{}
	}
	if g.set != nil && answer.Servers != nil {
		for _, s := range g.set.Snapshots() {
			answer.Servers = append(answer.Servers, entry{s.Name, s.State})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		g.say.line("rialto: %s: %v", healthPath, err)
	}
}

// isLoopback tells whether only this machine can reach an address.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
