package streamhttp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// follower is a GET stream of a session that several handlers serve: it brings what any of them stores in the log under the
// name of a line. The stream of a call that runs here is a line of the usual kind instead.
type follower struct {
	s       *session
	name    string
	to      *stream
	call    bool   // of a call that runs elsewhere
	who     string // of a call: this follower among others, random
	version uint64 // of a GET stream: of the record that says that it is here
	last    string // id of the last event that the client has, or gets; of pump, once that runs
	cancel  context.CancelFunc
	dry     atomic.Bool // nothing more is stored: what is there is the rest

	mu   sync.Mutex
	open bool // to is there
	over bool // it is to end
}

// overMark is stored behind the last event of a call that ends without an answer. It is no JSON, and sent to nobody.
var overMark = []byte("!")

// get answers a GET in a session that several handlers serve.
func (r *replicas) get(w http.ResponseWriter, req *http.Request, s *session, after string) {
	if after == "" {
		r.follow(w, req, &follower{s: s, name: s.newLine(getLine).name}, "")
		return
	}
	ctx, cancel := bounded(req.Context())
	name, _, err := r.h.log.Replay(ctx, s.id(), after)
	cancel()
	if err != nil {
		r.h.refuseResume(w, err)
		return
	}
	f := &follower{s: s, name: name, call: name[0] == callLine}
	if !f.call {
		r.follow(w, req, f, after)
		return
	}
	owner := ownerOf(name)
	runs := owner == r.name
	if !runs {
		f.who = rand.Text()
		runs, err = r.ask(req.Context(), owner, questionYield, s.id(), f.names())
	}
	switch {
	case err != nil && !errors.Is(err, state.ErrNobody):
		r.h.refuseResume(w, err)
	case runs && owner != r.name:
		r.follow(w, req, f, after)
	default: // it runs here, or nowhere any more
		s.takeBack(name)
		r.h.resume(w, req, s, after)
	}
}

// ownerOf returns the handler whose call a line belongs to; "" where the name has none.
func ownerOf(line string) string {
	name, _, _ := bytes.Cut([]byte(line[1:]), []byte{'.'})
	owner, _ := validReplica(string(name))
	return owner
}

// follow answers a GET with a follower. The record says first that the stream is the one for what belongs to no call.
func (r *replicas) follow(w http.ResponseWriter, req *http.Request, f *follower, after string) {
	s := f.s
	if !s.reserve() {
		web.Plain(w, http.StatusConflict, errStreams.Error())
		return
	}
	ctx, cancel := context.WithCancel(r.ctx) // of the stream, which outlives the request
	f.cancel = cancel
	first, events, err := r.prepare(req.Context(), ctx, f, after)
	written := false
	if err == nil {
		f.to, err = r.h.streams.begin(w, req, true, first, func(*stream) error {
			refused := s.shared.attach(f)
			written = refused == nil
			return refused
		})
	}
	if err != nil {
		r.giveUp(w, f, err, written)
		return
	}
	if after != "" && !f.call {
		r.h.report(r.tell(req.Context(), wordTaken, s.id(), fmt.Appendf(nil, "%s\n%d", f.name, f.version)))
	}
	f.opened()
	r.h.streams.readers.Go(func() { f.pump(events) }) // ends with the stream; Close closes that and waits
	if f.call {
		r.h.streams.readers.Go(func() { f.probe(ctx) }) // likewise
	}
	if f.to.conn != nil {
		f.to.onGone(f.detach)
		return
	}
	defer f.detach()
	f.to.hold(req)
}

// prepare begins to follow the log, and makes the stream that of the session.
func (r *replicas) prepare(request, ctx context.Context, f *follower, after string) (first []byte, events iter.Seq2[state.Event, error], err error) {
	s := f.s
	if after == "" && s.codec.Traits().PrimesStreams {
		bound, cancel := bounded(request)
		after, err = r.h.log.Append(bound, s.id(), f.name, nil)
		cancel()
		if err != nil {
			return nil, nil, refusal{err}
		}
		first = sse.AppendEvent(nil, sse.Event{ID: after, HasID: true})
	}
	if events, err = r.h.log.Follow(ctx, s.id(), f.name, after); err != nil {
		return nil, nil, refusal{err}
	}
	f.last = after
	if !f.call {
		err = s.shared.change(request, func(rec *state.Session) error {
			rec.Owner, rec.Stream = r.name, f.name
			f.version = rec.Version + 1 // what an update makes of it
			return nil
		})
		if err != nil {
			f.version = 0
		}
	}
	return first, events, err
}

// giveUp answers a GET that no stream came of, unless something may have been written.
func (r *replicas) giveUp(w http.ResponseWriter, f *follower, err error, written bool) {
	if f.version != 0 { // the record says that the stream is here
		f.detach()
	} else {
		f.cancel()
		f.s.shared.drop(f)
		f.s.giveBack()
	}
	var refused refusal
	switch {
	case written:
		r.h.opts.OnError(err)
	case errors.As(err, &refused):
		r.h.refuseResume(w, refused.error)
	case errors.Is(err, transport.ErrClosed) && !r.h.isClosed():
		unknownSession(w) // it has ended meanwhile
	default:
		r.h.refuseSession(w, jsonrpc.ID{}, err)
	}
}

// opened notes that the stream is there. One that was to end meanwhile does.
func (f *follower) opened() {
	f.mu.Lock()
	f.open = true
	over := f.over
	f.mu.Unlock()
	if over {
		f.end()
	}
}

// names says which stream of a call it is, and who goes on with it.
func (f *follower) names() []byte { return []byte(f.name + "\n" + f.who) }

// end ends the stream, at once or when it is there. Its connection may hang in a write.
func (f *follower) end() {
	f.mu.Lock()
	f.over = true
	open := f.open
	f.mu.Unlock()
	if !open {
		return
	}
	f.to.unblock()
	f.to.close()
}

// runDry ends the stream of a call to which nothing is added any more, when it has brought all that is stored: whoever
// reads the log may be behind.
func (f *follower) runDry() {
	f.dry.Store(true)
	f.cancel()
}

// pump writes what is stored until the stream is over.
func (f *follower) pump(events iter.Seq2[state.Event, error]) {
	defer f.to.close()
	if f.bring(events) || !f.dry.Load() {
		return
	}
	ctx, cancel := bounded(f.s.shared.r.ctx)
	defer cancel()
	_, rest, err := f.s.h.log.Replay(ctx, f.s.id(), f.last)
	if err == nil {
		f.bring(rest)
		return
	}
	f.failed(err)
}

// bring writes events, and tells whether the stream is over with them.
func (f *follower) bring(events iter.Seq2[state.Event, error]) (over bool) {
	for e, err := range events {
		if err != nil {
			f.failed(err)
			return false
		}
		if bytes.Equal(e.Data, overMark) || f.to.stored(e) != nil || f.call && isAnswer(e.Data) {
			return true
		}
		f.last = e.ID
	}
	return false
}

// failed reports a fault of the log. That the session or the stream has ended is none.
func (f *follower) failed(err error) {
	if !errors.Is(err, state.ErrNotFound) && !errors.Is(err, context.Canceled) {
		f.s.h.opts.OnError(fmt.Errorf("follow a stream: %w", err))
	}
}

// isAnswer tells whether an event ends the stream of a call: the answer to a request, or to an array of them.
func isAnswer(data []byte) bool {
	if jsonrpc.IsBatch(data) {
		return true
	}
	m, err := jsonrpc.Decode(data, nil)
	if err != nil {
		return false
	}
	return m.Kind() == jsonrpc.KindResult || m.Kind() == jsonrpc.KindError
}

// probes is how often the handler of a call is asked whether it is still there. A line counts as followed for twice that.
const probes = 20 * time.Second

// mostSilent is how many such questions in a row may stay without an answer. A bus that cannot tell whether anybody hears
// says no more than that of a handler that has gone.
const mostSilent = 3

// probe ends the stream of a call whose handler has gone: nothing would ever come.
func (f *follower) probe(ctx context.Context) {
	ticker := time.NewTicker(probes)
	defer ticker.Stop()
	for silent := 0; ; { // at once too: somebody else may have gone on with it before this one could hear of that
		runs, err := f.s.shared.r.ask(ctx, ownerOf(f.name), questionProbe, f.s.id(), f.names())
		unknown := err != nil && !errors.Is(err, state.ErrNobody)
		switch {
		case ctx.Err() != nil:
			return
		case unknown:
			f.s.h.opts.OnError(err)
			silent++
		default:
			silent = 0
		}
		if silent >= mostSilent || !unknown && !runs {
			f.runDry()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
