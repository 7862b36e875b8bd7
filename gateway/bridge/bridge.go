package bridge

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// Options configures a Bridge. The zero value is ready to use.
type Options struct {
	// Rules are those to begin with; see [Bridge.Reload].
	Rules Rules

	// StartWait is how long a request waits at most for servers that have not been tried yet. Zero means 5 s.
	StartWait time.Duration

	// Server is what the front is built with. Catalogue, Fallback and the capabilities of the lists are the bridge's own.
	Server server.Options

	// OnNotes is told of names that have been changed or left out, or are at risk; each once. Nil means silence.
	OnNotes func([]route.Note)

	// Logger receives what goes wrong and no client is told. Nil means silence.
	Logger *slog.Logger
}

// Upstreams is what a bridge needs of an [upstream.Set].
type Upstreams interface {
	Settled(ctx context.Context)
	Snapshots() []upstream.Snapshot
	Freshen(lists upstream.Kinds, c *upstream.Caller)
	Hints(list upstream.Kinds, c *upstream.Caller) []upstream.Hint
	Call(ctx context.Context, name string, call upstream.Call) (*upstream.Answer, error)
	SnapshotsFor(c *upstream.Caller) (snaps []upstream.Snapshot, own bool)
	Prepare(ctx context.Context, c *upstream.Caller, most time.Duration)
	WatchFor(name string, wants []upstream.Want)
	Owns(name string, c *upstream.Caller) bool
	Splits(name string) bool
	EndSession(id string)
	Reason(name string, err error) string
}

// Bridge is one server in front of many. Its methods may be called concurrently.
type Bridge struct {
	opts  Options // Rules apart, which a reload changes
	ups   Upstreams
	front *server.Server
	until time.Time // when waiting for first connections ends

	parking  parking
	underway underway
	tasks    *taskDesk

	watching   sync.Mutex  // of what clients subscribe to
	watchTimer *time.Timer // runs when it is to be looked at
	watchOver  bool

	mu    sync.Mutex // of those who rebuild
	rules *Rules
	view  atomic.Pointer[view]
	owned ownViews
}

// New makes a bridge over upstreams that may still be connecting. Changed must be called when their lists have changed.
// It fails when the naming does not fit the servers.
func New(info mcp.Implementation, ups Upstreams, opts Options) (*Bridge, error) {
	if opts.StartWait == 0 {
		opts.StartWait = 5 * time.Second
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Bridge{opts: opts, rules: &opts.Rules, ups: ups, until: time.Now().Add(opts.StartWait)}
	first, err := build(&opts.Rules, ups.Snapshots())
	if err != nil {
		return nil, err
	}
	b.view.Store(first)
	o := opts.Server
	b.tasks = newTaskDesk(b)
	o.Catalogue, o.Fallback, o.Tasks = b, b.answer, b.tasks
	o.Extensions, o.Declares = append(slices.Clone(o.Extensions), skills.Extension()), b.declares
	o.Capabilities.Tools = &mcp.ToolsCapability{ListChanged: true}
	o.Capabilities.Prompts = &mcp.PromptsCapability{ListChanged: true}
	o.Capabilities.Resources = &mcp.ResourcesCapability{ListChanged: true, Subscribe: true}
	o.Hooks.Subscriptions, o.MayFollow = b.interest, b.mayFollow
	o.Hooks.SessionClosed = b.sessionClosed(o.Hooks.SessionClosed)
	o.Capabilities.Completions = &mcp.Capability{}
	o.Capabilities.Logging = &mcp.Capability{}
	b.front = server.New(info, o)
	return b, nil
}

// Server is the front, to be served.
func (b *Bridge) Server() *server.Server { return b.front }

// Close ends the calls that wait for answers of their clients. It belongs between the shutdown of the server and that of the
// upstreams.
func (b *Bridge) Close() {
	b.endWatch()
	b.parking.close()
}

// Dismiss ends what callers have open over HTTP that gone says yes to, as [server.Server.Dismiss] does, and their calls: those under
// way, whatever the era of the caller, and those that wait for its answers. gone gets nil for nobody, and must not block.
func (b *Bridge) Dismiss(gone func(*mcp.Principal) bool) {
	b.front.Dismiss(gone)
	b.underway.dismiss(gone)
	b.parking.dismiss(gone)
}

// Changed takes up the lists of the upstreams and announces those that look different now.
func (b *Bridge) Changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rebuild()
}

// Reload takes other rules into use, and with them other servers: swap puts those in place, and servers are their names.
// Clients see both at one moment, and hear of the lists that look different. It fails when the naming does not fit the
// servers, or with the error of swap; then nothing has changed. swap must not wait for a call of Changed.
func (b *Bridge) Reload(rules Rules, servers []string, swap func() error) error {
	if err := rules.Naming.Validate(servers); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := swap(); err != nil {
		return err
	}
	seen := b.rules.Seen
	b.rules = &rules
	b.rebuild()
	if seen != rules.Seen && b.view.Load().lack == nil {
		for kind := range shown {
			b.front.Changed(server.ListKind(kind))
		}
	}
	return nil
}

// rebuild puts a new view in place and announces what is different: while no list can be given nothing, and all of them once they
// can be. b.mu is held.
func (b *Bridge) rebuild() {
	next, err := build(b.rules, b.ups.Snapshots())
	if err != nil { // the naming was checked in New, or in Reload, against the same servers
		b.opts.Logger.Error("the lists cannot be merged", slog.String("error", err.Error()))
		return
	}
	old := b.view.Load()
	changed := next.keep(old)
	b.view.Store(next)
	switch {
	case next.lack != nil: // whoever heard of them would ask for them and get nothing
		changed = nil
	case old.lack != nil: // who has asked meanwhile has got nothing
		changed = []server.ListKind{server.Tools, server.Prompts, server.Resources, server.ResourceTemplates}
	}
	for _, kind := range changed {
		b.front.Changed(kind)
	}
	b.interest() // what clients listen to may belong to another server now, though all looks the same
	b.report(old, next)
}

// report tells of the notes about names that are new.
func (b *Bridge) report(old, next *view) {
	if b.opts.OnNotes == nil {
		return
	}
	known := make(map[string]bool)
	for _, n := range old.table.Report() {
		known[n.String()] = true
	}
	var fresh []route.Note
	for _, n := range next.table.Report() {
		if !known[n.String()] {
			fresh = append(fresh, n)
		}
	}
	if len(fresh) > 0 {
		b.opts.OnNotes(fresh)
	}
}

// List implements [server.Catalogue].
func (b *Bridge) List(ctx context.Context, req *server.Request, kind server.ListKind) (*server.List, error) {
	b.settle(ctx)
	v := b.viewFor(ctx, req)
	if v.lack != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "%s", v.lack)
	}
	who := Identity(ctx, req)
	b.ups.Freshen(listed[kind], who)
	return v.lists[kind].with(v.confined(merged(b.ups.Hints(listed[kind], who), v.sources[kind]))), nil
}

// settle waits a moment for servers that have not been tried yet, so that the first client sees all of them.
func (b *Bridge) settle(ctx context.Context) {
	if !time.Now().Before(b.until) {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, b.until)
	defer cancel()
	b.ups.Settled(ctx)
}

// answer is the fallback of the front: it relays what is known here.
func (b *Bridge) answer(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	if req.Method() == skills.MethodList {
		return b.listSkills(ctx, req)
	}
	r, ok := relays[req.Method()]
	if !ok {
		return nil, server.ErrUnhandled
	}
	ctx, left := b.underway.enter(ctx, req)
	defer left()
	if handle, ok := ownState(req, parkedState); ok {
		return b.resume(ctx, req, handle)
	}
	if own := b.searched(ctx, req); own != nil {
		return own, nil
	}
	v, to, ok := b.destination(ctx, req, r)
	if !ok && outlived(req) {
		return doneWith(), nil
	}
	if !ok {
		if r.none != nil {
			return nil, r.none(v, req)
		}
		return nil, server.ErrUnhandled
	}
	result, err := b.pass(ctx, req, v.rules, v, to, func(ctx context.Context, p *Passage) (*server.RawResult, error) {
		to.sent, p.sent = p.Params, p.Params
		return b.relay(ctx, p, v, to)
	})
	return v.withSchema(req, to, result, err)
}

// pass takes the steps on the way to a destination that a view has given. last comes after them.
func (b *Bridge) pass(ctx context.Context, req *server.Request, rules *Rules, v *view, to destination, last func(context.Context, *Passage) (*server.RawResult, error)) (*server.RawResult, error) {
	if err := to.mirrors.Check(req); err != nil {
		return nil, err
	}
	if to.kind == route.Tool {
		if err := req.JudgeTask(mayBeTask(to.tasks)); err != nil {
			return nil, err
		}
	}
	p := &Passage{Request: req, Entry: v.entry(to.kind, to.Target), Params: to.params}
	_, p.Resumed = ownState(req, parkedState)
	return walk(ctx, rules.Steps, p, last)
}

// destination says where a request goes.
func (b *Bridge) destination(ctx context.Context, req *server.Request, r relayed) (*view, destination, bool) {
	v := b.viewFor(ctx, req)
	to, ok := r.find(v, req)
	if !ok {
		b.settle(ctx)
		v = b.viewFor(ctx, req)
		to, ok = r.find(v, req)
	}
	return v, to, ok
}

// destination is where a request goes, and what it becomes for that server.
type destination struct {
	kind route.Kind // of what is asked for
	route.Target
	asked  string          // the address that the client knows; "" for what has none
	params json.RawMessage // before any step
	sent   json.RawMessage // after all of them
	wrap   bool            // the tool's output schema has a root that is no object

	mirrors *server.Mirrors // the tool's arguments that headers repeat; nil for none

	tasks string        // how the tool runs as a task, as in mcp.ToolExecution.TaskSupport
	late  *lateProgress // of the task that a call becomes; nil for none that is told

	responses, state json.RawMessage // answers and state that go back to the server; nil for none
}
