package app

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
)

const readyPath = "/readyz"

// ready answers 200 while every server that the configuration requires is there, else 503, with the names of those that are not
// for who may call.
func (g *gateway) ready(w http.ResponseWriter, r *http.Request) {
	answer := struct {
		Status  string   `json:"status"`
		Missing []string `json:"missing,omitempty"`
	}{Status: "ready"}
	status := http.StatusOK
	if missing := g.missing(); missing != nil {
		answer.Status, status = "not ready", http.StatusServiceUnavailable
		if g.door.knows(r) {
			answer.Missing = missing
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		g.say.line("rialto: %s: %v", readyPath, err)
	}
}

// missing names the servers that are required and not there. Those that are called for each caller alone are there for nobody
// else.
func (g *gateway) missing() (names []string) {
	if g.set == nil {
		return nil
	}
	conf := g.conf.Load()
	for _, s := range g.set.Snapshots() {
		if conf.Requires(s.Name) && !s.State.Usable() && !g.personal(s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// demand waits for the servers that the configuration requires, and fails with *UnreachableError for the first that is not there.
// A gateway that is told to stop meanwhile has not waited for them to the end, and says nothing of them.
func (g *gateway) demand(ctx context.Context) error {
	for _, s := range g.set.Snapshots() {
		if g.begun.Requires(s.Name) && !g.personal(s.Name) {
			g.set.Tried(ctx, s.Name)
		}
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // a stop in order
	}
	missing := g.missing()
	for _, s := range g.set.Snapshots() {
		if slices.Contains(missing, s.Name) {
			return &UnreachableError{s.Name, s.Reason}
		}
	}
	return nil
}
