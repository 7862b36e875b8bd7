package app

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/manager"
)

const (
	healthPath  = "/healthz"
	ssePath     = "/sse" // of clients that know HTTP+SSE alone, and where they post
	messagePath = "/message"
)

// handler serves the endpoint, the two paths of HTTP+SSE, and /healthz. What the configuration has the endpoint on is the
// endpoint's. Everything stands behind the door but /healthz, which tells strangers less, and the metadata that say where
// tokens are to be had.
func (g *gateway) handler() http.Handler {
	mux := http.NewServeMux()
	endpoint := g.door.guard(g.begun.Path, g.front.Handler())
	mux.Handle(g.begun.Path, endpoint)
	mux.Handle(g.begun.Path+"/{$}", endpoint)
	if g.begun.Path != ssePath && g.begun.Path != messagePath {
		old := g.door.guard(ssePath, g.front.SSEHandler())
		mux.Handle(ssePath, old)
		mux.Handle(messagePath, old)
	}
	if g.begun.Path != healthPath {
		mux.Handle("GET "+healthPath, g.door.ajar(http.HandlerFunc(g.health)))
	}
	if g.begun.Path != auth.MetadataPath && !strings.HasPrefix(g.begun.Path, auth.MetadataPath+"/") {
		mux.HandleFunc(auth.MetadataPath, g.door.metadata)
		mux.HandleFunc(auth.MetadataPath+"/", g.door.metadata)
	}
	mux.Handle("GET /{$}", g.door.page("/", http.HandlerFunc(g.root)))
	mux.Handle("/", g.door.page("", http.NotFoundHandler()))
	return mux
}

// root tells a person who has opened the address in a browser where things are.
func (g *gateway) root(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := fmt.Fprintf(w, "This is a gateway for the Model Context Protocol. Clients use the address %s; %s has the states of the servers.\n", g.begun.Path, healthPath)
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
