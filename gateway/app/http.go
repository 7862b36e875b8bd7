package app

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"github.com/rialto-mcp/rialto/manager"
)

const (
	healthPath  = "/healthz"
	ssePath     = "/sse" // of clients that know HTTP+SSE alone, and where they post
	messagePath = "/message"
)

// handler serves the endpoint, the two paths of HTTP+SSE, and /healthz. What the configuration has the endpoint on is the
// endpoint's.
func (g *gateway) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(g.begun.Path, g.front.Handler())
	if g.begun.Path != ssePath && g.begun.Path != messagePath {
		old := g.front.SSEHandler()
		mux.Handle(ssePath, old)
		mux.Handle(messagePath, old)
	}
	if g.begun.Path != healthPath {
		mux.HandleFunc("GET "+healthPath, g.health)
	}
	mux.HandleFunc("GET /{$}", g.root)
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

// health answers 200 while the gateway serves, with the state of each server. Reasons stay on standard error: they may
// tell more than a stranger should know.
func (g *gateway) health(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		Name  string        `json:"name"`
		State manager.State `json:"state"`
	}
	answer := struct {
		Status  string  `json:"status"`
		Servers []entry `json:"servers"`
	}{"ok", []entry{}}
	if g.set != nil {
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
