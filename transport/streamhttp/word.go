package streamhttp

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
)

const (
	notifyInitialized = mcp.NotifyInitialized
	notifyCancelled   = mcp.NotifyCancelled
	notifyProgress    = mcp.NotifyProgress
	liftProgressToken = era.LiftProgressToken
)

// Word that all handlers hear: kind, the name of who speaks, the session, and what the kind says, each on a line but the
// last, which is the rest.
const (
	wordEnd    = "end"    // the session has ended
	wordCancel = "cancel" // a notifications/cancelled has come for the session: the rest
	wordNews   = "news"   // the record of the session has changed
	wordTaken  = "taken"  // who speaks goes on with the GET stream that the rest names, as of a version of the record
	wordOver   = "over"   // somebody else goes on with the stream of a call; the rest names the stream and who had it
	wordLeft   = "left"   // who speaks has no GET stream of the session any more; the rest names the last
)

// Questions to one handler, in the same form without who speaks. The answers are yes and no.
const (
	questionTake  = "take"  // a message of the session for a call that waits there: the rest. Was it taken?
	questionYield = "yield" // who goes on with the stream of a call: the rest names the stream and who. Does the call run?
	questionProbe = "probe" // the same, of who goes on with it already. Is it still theirs?
	questionOpen  = "open"  // is a stream of the session open there?
)

var yes, no = []byte("yes"), []byte("no")

// listen begins to hear the bus.
func (r *replicas) listen() {
	r.tasks.Go(r.hearAll)   // ends with close
	r.tasks.Go(r.answerAll) // likewise
}

func (r *replicas) toAll() string            { return r.topic + "/sessions" }
func (r *replicas) toOne(name string) string { return r.topic + "/replica/" + name }
func line3(kind, a, b string, rest []byte) []byte {
	return append([]byte(kind+"\n"+a+"\n"+b+"\n"), rest...)
}

// tell says something to all other handlers, and waits for none of them.
func (r *replicas) tell(ctx context.Context, kind, session string, rest []byte) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if _, err := r.bus.Publish(ctx, r.toAll(), line3(kind, r.name, session, rest)); err != nil {
		return fmt.Errorf("tell the other replicas: %w", err)
	}
	return nil
}

// ask asks one other handler. It fails with state.ErrNobody where the bus knows that there is none of that name.
func (r *replicas) ask(ctx context.Context, name, kind, session string, rest []byte) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	answer, err := state.Ask(ctx, r.bus, r.toOne(name), append([]byte(kind+"\n"+session+"\n"), rest...))
	if err != nil {
		return false, fmt.Errorf("ask another replica: %w", err)
	}
	return bytes.Equal(answer, yes), nil
}

// pause is how long a bus that fails is left alone.
const pause = time.Second

// hearAll hears word until the handler closes. When some was lost all sessions are looked up anew.
func (r *replicas) hearAll() {
	places := make(chan struct{}, state.MaxAnswering)
	for first := true; ; first = false {
		sub, err := r.bus.Subscribe(r.ctx, r.toAll())
		if err == nil {
			if !first {
				r.lookAgain()
			}
			err = r.hearOn(sub, places)
			_ = sub.Close() // it fails only where it is closed already
		}
		if !r.failing("hear the other replicas", err) {
			return
		}
	}
}

// failing reports a fault of the bus and waits a moment. It answers false when the handler closes.
func (r *replicas) failing(what string, err error) bool {
	if r.ctx.Err() != nil {
		return false
	}
	r.h.opts.OnError(fmt.Errorf("%s: %w", what, err))
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

func (r *replicas) hearOn(sub state.Subscription, places chan struct{}) error {
	for {
		m, err := sub.Next(r.ctx)
		if err != nil {
			return err
		}
		if m.Lost > 0 {
			r.lookAgain()
		}
		kind, rest, _ := bytes.Cut(m.Data, newline)
		from, rest, _ := bytes.Cut(rest, newline)
		id, rest, whole := bytes.Cut(rest, newline)
		s := r.h.sessions.Get(string(id))
		if !whole || s == nil || string(from) == r.name {
			continue
		}
		places <- struct{}{} // those who have them are bounded by patience and the grace of a peer that closes
		r.tasks.Go(func() {
			defer func() { <-places }()
			r.heard(s, string(kind), string(from), rest)
		})
	}
}

var newline = []byte{'\n'}

// heard does what word of another handler means for a session that is here too.
func (r *replicas) heard(s *session, kind, from string, rest []byte) {
	switch kind {
	case wordEnd:
		s.end(errElsewhere)
	case wordCancel:
		r.deliver(s, rest)
	case wordNews:
		r.news(s)
	case wordTaken:
		name, version, _ := strings.Cut(string(rest), "\n")
		if n, err := strconv.ParseUint(version, 10, 64); err == nil {
			s.shared.yield(func(f *follower) bool { return f.name == name && f.version < n })
		}
	case wordOver:
		name, who, _ := strings.Cut(string(rest), "\n")
		s.shared.yield(func(f *follower) bool { return f.name == name && f.who == who })
	case wordLeft:
		r.h.report(s.shared.takeOver(from, string(rest)))
	}
}

// deliver hands a message of a client that came to another handler to the receiver.
func (r *replicas) deliver(s *session, frame []byte) bool {
	m, err := jsonrpc.Decode(frame, lift)
	if err != nil {
		r.h.opts.OnError(fmt.Errorf("another replica passed on what is no message: %w", err))
		return false
	}
	x := &passed{}
	x.message, x.codec, x.session, x.principal = m, s.codec, s, s.shared.who
	r.h.recv.Deliver(r.ctx, x)
	return true
}

// tellCancelled tells the others what a client cancels, and nothing else that it says there: all of them hear it.
func (r *replicas) tellCancelled(ctx context.Context, s *session, m *jsonrpc.Message) error {
	raw, ok := m.Lifted(era.LiftRequestID)
	if !ok || !canBeTold(raw) {
		return nil
	}
	params := append(append([]byte(`{"requestId":`), raw...), '}')
	frame, err := s.codec.AppendNotice(nil, &era.Notice{Method: notifyCancelled, Params: params})
	if err != nil {
		return err
	}
	return r.tell(ctx, wordCancel, s.id(), frame)
}

// canBeTold tells whether a token is an id, and no longer than what others are told of: a longer one can be cancelled where it
// was sent.
func canBeTold(token []byte) bool {
	const most = 4 << 10
	_, err := jsonrpc.ParseID(token)
	return err == nil && len(token) <= most
}

// answerAll answers questions until the handler closes.
func (r *replicas) answerAll() {
	for {
		err := state.Answer(r.ctx, r.bus, r.toOne(r.name), r.answer, state.AnswerOptions{OnError: r.h.opts.OnError})
		if !r.failing("answer the other replicas", err) {
			return
		}
	}
}

func (r *replicas) answer(_ context.Context, question []byte) ([]byte, bool) {
	kind, rest, _ := bytes.Cut(question, newline)
	id, rest, whole := bytes.Cut(rest, newline)
	if !whole {
		return nil, false
	}
	s := r.h.sessions.Get(string(id))
	good := false
	switch {
	case s == nil:
	case string(kind) == questionTake:
		good = r.deliver(s, rest)
	case string(kind) == questionYield, string(kind) == questionProbe:
		name, who, _ := strings.Cut(string(rest), "\n")
		good = s.yieldCall(name, who, string(kind) == questionYield)
	case string(kind) == questionOpen:
		good = s.connected(nil)
	}
	if good {
		return yes, true
	}
	return no, true
}

// passed is a message that came to another handler. Nothing is answered to it there.
type passed struct{ origin }

var _ transport.Exchange = (*passed)(nil)

func (*passed) Send(context.Context, []byte) error               { return transport.ErrUndeliverable }
func (*passed) Answer(context.Context, []byte, int, int64) error { return transport.ErrUndeliverable }
func (*passed) Drop()                                            {}
func (*passed) OverHTTP() bool                                   { return false }
