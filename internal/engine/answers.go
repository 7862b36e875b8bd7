package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// settle gives an answer to the call that waits for it.
func (p *Peer) settle(m *jsonrpc.Message, x transport.Exchange) {
	id := m.ID
	if id.IsZero() {
		id = x.Related() // an error without id on the stream of one request is about that request
	}
	p.mu.Lock()
	w := p.pending[id]
	delete(p.pending, id)
	p.mu.Unlock()
	if w == nil {
		if !p.late(id) {
			p.engine.opts.OnError(stray(m))
		}
		return
	}
	w.mu.Lock()
	w.answer, w.mark = m, p.notices.mark()
	w.mu.Unlock()
	w.signal()
}

// Lost implements transport.Loser.
func (p *Peer) Lost(id jsonrpc.ID, err error) bool {
	p.mu.Lock()
	w := p.pending[id]
	delete(p.pending, id)
	p.mu.Unlock()
	if w == nil {
		return false
	}
	w.fail(err)
	return true
}

// stray describes an answer that belongs to no call. An error without id tells what the peer thinks of a frame of ours.
func stray(m *jsonrpc.Message) error {
	if m.ID.IsZero() && m.Error != nil {
		return fmt.Errorf("the peer reports error %d without naming a request: %.1000s", m.Error.Code, m.Error.Message)
	}
	return fmt.Errorf("an answer came for id %.60s, which no call waits for", m.ID)
}

// progress hands a progress notification to its call, and tells whether there is one, or was.
func (p *Peer) progress(n *era.Notice, x transport.Exchange) bool {
	token, _ := n.Message.Lifted(era.LiftProgressToken)
	if w := p.byToken(token); w != nil {
		w.takeProgress(n, x.Related())
		return true
	}
	id, err := jsonrpc.ParseID(token)
	return err == nil && p.lateProgress(id, n)
}

// byToken finds the call that asked for progress under a token: its own id, unless the caller has chosen another.
func (p *Peer) byToken(token []byte) *pending {
	id, err := jsonrpc.ParseID(token)
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.pending[id]; err == nil && w != nil && string(w.out.Token) == string(token) {
		return w
	}
	for _, w := range p.pending {
		if w.out.Token != nil && string(w.out.Token) == string(token) {
			return w
		}
	}
	return nil
}

// offer hands a notification to the call that it belongs to: by the subscription it names, or by the stream it came on.
// It answers whether the call's OnNotice has taken it; the handler gets what is left. OnNotice is called on the reader's
// goroutine, in the order of arrival and before the answer, and must not block. Progress of the call and a cancellation
// of it go there too, and nowhere else.
func (p *Peer) offer(n *era.Notice, x transport.Exchange) bool {
	id := x.Related()
	if n.Subscription != nil {
		id, _ = jsonrpc.ParseID(n.Subscription) // one that is no id finds nothing
	}
	if id.IsZero() {
		return false
	}
	p.mu.Lock()
	w := p.pending[id]
	p.mu.Unlock()
	return w != nil && w.opts.OnNotice != nil && w.opts.OnNotice(n)
}

// Tag answers what the caller has put into CallOptions.Tag of the call that runs under an id, nil when there is none.
func (p *Peer) Tag(id jsonrpc.ID) any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.pending[id]; w != nil {
		return w.opts.Tag
	}
	return nil
}

// mostLate bounds how many calls are remembered that nobody waits for any more.
const mostLate = 256

// lateCall is a call that nobody waits for any more.
type lateCall struct {
	id   jsonrpc.ID
	tell func(params json.RawMessage) // of the progress of a task that the call has become; nil for nobody
}

// giveUp remembers a call that nobody waits for any more, so that its answer may still come without a word.
func (p *Peer) giveUp(call lateCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.abandoned) >= mostLate {
		p.abandoned = p.abandoned[1:]
	}
	p.abandoned = append(p.abandoned, call)
}

// late tells whether an id is that of a call given up.
func (p *Peer) late(id jsonrpc.ID) bool {
	_, ok := p.lateCall(id)
	return ok
}

func (p *Peer) lateCall(id jsonrpc.ID) (lateCall, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.abandoned, func(call lateCall) bool { return call.id == id })
	if i < 0 {
		return lateCall{}, false
	}
	return p.abandoned[i], true
}

// lateProgress hands on the progress of a call that has become a task, and tells whether an id is that of a call given up. What is
// told is told in turn with other notifications.
func (p *Peer) lateProgress(id jsonrpc.ID, n *era.Notice) bool {
	call, ok := p.lateCall(id)
	if ok && call.tell != nil {
		p.notices.put(len(n.Message.Frame()), func(context.Context) { call.tell(n.Params) })
	}
	return ok
}
