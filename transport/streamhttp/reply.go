package streamhttp

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// reply is the HTTP response of one POST: nothing yet, then a JSON body or an event stream. After over is set nothing
// touches the writer any more, so that its handler may return.
type reply struct {
	h       *Handler
	long    bool               // a request that stays open by design: its stream takes the connection over
	opening *session           // that begins with this answer
	resumes *session           // that keeps the events of the stream, so that it outlives the connection; else nil
	cancel  context.CancelFunc // of a long request; ends what holds it once it has been answered

	mu     sync.Mutex
	w      http.ResponseWriter
	r      *http.Request
	takes  form
	over   bool
	parked bool
	stream *stream
	line   *line // of the stream, where its events are kept
	alarm  *alarm
}

// soon is how long a response that must be a stream waits for a refusal, which has a status of its own.
const soon = 50 * time.Millisecond

// begin starts the time after which the response becomes a stream by itself.
func (p *reply) begin() {
	after := p.h.opts.UpgradeAfter
	switch {
	case p.takes == jsonBody || after < 0 && p.takes != eventsBody:
		return
	case p.takes == eventsBody && (after < 0 || after > soon):
		after = soon
	}
	p.mu.Lock()
	p.alarm = p.h.alarms.set(p, after)
	p.mu.Unlock()
}

// upgrade makes the response a stream because it takes long.
func (p *reply) upgrade() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alarm = nil // it has rung
	if p.over || p.stream != nil || p.lost() {
		return
	}
	if err := p.open(0); err != nil && !errors.Is(err, transport.ErrClosed) {
		p.h.opts.OnError(err)
	}
}

// open makes the response a stream; p.mu is held. retry is how long a client that loses it is told to wait, where its
// revision is told and it is positive.
func (p *reply) open(retry time.Duration) error {
	p.quiet()
	p.name()
	var err error
	if p.resumes != nil {
		err = p.openLine(retry)
	} else {
		p.stream, err = p.h.streams.begin(p.w, p.r, p.long, nil, nil)
	}
	switch {
	case errors.Is(err, transport.ErrClosed): // no more streams are taken; nothing is out, so the answer may still go without one
		return err
	case err != nil:
		p.finished() // the head may be out already: nothing else can be answered
		return err
	}
	if p.cancel != nil {
		p.stream.onGone(p.cancel)
	}
	return nil
}

// openLine makes the response the first connection of a line of the session; p.mu is held.
func (p *reply) openLine(retry time.Duration) (err error) {
	l := p.resumes.newLine(callLine)
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.stream, err = p.h.streams.begin(p.w, p.r, false, l.prime(retry), func(*stream) error {
		p.resumes.beginCall(l)
		return nil
	}); err != nil {
		p.resumes.forgetCall(l)
		return err
	}
	l.to.Store(p.stream)
	p.line = l
	return nil
}

// quiet stops the alarm; p.mu is held.
func (p *reply) quiet() {
	if p.alarm != nil {
		p.h.alarms.stop(p.alarm)
		p.alarm = nil
	}
}

func (p *reply) send(ctx context.Context, frame []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
		return transport.ErrClosed
	case p.line != nil:
		return p.line.send(ctx, frame)
	case p.takes == jsonBody, p.lost():
		return transport.ErrUndeliverable
	case p.stream == nil:
		if err := p.open(0); err != nil {
			return errors.Join(transport.ErrUndeliverable, err)
		}
	}
	if p.line != nil {
		return p.line.send(ctx, frame)
	}
	return p.stream.event(frame)
}

// closeStream ends the connection and lets the call go on: the client comes back for what it has not seen. It tells
// whether it has ended.
func (p *reply) closeStream(retry time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.resumes == nil || !p.resumes.codec.Traits().PrimesStreams || p.takes&eventsBody == 0 {
		return false
	}
	if p.stream == nil {
		if p.lost() || p.open(retry) != nil {
			return false
		}
		retry = 0 // told already
	}
	return p.line != nil && p.line.given.Load() && p.line.pauseFor(retry)
}

// lost tells whether the connection is known to have gone; p.mu is held. A connection taken over tells so by itself.
func (p *reply) lost() bool { return p.r != nil && !p.long && p.r.Context().Err() != nil }

// answer ends the response; good says that the frame is a result.
func (p *reply) answer(ctx context.Context, frame []byte, code int, good bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return transport.ErrClosed
	}
	defer p.finished()
	if p.opening != nil {
		frame, code = p.settleOpening(ctx, frame, code, good)
	}
	if !good && p.stream == nil {
		code = p.demanded(code)
	}
	if p.stream == nil && p.takes == eventsBody && code == http.StatusOK {
		if err := p.open(0); err != nil && !errors.Is(err, transport.ErrClosed) {
			return err
		}
	}
	switch {
	case p.line != nil:
		return p.line.finish(ctx, frame)
	case p.stream != nil:
		return p.stream.event(frame)
	}
	p.name()
	p.body(frame, code)
	return nil
}

// demanded gives a failed answer the status and headers that an authorization layer wants; p.mu is held.
func (p *reply) demanded(code int) int {
	if p.r == nil { // the connection has been taken over
		return code
	}
	g := transport.GrantOf(p.r.Context())
	if g == nil || g.Demanded() == nil {
		return code
	}
	maps.Copy(p.w.Header(), g.Demanded().Header)
	return g.Demanded().Status
}

// settleOpening makes the session that begins with a good answer known, before its client can be. Where that cannot be done
// the answer is another one; p.mu is held.
func (p *reply) settleOpening(ctx context.Context, frame []byte, code int, good bool) ([]byte, int) {
	s := p.opening
	var err error
	if good && s.shared != nil {
		err = p.h.shared.create(ctx, s)
	}
	if !good || err != nil || !s.publish() {
		p.opening = nil
	}
	if err == nil {
		return frame, code
	}
	p.h.opts.OnError(err)
	no := mcp.Errorf(mcp.CodeInternal, "no session can be opened now; try again in a moment")
	return jsonrpc.AppendError(nil, s.shared.id, era.WriteError(no, no.Code)), http.StatusServiceUnavailable
}

// connected tells whether the response is a stream that is open to its client, as far as is known, and which line it is.
func (p *reply) connected() (bool, *line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
		return true, nil // nobody waits for its client any more
	case p.line != nil && p.line.to.Load() != p.stream:
		return p.line.connected(), p.line
	}
	return !p.lost() && (p.stream == nil || p.stream.alive()), p.line
}

// name puts the id of a session that begins into the header; p.mu is held.
func (p *reply) name() {
	if p.opening != nil {
		p.w.Header()[headerSession] = p.opening.header[:]
	}
}

// body answers with JSON; p.mu is held.
func (p *reply) body(frame []byte, code int) {
	const most = 64 << 10 // what surely fits into the buffers on the way
	if len(frame) > most {
		p.h.streams.writeBy(http.NewResponseController(p.w), p.h.opts.WriteTimeout)
	}
	if code == http.StatusServiceUnavailable {
		p.w.Header()["Retry-After"] = []string{"1"}
	}
	respond(p.w, code, frame)
}

func (p *reply) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if p.stream == nil && !p.lost() {
		p.w.WriteHeader(http.StatusAccepted) // an empty 200 is no answer that clients know
	}
	p.finished()
}

// finished marks the end; p.mu is held.
func (p *reply) finished() {
	p.over = true
	p.quiet()
	if p.line != nil {
		_ = p.line.finish(context.Background(), nil) // fails with a frame only
	}
	if p.stream != nil {
		p.stream.end()
	}
	if p.cancel != nil {
		p.cancel()
	}
}

// release hands over the stream of a response that can go on without its handler, and nil where it cannot.
func (p *reply) release() *stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.stream == nil || p.stream.conn == nil {
		return nil
	}
	p.parked, p.w, p.r = true, nil, nil
	return p.stream
}

// leave is called when the handler returns: what is not parked ends.
func (p *reply) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.parked && !p.over {
		p.finished()
	}
}
