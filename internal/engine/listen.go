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
	limit int

	mu        sync.Mutex
	listens   map[*listen]struct{}
	ended     bool
	gathering Change
	timer     *time.Timer
}

// listen is one open subscriptions/listen. It keeps no more of its request than it needs: there may be many, for long.
type listen struct {
	in     *Incoming
	id     json.RawMessage
	filter mcp.SubscriptionFilter
	box    mailbox
}

func (l *listen) wants(c Change, uri string) bool {
	switch c {
	case ToolsChanged:
		return l.filter.ToolsListChanged
	case PromptsChanged:
		return l.filter.PromptsListChanged
	case ResourcesChanged:
		return l.filter.ResourcesListChanged
	}
	return slices.Contains(l.filter.ResourceSubscriptions, uri)
}

// Listen opens the stream of a subscriptions/listen: the acknowledgement with what is honoured first, then the changes,
// until the client goes or the engine shuts down. What it returns is the handler's own result.
func (in *Incoming) Listen(ctx context.Context, honoured mcp.SubscriptionFilter) *era.Outcome {
	h := &in.engine.hub
	l := &listen{in: in, id: in.ID().Raw(), filter: honoured}
	l.box.deliver = func(ctx context.Context, n *era.Notice) error {
		n.Subscription = l.id
		return in.Notify(ctx, n)
	}
	l.box.failed = func(error) { in.stop(transport.ErrClosed) }
	if refusal := h.reserve(l); refusal != nil {
		return refusal
	}
	if err := in.acknowledge(ctx, l); err != nil {
		h.remove(l)
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "a subscription needs a client that accepts text/event-stream"), Row: era.RowNotAcceptable}
	}
	parked := in.park(func() { h.remove(l) })
	l.box.begin()
	if parked {
		return nil
	}
	<-in.ctx.Done()
	h.remove(l)
	return endOfListen(l.id)
}

func (in *Incoming) acknowledge(ctx context.Context, l *listen) error {
	filter, err := json.Marshal(l.filter)
	if err != nil {
		return err
	}
	params := append([]byte(`{"notifications":`), filter...)
	return in.Notify(ctx, &era.Notice{
		Method: "notifications/subscriptions/acknowledged", Params: append(params, '}'), Subscription: l.id,
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
	if h.ended {
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "the server is shutting down")}
	}
	if h.limit > 0 && len(h.listens) >= h.limit {
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Subscription limit reached")}
	}
	if h.listens == nil {
		h.listens = make(map[*listen]struct{})
	}
	h.listens[l] = struct{}{}
	l.box.busy = true // nothing is delivered before the acknowledgement
	return nil
}

func (h *hub) remove(l *listen) {
	l.box.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.listens, l)
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
func (h *hub) endAll() {
	h.mu.Lock()
	h.ended = true
	all := slices.Collect(maps.Keys(h.listens))
	h.mu.Unlock()
	for _, l := range all {
		h.end(l)
	}
}

// endOf ends the listens of one peer gracefully.
func (h *hub) endOf(p *Peer) {
	h.mu.Lock()
	var own []*listen
	for l := range h.listens {
		if l.in.Peer == p {
			own = append(own, l)
		}
	}
	h.mu.Unlock()
	for _, l := range own {
		h.end(l)
	}
}

// end sends the final result; on a pipe, where the stream goes on, a notice that names the listen goes before it.
func (h *hub) end(l *listen) {
	h.remove(l)
	if l.in.Peer != nil {
		params := append([]byte(`{"requestId":`), l.id...)
		ctx, cancel := context.WithTimeout(context.Background(), answerTime)
		defer cancel()
		err := l.in.Notify(ctx, &era.Notice{Method: methodCancelled, Params: append(params, '}'), Subscription: l.id})
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
