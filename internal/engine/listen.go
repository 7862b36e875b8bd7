package engine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// hub knows the listen streams that are open.
type hub struct {
	limit, limitOf int

	mu        sync.Mutex
	listens   map[*listen]struct{}
	byCaller  map[caller]int // of principals
	over      bool           // no listen is taken any more
	gathering Change         // for listeners here
	telling   Change         // the part of it that other processes are told of
	timer     *time.Timer
}

// listen is one open subscriptions/listen. It keeps no more of its request than it needs: there may be many, for long.
type listen struct {
	in     *Incoming
	id     json.RawMessage
	filter mcp.SubscriptionFilter
	tasks  []string // of the filter
	box    mailbox

	open  bool          // acknowledged; guarded by the hub, like the next three
	over  bool          // this side ends it
	ended bool          // this side has ended it
	done  chan struct{} // closed when ended becomes true; made only where a goroutine waits for that
	left  chan struct{} // closed when Listen has done what end left to it; made by end
}

func (l *listen) wants(c Change, uri string) bool {
	switch c {
	case ToolsChanged:
		return l.filter.ToolsListChanged
	case PromptsChanged:
		return l.filter.PromptsListChanged
	case ResourcesChanged:
		return l.filter.ResourcesListChanged
	case TaskChanged:
		return slices.Contains(l.tasks, uri)
	}
	return slices.Contains(l.filter.ResourceSubscriptions, uri)
}

// Listen opens the stream of a subscriptions/listen: the acknowledgement with what is honoured first, then the changes,
// until the client goes or the engine shuts down. What it returns is the handler's own result.
func (in *Incoming) Listen(ctx context.Context, honoured mcp.SubscriptionFilter) *era.Outcome {
	h := &in.engine.hub
	l := in.newListen(honoured)
	if refusal := h.reserve(l); refusal != nil {
		return refusal
	}
	if err := in.acknowledge(ctx, l); err != nil {
		h.remove(l)
		h.settled(l)
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInvalidRequest, "a subscription is an event stream; name text/event-stream in Accept"), Row: era.RowNotAcceptable}
	}
	if !h.opened(l) { // shut down meanwhile, and left to us so that the acknowledgement is first
		h.farewell(ctx, l)
		h.settled(l)
		return nil
	}
	gone := func() {
		h.remove(l)
		l.in.engine.interest() // nothing else is held on to: there may be very many listens
	}
	in.engine.interest()
	parked := in.park(gone)
	l.box.begin()
	if parked {
		return nil
	}
	select {
	case <-h.ended(l): // and answered
	case <-in.ctx.Done():
		gone()
	}
	return endOfListen(l.id)
}

func (in *Incoming) newListen(filter mcp.SubscriptionFilter) *listen {
	l := &listen{in: in, id: in.ID().Raw(), filter: filter}
	l.tasks, _ = filter.TaskIDs()
	l.box.start = func(run func()) bool { go run(); return true } // of a stateless listen; bounded as drain says
	if in.Peer != nil {
		l.box.start = in.Peer.start
	}
	l.box.deliver = func(ctx context.Context, n *era.Notice) error {
		if !in.engine.complete(ctx, n) {
			return nil
		}
		n.Subscription = l.id
		return in.Notify(ctx, n)
	}
	l.box.failed = func(error) { in.stop(transport.ErrClosed) }
	l.box.held = true // nothing is delivered before the acknowledgement
	return l
}

func (in *Incoming) acknowledge(ctx context.Context, l *listen) error {
	filter, err := json.Marshal(l.filter)
	if err != nil {
		return err
	}
	params := append([]byte(`{"notifications":`), filter...)
	return in.Notify(ctx, &era.Notice{
		Method: mcp.NotifySubscriptionsAcknowledged, Params: append(params, '}'), Subscription: l.id,
	})
}

// endOfListen is the final result of a listen. The subscription id is part of it on every wire.
func endOfListen(id json.RawMessage) *era.Outcome {
	result := append([]byte(`{"_meta":{"`+era.MetaNames[era.MetaSubscriptionID]+`":`), id...)
	return &era.Outcome{Result: append(result, "}}"...)}
}

// reserve takes a place for a listen that is not open yet.
func (h *hub) reserve(l *listen) *era.Outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "the server is shutting down")}
	}
	who, known := callerOf(l.in.X.Principal())
	if h.limit > 0 && len(h.listens) >= h.limit || known && h.limitOf > 0 && h.byCaller[who] >= h.limitOf {
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Subscription limit reached; end a subscription that is no longer needed")}
	}
	if known {
		if h.byCaller == nil {
			h.byCaller = make(map[caller]int)
		}
		h.byCaller[who]++
	}
	if h.listens == nil {
		h.listens = make(map[*listen]struct{})
	}
	h.listens[l] = struct{}{}
	return nil
}

// opened marks a listen as acknowledged, and answers false when it was ended before.
func (h *hub) opened(l *listen) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.open = true
	return !l.over
}

// settled says that Listen has done what was left to it, and that nobody has to end this one any more.
func (h *hub) settled(l *listen) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.over = true
	if l.left != nil {
		close(l.left)
	}
}

// ended is closed when this side has ended the listen.
func (h *hub) ended(l *listen) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.done = make(chan struct{})
	if l.ended {
		close(l.done)
	}
	return l.done
}

func (h *hub) remove(l *listen) {
	l.box.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.listens[l]; !there {
		return
	}
	delete(h.listens, l)
	if who, known := callerOf(l.in.X.Principal()); known {
		if h.byCaller[who]--; h.byCaller[who] == 0 {
			delete(h.byCaller, who)
		}
	}
}

func (h *hub) wanting(c Change, uri string) []*listen {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*listen
	for l := range h.listens {
		if l.wants(c, uri) {
			out = append(out, l)
		}
	}
	return out
}

// endAll ends every listen gracefully and takes no more.
func (h *hub) endAll(ctx context.Context) {
	h.mu.Lock()
	h.over = true
	if h.timer != nil {
		h.timer.Stop()
	}
	all := slices.Collect(maps.Keys(h.listens))
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, l := range all {
		wg.Go(func() { h.end(ctx, l) })
	}
	wg.Wait()
}

// endOf begins to end the listens of one peer gracefully.
func (h *hub) endOf(ctx context.Context, p *Peer) {
	h.mu.Lock()
	var own []*listen
	for l := range h.listens {
		if l.in.Peer == p {
			own = append(own, l)
		}
	}
	h.mu.Unlock()
	for _, l := range own {
		p.start(func() { h.end(ctx, l) })
	}
}

// end ends one listen gracefully, once. One that is not acknowledged yet is left to Listen, and waited for.
func (h *hub) end(ctx context.Context, l *listen) {
	h.mu.Lock()
	first, open := !l.over, l.open
	l.over = true
	if first && !open {
		l.left = make(chan struct{})
	}
	h.mu.Unlock()
	switch {
	case !first:
		return
	case !open:
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		select {
		case <-l.left:
		case <-ctx.Done():
		}
		return
	}
	h.farewell(ctx, l)
	h.mu.Lock()
	defer h.mu.Unlock()
	l.ended = true
	if l.done != nil {
		close(l.done)
	}
}

// farewell sends the final result; on a pipe, where the stream goes on, a notice that names the listen goes before it.
func (h *hub) farewell(ctx context.Context, l *listen) {
	h.remove(l)
	if l.in.Peer != nil {
		params := append([]byte(`{"requestId":`), l.id...)
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		err := l.in.Notify(ctx, &era.Notice{Method: mcp.NotifyCancelled, Params: append(params, '}'), Subscription: l.id})
		if err != nil {
			l.in.engine.opts.OnError(err)
		}
	}
	l.in.Finish(endOfListen(l.id))
}

// Listens returns how many listen streams are open.
func (e *Engine) Listens() int {
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	return len(e.hub.listens)
}
