package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// pinCommand accepts what servers list now, or compares it with what was accepted.
type pinCommand struct {
	File string `arg:"" optional:"" help:"Configuration file. Without it mcp.json or .mcp.json in the current folder."`

	Check  bool     `help:"Accept nothing: say what is different, and exit with 6 when anything is."`
	Server []string `placeholder:"NAME" help:"Only this server. May be repeated."`
	JSON   bool     `name:"json" help:"Data as one line of JSON on standard output, an error as one line of JSON on standard error."`
	fileFlags
}

func (c *pinCommand) target() *targeted { return nil }
func (c *pinCommand) shift()            {}

func (c *pinCommand) do(ctx context.Context, e *environment) error {
	read := &checkCommand{File: c.File, Connect: true, fileFlags: c.fileFlags}
	conf, path, err := read.named(ctx, e)
	if err != nil {
		return err
	}
	pin := conf.Policy.Pin
	if pin.File == "" {
		return usage(`%s does not say where pins are kept; add "policy": {"pin": {"file": "rialto-tools.lock.json"}} under "gateway"`, path)
	}
	for _, name := range c.Server {
		if !slices.Contains(conf.Names, name) {
			return usage("there is no server %q in %s", name, path)
		}
	}
	return interrupted(ctx, c.pin(ctx, e, conf, pin.Path(filepath.Dir(path))))
}

// pinned is what has become of one server.
type pinned struct {
	checked
	lists *upstream.Lists

	New     bool     `json:"new"` // nothing of it had been accepted
	Changes []string `json:"changes"`
}

func (c *pinCommand) pin(ctx context.Context, e *environment, conf *config.Config, path string) error {
	lock, err := policy.ReadLock(path)
	if err != nil {
		return &failure{exit: exitUsage, step: "read the pins", kind: "pins", seen: err.Error()}
	}
	all := c.servers(ctx, e, conf)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	different, accepted := false, make(map[string]policy.Prints)
	for i := range all {
		p := &all[i]
		p.Changes = []string{}
		if p.lists == nil {
			continue
		}
		now := policy.PrintsOf(p.lists)
		p.New = !lock.Knows(p.Name)
		for _, d := range lock.Compare(p.Name, now) {
			p.Changes = append(p.Changes, d.String())
		}
		different = different || p.New || len(p.Changes) > 0
		accepted[p.Name] = now
	}
	if !c.Check && different {
		_, err := policy.UpdateLock(path, func(l *policy.Lock) { maps.Copy(l.Servers, accepted) }) // others may have written meanwhile
		if err != nil {
			return &failure{exit: exitUsage, step: "write the pins", kind: "pins", seen: err.Error()}
		}
	}
	if err := c.show(e, all); err != nil {
		return err
	}
	var states []checked
	for _, p := range all {
		states = append(states, p.checked)
	}
	if err := verdict(states); err != nil {
		return err
	}
	if c.Check && different {
		return &failure{exit: exitDifferent, step: "compare", kind: "different", seen: "the servers list other things than were accepted", next: "look at them, and accept them with rialto pin"}
	}
	return nil
}

// servers connects to the servers that are asked about.
func (c *pinCommand) servers(ctx context.Context, e *environment, conf *config.Config) []pinned {
	var some []manager.Server
	for _, s := range conf.Servers {
		if len(c.Server) == 0 || slices.Contains(c.Server, s.Name) {
			some = append(some, s)
		}
	}
	all, lists := tryAll(ctx, e, conf, some)
	out := make([]pinned, len(all))
	for i := range all {
		out[i] = pinned{checked: all[i], lists: lists[i]}
	}
	return out
}

func (c *pinCommand) show(e *environment, all []pinned) error {
	if c.JSON {
		return e.json(map[string][]pinned{"servers": all})
	}
	var rows [][]string
	for _, p := range all {
		said := append([]string{}, p.Changes...)
		switch {
		case p.lists == nil:
			said = []string{strings.Join(strings.Fields(p.State+" "+p.Reason), " ")}
		case p.New:
			said = []string{"seen for the first time: " + p.counts}
		case len(said) == 0:
			said = []string{"as it was accepted: " + p.counts}
		}
		for _, line := range said {
			rows = append(rows, []string{clean(p.Name), clean(line)})
		}
	}
	return e.columns(rows, "the file has no servers")
}
