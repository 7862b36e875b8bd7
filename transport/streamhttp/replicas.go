package streamhttp

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
)

// replicas is what a handler needs to serve its legacy sessions together with others: the store in which a session is
// found, and the bus on which handlers ask and tell each other. A handler whose sessions are its own has none.
//
// Rules: a session is looked up in the store, and only then here. What a client must get goes into the log. Word on the bus
// may be lost, so each kind of it has something that makes up for it: a look into the store, now and then and whenever it is
// known that word was lost.
type replicas struct {
	h     *Handler
	store state.SessionStore
	bus   state.Bus
	topic string // before the names of all topics
	name  string // of this handler among the others, random
	runs  atomic.Int64

	stop  context.CancelFunc
	ctx   context.Context // of what works for no request; ended by stop
	tasks sync.WaitGroup  // the two that listen to the bus, and what they have begun
	begun sync.WaitGroup  // what was begun by spawn

	mu      sync.Mutex
	closed  bool                     // nothing more is begun
	missed  bool                     // word was lost, and not all sessions have been looked up since it began to be
	looks   bool                     // they are being looked up
	changed map[*session]struct{}    // sessions that there is news of; not looked up yet
	looking int                      // goroutines that look those up
	taking  map[string]chan struct{} // sessions that are being taken up, by id; closed when that is over
}

// patience bounds what a request waits for the store, the log and the bus, each time.
const patience = 5 * time.Second

// nameLength is that of a handler's name, in the alphabet of rand.Text.
const nameLength = 16

func newReplicas(h *Handler) *replicas {
	o := h.opts
	if o.Bus == nil || o.EventLog == nil && !o.NoResume {
		panic("streamhttp: Options.Sessions needs Bus beside it, and EventLog unless NoResume is set")
	}
	r := &replicas{h: h, store: o.Sessions, bus: o.Bus, topic: o.Topic, name: rand.Text()[:nameLength], taking: make(map[string]chan struct{}), changed: make(map[*session]struct{})}
	if r.topic == "" {
		r.topic = "rialto"
	}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.listen()
	return r
}

// close waits for what has begun, ends what listens to the bus, and returns when all of it has ended.
func (r *replicas) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.begun.Wait() // each is bounded by patience
	r.stop()
	r.tasks.Wait()
}

// spawn runs what may wait for the store or the bus, and must not hold up who has noticed. After close it does nothing.
func (r *replicas) spawn(run func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.begun.Go(run) // close waits for it
	}
}

// bounded is the context of one operation on behalf of a request.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience)
}

// idPrefix begins the ids of requests to a session, so that an answer finds its way back to this handler, and to this
// stay of the session here.
func (r *replicas) idPrefix() string {
	return "s" + r.name + "." + string(jsonrpc.IntID(r.runs.Add(1)).Raw()) + "-"
}

// askedBy returns the handler that has sent a request of some id, and false when the id is none of ours.
func askedBy(raw []byte) (name string, ok bool) {
	const before = 2 // quotation mark and "s"
	if len(raw) < before+nameLength+1 || raw[0] != '"' || raw[1] != 's' || raw[before+nameLength] != '.' {
		return "", false
	}
	return validReplica(string(raw[before : before+nameLength]))
}

// validReplica tells whether a name can be that of a handler.
func validReplica(name string) (string, bool) {
	if len(name) != nameLength {
		return "", false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return "", false
		}
	}
	return name, true
}

// pass does what a notification or an answer of a client asks of other replicas, and tells whether the receiver here is to
// get it. It fails where they cannot be reached, and then the client has to be told.
func (r *replicas) pass(ctx context.Context, s *session, m *jsonrpc.Message) (here bool, err error) {
	var answers []byte // what names the request that is answered
	switch m.Kind() {
	case jsonrpc.KindResult, jsonrpc.KindError:
		answers = m.ID.Raw()
	case jsonrpc.KindNotification:
		switch m.Method {
		case notifyInitialized:
			return true, s.shared.Keep(ctx, func(p *transport.PeerState) { p.Ready = true })
		case notifyCancelled:
			return true, r.tellCancelled(ctx, s, m)
		case notifyProgress:
			answers, _ = m.Lifted(liftProgressToken)
		}
	}
	to, ok := askedBy(answers)
	if !ok || to == r.name {
		return true, nil
	}
	_, err = r.ask(ctx, to, questionTake, s.id(), m.Frame())
	if errors.Is(err, state.ErrNobody) { // that replica has gone, and with it whoever asked
		r.h.opts.OnError(err)
		err = nil
	}
	return false, err
}
