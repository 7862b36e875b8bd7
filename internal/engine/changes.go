package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Change is a kind of change that listeners hear of.
type Change uint8

// The changes of the specification and its extensions. ResourceUpdated goes with a URI, TaskChanged with the id of a task.
const (
	ToolsChanged Change = 1 << iota
	PromptsChanged
	ResourcesChanged
	ResourceUpdated
	TaskChanged
)

// keyed tells whether a change is one of a single thing.
func (c Change) keyed() bool { return c == ResourceUpdated || c == TaskChanged }

var changeMethods = map[Change]string{
	ToolsChanged:     "notifications/tools/list_changed",
	PromptsChanged:   "notifications/prompts/list_changed",
	ResourcesChanged: mcp.NotifyResourcesChanged,
	ResourceUpdated:  "notifications/resources/updated",
	TaskChanged:      mcp.NotifyTask,
}

// single is a change of one thing: a resource by its URI, a task by its id.
type single struct {
	change Change
	key    string
}

// notice is what tells of it. That of a task gets its parameters when it is delivered, so that they are the newest.
func (s single) notice() *era.Notice {
	name := "uri"
	if s.change == TaskChanged {
		name = "taskId"
	}
	params := append([]byte(`{"`+name+`":`), jsonrpc.AppendString(nil, s.key)...)
	return &era.Notice{Method: changeMethods[s.change], Params: append(params, '}')}
}

// keyOf is the key of the change that a notice tells of; "" for one of a whole list.
func keyOf(n *era.Notice) string {
	for _, name := range []string{"uri", "taskId"} {
		if raw, ok := jsonrpc.Member(n.Params, name); ok {
			key, _ := jsonrpc.Text(raw)
			return key
		}
	}
	return ""
}

// complete puts into a notice what it says when it is delivered. It answers false when there is nothing to tell any more.
func (e *Engine) complete(ctx context.Context, n *era.Notice) bool {
	if n.Method != mcp.NotifyTask {
		return true
	}
	if e.opts.Task == nil {
		return false
	}
	n.Params = e.opts.Task(ctx, keyOf(n))
	return n.Params != nil
}

// listChanges in the order they are sent.
var listChanges = []Change{ToolsChanged, PromptsChanged, ResourcesChanged}

// mailbox gathers changes for one listener and delivers them one after another. A change that is still waiting is not
// put in twice, so a slow listener costs at most one place for each list and each URI.
type mailbox struct {
	start   func(run func()) bool // runs a function on a goroutine; false when that is over
	deliver func(ctx context.Context, n *era.Notice) error
	failed  func(error) // delivery is over

	mu    sync.Mutex
	lists Change
	ones  []single
	busy  bool
	held  bool // what is put in waits for begin
	over  bool
}

// mostOnes bounds the single changes that wait for one listener; beyond it the oldest goes.
const mostOnes = 10000

func (b *mailbox) put(c Change, key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	if !c.keyed() {
		b.lists |= c
	} else if one := (single{c, key}); !slices.Contains(b.ones, one) {
		if len(b.ones) >= mostOnes {
			b.ones = b.ones[1:]
		}
		b.ones = append(b.ones, one)
	}
	b.stir()
}

// stir sees to it that what is in the box is delivered, unless that is held back; b.mu is held.
func (b *mailbox) stir() {
	if full := b.lists != 0 || len(b.ones) > 0; full && !b.busy && !b.held {
		b.busy = b.start(b.drain) // ends when the box is empty or a delivery fails; each delivery is bounded by answerTime
	}
}

// hold holds back what is put in, until begin.
func (b *mailbox) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
}

// begin delivers what has gathered in a box that was held back.
func (b *mailbox) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = false
	b.stir()
}

// empty forgets what waits in the box.
func (b *mailbox) empty() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lists, b.ones = 0, nil
}

func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over, b.lists, b.ones = true, 0, nil
}

func (b *mailbox) drain() {
	for {
		n := b.next()
		if n == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), answerTime)
		err := b.deliver(ctx, n)
		cancel()
		if err != nil && !errors.Is(err, transport.ErrUndeliverable) {
			b.close()
			b.failed(err)
		}
	}
}

func (b *mailbox) next() *era.Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held {
		b.busy = false
		return nil
	}
	for _, c := range listChanges {
		if b.lists&c != 0 {
			b.lists &^= c
			return &era.Notice{Method: changeMethods[c]}
		}
	}
	if len(b.ones) > 0 {
		n := b.ones[0].notice()
		b.ones = b.ones[1:]
		return n
	}
	b.busy = false
	return nil
}

// debounce is how long list changes gather before they are announced, so that a loop that adds ten tools is one change.
const debounce = 20 * time.Millisecond

// Announce tells every listener that wants to know of a change: listens that asked for it, and on the legacy era every
// peer (for a resource: those that subscribed to it; of a task none). List changes gather for a moment first; with nobody there they are
// forgotten, since whoever comes later sees the new list anyway. After Begin other processes hear of it too. It does not
// wait.
func (e *Engine) Announce(c Change, key string) {
	if c.keyed() {
		e.spread(c, key)
		e.tell(c, key)
		return
	}
	tells := e.tells.Load()
	if !tells && e.Listens() == 0 && len(e.Peers()) == 0 {
		return
	}
	h := &e.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gathering |= c
	if tells {
		h.telling |= c
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(debounce, e.announceGathered) // stopped by endAll
	}
}

// announceGathered tells of the list changes that have gathered.
func (e *Engine) announceGathered() {
	h := &e.hub
	h.mu.Lock()
	all, told := h.gathering, h.telling
	h.gathering, h.telling, h.timer = 0, 0, nil
	h.mu.Unlock()
	for _, c := range listChanges {
		if all&c != 0 {
			e.spread(c, "")
		}
		if told&c != 0 {
			e.tell(c, "")
		}
	}
}

func (e *Engine) spread(c Change, uri string) {
	for _, l := range e.hub.wanting(c, uri) {
		l.box.put(c, uri)
	}
	if c == TaskChanged {
		return // a session hears of its own tasks alone: see Incoming.TellTask
	}
	for _, p := range e.Peers() {
		if p.mayWant(c, uri) {
			p.box.put(c, uri)
		}
	}
}

// mayWant tells whether a legacy peer is to be told of a change. Where several processes serve it, who held it when the change
// came tells it, whatever has moved when its turn has come; what it wants is judged then.
func (p *Peer) mayWant(c Change, uri string) bool {
	if p.keeper != nil {
		return p.keeper.Holds()
	}
	return p.expected() && (c != ResourceUpdated || p.subscribed(uri))
}

// TellTask tells the peer of a request that a task of it has changed, where the peer hears of that without asking.
func (in *Incoming) TellTask(id string) {
	if in.Peer != nil && in.Codec.Traits().Unsolicited {
		in.Peer.TellTask(id)
	}
}

// TellTask tells the peer that a task has changed. Its revision has to have notices of that.
func (p *Peer) TellTask(id string) { p.box.put(TaskChanged, id) }

// NotifyLater sends a notification that belongs to a request which has been answered, where the peer takes that: on no
// stream of its own.
func (in *Incoming) NotifyLater(ctx context.Context, n *era.Notice) error {
	if in.Peer == nil {
		return transport.ErrUndeliverable
	}
	return in.Peer.Notify(ctx, n)
}
