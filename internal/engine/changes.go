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

// The changes of the specification. ResourceUpdated goes with a URI.
const (
	ToolsChanged Change = 1 << iota
	PromptsChanged
	ResourcesChanged
	ResourceUpdated
)

var changeMethods = map[Change]string{
	ToolsChanged:     "notifications/tools/list_changed",
	PromptsChanged:   "notifications/prompts/list_changed",
	ResourcesChanged: mcp.NotifyResourcesChanged,
	ResourceUpdated:  "notifications/resources/updated",
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
	uris  []string
	busy  bool
	over  bool
}

// mostURIs bounds the updated resources that wait for one listener; beyond it the oldest goes.
const mostURIs = 10000

func (b *mailbox) put(c Change, uri string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	if c != ResourceUpdated {
		b.lists |= c
	} else if !slices.Contains(b.uris, uri) {
		if len(b.uris) >= mostURIs {
			b.uris = b.uris[1:]
		}
		b.uris = append(b.uris, uri)
	}
	if !b.busy {
		b.busy = b.start(b.drain) // ends when the box is empty or a delivery fails; each delivery is bounded by answerTime
	}
}

// begin delivers what has gathered in a box that was held back by setting busy.
func (b *mailbox) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = (b.lists != 0 || len(b.uris) > 0) && b.start(b.drain)
}

func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over, b.lists, b.uris = true, 0, nil
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
	for _, c := range listChanges {
		if b.lists&c != 0 {
			b.lists &^= c
			return &era.Notice{Method: changeMethods[c]}
		}
	}
	if len(b.uris) > 0 {
		params := append(jsonrpc.AppendString([]byte(`{"uri":`), b.uris[0]), '}')
		b.uris = b.uris[1:]
		return &era.Notice{Method: changeMethods[ResourceUpdated], Params: params}
	}
	b.busy = false
	return nil
}

// debounce is how long list changes gather before they are announced, so that a loop that adds ten tools is one change.
const debounce = 20 * time.Millisecond

// Announce tells every listener that wants to know of a change: listens that asked for it, and on the legacy era every
// peer (for a resource: those that subscribed to it). List changes gather for a moment first; with nobody there they are
// forgotten, since whoever comes later sees the new list anyway. After Begin other processes hear of it too. It does not
// wait.
func (e *Engine) Announce(c Change, uri string) {
	if c == ResourceUpdated {
		e.spread(c, uri)
		e.tell(c, uri)
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
	return p.Ready() && (c != ResourceUpdated || p.subscribed(uri))
}
