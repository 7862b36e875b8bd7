package app

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// teller writes lines for the person who started the gateway. Its methods may be called concurrently.
type teller struct {
	w   io.Writer
	log Log

	turn sync.Mutex // of those who tell of states and misfits; held while what a reload has done is told

	mu     sync.Mutex
	failed map[string]string // the reason told last, by server
	misfit map[string]bool   // what does not fit the lists of servers, and has been told
	held   bool              // notes wait
	notes  []route.Note      // that wait
}

func (t *teller) line(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.log.JSON {
		t.jsonLine(fmt.Sprintf(format, args...))
		return
	}
	_, _ = fmt.Fprintf(t.w, format+"\n", args...) // there is nobody else to tell
}

// entry says what is about to be connected.
func (t *teller) entry(s manager.Server) {
	switch {
	case s.Disabled:
		t.line("  %s: disabled", s.Name)
	case s.Transport == manager.Stdio:
		t.line("  %s: starting %s", s.Name, s.Command)
	default:
		t.line("  %s: connecting to %s", s.Name, manager.PublicURL(s.URL))
	}
}

// state says what has become of a server. A failure that repeats with the same reason is told once.
func (t *teller) state(s upstream.Status) {
	t.turn.Lock()
	defer t.turn.Unlock()
	switch s.State {
	case manager.Ready:
		t.same(s.Name, "")
		t.line("  %s: ready, %s (revision %s, %s)", s.Name, s.Counts, s.Version, s.Took.Round(10*time.Millisecond))
	case manager.Degraded:
		if !t.same(s.Name, "degraded") { // the reason counts failures, so it is another one each time
			t.line("  %s: degraded: %s", s.Name, s.Reason)
		}
	case manager.Failed, manager.NeedsAuthorization:
		if t.same(s.Name, s.Reason) {
			return
		}
		again := "it is not tried again"
		if s.Retry > 0 {
			again = "trying again until it works"
		}
		t.line("  %s: failed: %s; %s", s.Name, s.Reason, again)
	}
}

// personal says of a server that each caller is called for with credentials of its own.
func (t *teller) personal(name string) {
	t.turn.Lock()
	defer t.turn.Unlock()
	if !t.same(name, "personal") {
		t.line("  %s: each caller is called for with credentials of its own", name)
	}
}

// same notes a reason and tells whether it was the last one.
func (t *teller) same(name, reason string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = make(map[string]string)
	}
	old, known := t.failed[name]
	t.failed[name] = reason
	return known && old == reason
}

// nothing warns of a configuration that serves nothing.
func (t *teller) nothing(servers []manager.Server) {
	if len(enabled(servers)) == 0 {
		t.line("warning: the configuration has no server to connect to, so nothing is served; add one under \"mcpServers\"")
	}
}

// reloaded says what a configuration that was read anew has changed. t.turn is held.
func (t *teller) reloaded(g *gateway, old, next *config.Config, changes manager.Changes) {
	var unused []string
	if g.opts.Stdio != nil {
		unused = []string{"listen", "path"}
	} else if g.opts.Listen != "" {
		unused = []string{"listen"}
	}
	now, later := changed(g.begun, old, next, changes, unused...)
	if now != "" {
		t.line("rialto: %s was read anew: %s", g.opts.Source.File, now)
	}
	if g.opts.Listen != "" && next.Listen != old.Listen {
		t.line("rialto: listen in %s is not used, since --listen %s stands on the command line", g.opts.Source.File, g.opts.Listen)
	}
	if len(later) > 0 {
		verb := "waits"
		if len(later) > 1 {
			verb = "wait"
		}
		t.line("rialto: %s in %s %s for the next start: no change while the gateway runs", sentence(later), g.opts.Source.File, verb)
	}
	t.mu.Lock()
	for _, name := range slices.Concat(changes.Removed, changes.Changed) {
		delete(t.failed, name)
	}
	t.misfit = nil
	t.mu.Unlock()
	for _, name := range slices.Concat(changes.Added, changes.Changed) {
		t.entry(entryOf(next, name))
	}
	if len(changes.Removed) > 0 {
		t.nothing(next.Servers)
	}
}

// misfits warns of what the configuration says of the lists of servers and does not fit them, each once for each reading of the file.
func (t *teller) misfits(notes []string) {
	for _, n := range notes {
		t.mu.Lock()
		told := t.misfit[n]
		if t.misfit == nil {
			t.misfit = make(map[string]bool)
		}
		t.misfit[n] = true
		t.mu.Unlock()
		if !told {
			t.line("warning: %s", n)
		}
	}
}

// names tells of changed names, the first few in full.
func (t *teller) names(notes []route.Note) {
	t.mu.Lock()
	held := t.held
	if held {
		t.notes = append(t.notes, notes...)
	}
	t.mu.Unlock()
	if held {
		return
	}
	const most = 6
	for i, n := range notes {
		if i == most {
			t.line("  ... and %d more names; rialto tools, resources and prompts show all of them", len(notes)-most)
			return
		}
		t.line("  %s", n)
	}
}

// hold lets the names wait that a reload changes, until release: what it does to servers is told first.
func (t *teller) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = true
}

func (t *teller) release() {
	t.mu.Lock()
	notes := t.notes
	t.held, t.notes = false, nil
	t.mu.Unlock()
	t.names(notes)
}

// listening says where the gateway is, and what to try next.
func (t *teller) listening(g *gateway) {
	url := t.where(g, "rialto "+g.opts.Version+": listening on")
	t.exposed(g)
	if g.opts.Config == nil {
		t.line("This is the built-in demonstration server. In another terminal try:")
		t.line("  rialto tools %s", url)
		t.line("  rialto call %s add a=2 b=3", url)
		t.line("  rialto call %s count to=5", url)
		t.line("For servers of your own: rialto gateway --config mcp.json, a file with \"mcpServers\" as other hosts have it.")
	}
}

// relocated says where the gateway is since a reload, if that is elsewhere, and who may call, if those are others.
func (t *teller) relocated(g *gateway, old, next *config.Config, m *move) {
	if g.at == nil {
		return
	}
	if m != nil || next.Path != old.Path {
		t.where(g, "rialto: now listening on")
	}
	if m != nil || callers(next.Auth) != callers(old.Auth) {
		t.exposed(g)
	}
	if m != nil {
		t.line("rialto: %s is not listened on any more; what is under way there has %s to end", m.from.at(), reloadDrain)
	}
}

// where tells the address of the endpoint and those of bundles.
func (t *teller) where(g *gateway, what string) (url string) {
	base := "http://" + g.at.at().String()
	url = base
	if g.conf.Load().ServeAll {
		url += g.path("")
	}
	t.line("%s %s", what, url)
	for _, f := range g.all() {
		if f.bundle != "" {
			t.line("  bundle %s: %s", f.bundle, base+g.path(f.bundle))
		}
	}
	return url
}

// exposed tells who may call, and warns where others can reach the address.
func (t *teller) exposed(g *gateway) {
	c, public := g.conf.Load(), g.at.public()
	who := callers(c.Auth)
	if who != "" {
		t.line("rialto: who may call: %s", who)
	}
	if public && who == "" {
		t.line("warning: others on the network can reach this address, and everybody may call")
	}
	if public && len(c.AllowedHosts) == 0 {
		t.line("warning: others on the network can reach this address, and the Host header is not checked; set gateway.allowedHosts in the configuration")
	}
}
