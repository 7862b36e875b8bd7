package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Bounds of the progress notifications that wait for a slow callback; the older ones go first, the newest never.
const (
	mostProgress      = 1000
	mostProgressBytes = 1 << 20 // of their frames, which they hold
)

// hearing hands the progress of one call to its OnProgress: one at a time, in the order in which it came, and not after
// the call has returned. On a session over HTTP progress may come by two roads at once, the stream of the call and the GET
// stream, each with a goroutine of its own.
type hearing struct {
	ctx    context.Context // of the call
	tell   func(params json.RawMessage)
	report func(error)

	turn   chan struct{}  // one place: filled while tell runs
	beside sync.WaitGroup // the goroutine that hands over what the caller's own cannot

	mu       sync.Mutex
	queue    []step
	held     int     // bytes of the frames in queue
	reached  float64 // the highest value so far
	counted  bool    // there was one
	aside    bool    // a goroutine hands over what waits
	over     bool    // nothing more is taken
	panicked bool    // tell has, on that goroutine
	value    any     // what with
}

func newHearing(ctx context.Context, tell func(json.RawMessage), report func(error)) *hearing {
	return &hearing{ctx: ctx, tell: tell, report: report, turn: make(chan struct{}, 1)}
}

// step is one progress notification that waits.
type step struct {
	params json.RawMessage
	size   int
}

// put queues a notification, unless its value does not grow: it is a repetition, or was overtaken on another stream.
// Spec 2026-07-28, basic/patterns/progress: "The progress value MUST increase with each notification".
func (h *hearing) put(n *era.Notice) {
	raw, _ := jsonrpc.Member(n.Params, "progress")
	value, err := strconv.ParseFloat(string(raw), 64)
	h.mu.Lock()
	defer h.mu.Unlock()
	known := err == nil // tell says itself what is wrong with the others
	if h.over || known && h.counted && value <= h.reached {
		return
	}
	if known {
		h.reached, h.counted = value, true
	}
	one := step{params: n.Params, size: len(n.Message.Frame())}
	h.queue, h.held = append(h.queue, one), h.held+one.size
	for len(h.queue) > 1 && (len(h.queue) > mostProgress || h.held > mostProgressBytes) {
		h.pop()
	}
}

// pop takes the oldest; h.mu is held.
func (h *hearing) pop() step {
	one := h.queue[0]
	h.queue[0] = step{}
	h.queue, h.held = h.queue[1:], h.held-one.size
	if len(h.queue) == 0 {
		h.queue = nil
	}
	return one
}

func (h *hearing) next() (step, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 || h.ctx.Err() != nil {
		return step{}, false
	}
	return h.pop(), true
}

func (h *hearing) waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.queue)
}

// run hands over what waits now; what comes meanwhile is for the next run, so that a peer which tells more than anybody
// can hear holds up nothing.
func (h *hearing) run() {
	select {
	case h.turn <- struct{}{}:
	case <-h.ctx.Done():
		return
	}
	returned := false
	defer func() {
		if !returned {
			h.stop() // of a callback that has panicked nothing more is wanted
		}
		<-h.turn
	}()
	for range h.waiting() {
		one, ok := h.next()
		if !ok {
			break
		}
		h.tell(one.params)
	}
	returned = true
}

func (h *hearing) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over, h.queue, h.held = true, nil, 0
}

// elsewhere hands over what waits while the goroutine of the call reads another stream.
func (h *hearing) elsewhere() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.aside && !h.over && len(h.queue) > 0 {
		h.aside = true
		h.beside.Go(h.drain) // ends when nothing waits; finish waits for it
	}
}

func (h *hearing) drain() {
	returned := false
	defer func() {
		if value := recover(); !returned {
			h.broken(value)
		}
	}()
	for h.more() {
		h.run()
	}
	returned = true
}

// more tells whether drain goes on. Where it does not, the next notification begins another.
func (h *hearing) more() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.aside = len(h.queue) > 0 && h.ctx.Err() == nil
	return h.aside
}

// broken notes that the callback has panicked, or ended its goroutine, where its caller could not see it.
func (h *hearing) broken(value any) {
	h.mu.Lock()
	h.aside, h.panicked, h.value = false, value != nil, value
	h.mu.Unlock()
	h.report(panicError{mcp.NotifyProgress, value, stack()})
}

// finish hands over the rest, unless the call was given up, and returns when no callback runs any more. A panic of one that
// ran elsewhere goes on here, where the caller expects it.
func (h *hearing) finish() {
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	h.run()
	h.beside.Wait()
	h.mu.Lock()
	panicked, value := h.panicked, h.value
	h.panicked = false
	h.mu.Unlock()
	if panicked {
		panic(value)
	}
}
