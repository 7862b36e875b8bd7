package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// checkCommand reads a configuration as the gateway would.
type checkCommand struct {
	File string `arg:"" optional:"" help:"Configuration file. Without it mcp.json or .mcp.json in the current folder."`

	Connect bool `help:"Connect to every server once, and show what comes of it instead of the normal form."`
	JSON    bool `name:"json" help:"Data as one line of JSON on standard output, an error as one line of JSON on standard error."`
	fileFlags
}

func (c *checkCommand) target() *targeted { return nil }
func (c *checkCommand) shift()            {}

func (c *checkCommand) do(ctx context.Context, e *environment) error {
	conf, err := c.config(ctx, e)
	if err != nil {
		return err
	}
	if c.Connect {
		return interrupted(ctx, c.connect(ctx, e, conf))
	}
	for _, w := range conf.Warnings {
		if _, err := fmt.Fprintf(e.stderr, "warning: %s\n", clean(w)); err != nil {
			return err
		}
	}
	text, err := conf.Marshal()
	if err != nil {
		return err
	}
	if c.JSON {
		var line bytes.Buffer
		if err := json.Compact(&line, text); err != nil {
			return err
		}
		return e.raw(line.Bytes())
	}
	return e.print(string(text))
}

// config reads the file. Any mistake in it is an error.
func (c *checkCommand) config(ctx context.Context, e *environment) (*config.Config, error) {
	conf, _, err := c.named(ctx, e)
	return conf, err
}

// named is config, with the name of the file.
func (c *checkCommand) named(ctx context.Context, e *environment) (*config.Config, string, error) {
	path := c.File
	if path == "" {
		var err error
		if path, err = e.usualFile(); err != nil {
			return nil, path, err
		}
	}
	if path == "" {
		return nil, "", usage("there is no mcp.json or .mcp.json here; name the file: rialto check FILE")
	}
	read := c.readWritten
	if c.Connect {
		read = c.read
	}
	conf, err := read(ctx, e, e.console, path, nil)
	var known *failure
	switch {
	case err == nil:
		return conf, path, nil
	case ctx.Err() != nil:
		return nil, path, interrupted(ctx, err)
	case errors.As(err, &known):
		return nil, path, err
	}
	return nil, path, &failure{exit: exitUsage, step: "read the configuration", kind: "config", seen: err.Error()}
}

// checked is what has become of one server.
type checked struct {
	Name      string  `json:"name"`
	State     string  `json:"state"` // one of manager.State, or disabled
	Version   string  `json:"protocolVersion,omitempty"`
	Tools     int     `json:"tools"`
	Resources int     `json:"resources"`
	Templates int     `json:"resourceTemplates"`
	Prompts   int     `json:"prompts"`
	Seconds   float64 `json:"seconds"` // that connecting and listing took
	Reason    string  `json:"reason,omitempty"`

	Warnings []string `json:"warnings,omitempty"` // what the file says of its lists and does not fit them

	counts string
	snap   upstream.Snapshot
}

const stateDisabled = "disabled"

// connect connects to all servers, side by side, and shows what has come of it.
func (c *checkCommand) connect(ctx context.Context, e *environment, conf *config.Config) error {
	all, lists := tryAll(ctx, e, conf, conf.Servers)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	lookOver(conf, all, lists)
	if err := c.show(e, all, append(conf.Warnings, misfits(conf, all)...)); err != nil {
		return err
	}
	return verdict(all)
}

// tryAll connects to servers once, side by side, signed on as the gateway would be.
func tryAll(ctx context.Context, e *environment, conf *config.Config, servers []manager.Server) ([]checked, []*upstream.Lists) {
	all, lists := make([]checked, len(servers)), make([]*upstream.Lists, len(servers))
	desk := signon.New(signon.Options{
		Store: signon.Lazy(e.kept().Open), Settings: conf.Credentials, Client: client.Options{Info: mcp.Implementation{Name: "rialto", Version: programVersion()}},
	})
	defer func() { _ = desk.Close() }() // all is told by then
	dial := desk.Dial
	var trying sync.WaitGroup
	for i, s := range servers {
		if s.Disabled {
			all[i] = checked{Name: s.Name, State: stateDisabled}
			continue
		}
		trying.Go(func() { all[i], lists[i] = try(ctx, dial, conf, s) })
	}
	trying.Wait()
	return all, lists
}

// lookOver adds what looks as if it were meant to mislead models. All servers are needed for it: names of one may stand in the
// texts of another.
func lookOver(conf *config.Config, all []checked, lists []*upstream.Lists) {
	var listed []policy.Listed
	for i, l := range lists {
		if l != nil {
			listed = append(listed, policy.Listed{Server: all[i].Name, Lists: l})
		}
	}
	for _, f := range conf.Policy.Scan.LookOver(listed) {
		for i := range all {
			if all[i].Name == f.Server {
				all[i].Warnings = append(all[i].Warnings, fmt.Sprintf("server %q: %s (it may be meant to mislead models)", f.Server, f))
			}
		}
	}
}

// try connects to one server once. The lists are nil where that has not worked.
func try(ctx context.Context, dial upstream.Dialer, conf *config.Config, s manager.Server) (checked, *upstream.Lists) {
	set := upstream.New([]manager.Server{s}, upstream.Options{
		Dial: dial, Limits: upstream.Limits{Connect: conf.ConnectTimeout, List: conf.ListTimeout, Call: conf.CallTimeout, Total: conf.TotalTimeout},
	})
	defer set.Close()
	begun := time.Now()
	set.Start()
	set.Settled(ctx)
	got := set.Snapshots()[0]
	out := checked{
		Name: s.Name, State: string(got.State), Version: got.Version, Reason: got.Reason, Seconds: time.Since(begun).Round(time.Millisecond).Seconds(),
		Tools: got.Counts.Tools, Resources: got.Counts.Resources, Templates: got.Counts.Templates, Prompts: got.Counts.Prompts,
	}
	out.snap = got
	if !got.State.Usable() {
		return out, nil
	}
	out.counts = got.Counts.String()
	out.Warnings = conf.Plan().Notes([]upstream.Snapshot{got})
	return out, got.Lists
}

// misfits tells of what the file says of bundles and does not fit the servers.
func misfits(conf *config.Config, all []checked) (notes []string) {
	var snaps []upstream.Snapshot
	for _, s := range all {
		if s.State != stateDisabled {
			snaps = append(snaps, s.snap)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(conf.Bundles)) {
		for _, note := range conf.Plan().Bundle(conf.Bundles[name].Shows).Notes(snaps) {
			notes = append(notes, fmt.Sprintf("bundle %q: %s", name, note))
		}
	}
	return notes
}

// show writes the states of servers; warnings are about what is no single server's.
func (c *checkCommand) show(e *environment, all []checked, warnings []string) error {
	if c.JSON {
		return e.json(struct {
			Servers  []checked `json:"servers"`
			Warnings []string  `json:"warnings,omitempty"`
		}{all, warnings})
	}
	var rows [][]string
	for _, s := range all {
		row := []string{clean(s.Name), s.State, s.Version, s.counts, "", strings.Join(strings.Fields(clean(s.Reason)), " ")}
		if s.State != stateDisabled {
			row[4] = fmt.Sprintf("%.2fs", s.Seconds)
		}
		rows = append(rows, row)
	}
	if err := e.columns(rows, "the file has no servers"); err != nil {
		return err
	}
	var told []string
	for _, s := range all {
		told = append(told, s.Warnings...)
	}
	for _, w := range append(told, warnings...) {
		if _, err := fmt.Fprintf(e.stderr, "warning: %s\n", clean(w)); err != nil {
			return err
		}
	}
	return nil
}

// verdict is the error of servers that are of no use: those that cannot be reached come first.
func verdict(all []checked) error {
	var lost, locked []string
	for _, s := range all {
		switch state := manager.State(s.State); {
		case s.State == stateDisabled, state.Usable():
		case state == manager.NeedsAuthorization:
			locked = append(locked, s.Name)
		default:
			lost = append(lost, s.Name)
		}
	}
	switch {
	case lost != nil:
		return &failure{exit: exitUnreachable, step: "connect", kind: "unreachable", seen: "these cannot be reached: " + strings.Join(lost, ", ")}
	case locked != nil:
		return &failure{
			exit: exitAuth, step: "connect", kind: "authorization", seen: "these want to know who asks: " + strings.Join(locked, ", "),
			next: `give credentials in their entries: "headers": {"Authorization": "Bearer ${TOKEN}"}`,
		}
	}
	return nil
}
