package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

const (
	parkedFor     = 10 * time.Minute // how long a client may take to answer
	mostParked    = 1000             // calls that wait for their clients
	leastShare    = 16               // of those, that one principal may have however few there are
	mostRounds    = 10               // of questions, in one call
	mostQuestions = 100              // at once, in one call
	handleKind    = "parked call"
)

// parked is a call of a server that is made apart from the request of the client, so that it goes on while the client is
// asked: the request ends with the questions, and the client's next one, which brings the answers, takes the call up again.
// A call that has ended by then, since its server would wait no longer say, waits with what has become of it.
type parked struct {
	id           string
	owner        owner
	who          *mcp.Principal // nil when nobody is known
	method, name string         // of the request, for the next one is to be about the same
	view         *view          // of the moment it began, and
	to           destination    // where it went: the name that its client comes back under may belong to another server by then
	cancel       context.CancelCauseFunc

	done   chan struct{} // closed when answer and err are set
	answer *upstream.Answer
	err    error

	mu      sync.Mutex
	ctx     context.Context // of the request that waits for the call now
	req     *server.Request // nil while none does
	open    []*question     // in the order they were asked
	wake    chan struct{}   // of one place: there are questions
	asked   int             // so far
	rounds  int
	expires *time.Timer // runs while no request waits; nil before that was so

	telling sync.Mutex      // held while progress is told, so that no request ends in the middle of it; taken before mu
	missed  json.RawMessage // the last progress that reached no request; guarded by telling
}

// question is one request of the server that waits for its answer.
type question struct {
	key    string
	method string
	params json.RawMessage
	answer chan json.RawMessage // of one place
}

// park makes a call that can wait for answers of its client, and waits for it or for its first questions.
func (b *Bridge) park(ctx context.Context, through *Passage, v *view, to destination) (*server.RawResult, error) {
	req := through.Request
	calling, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	p := &parked{
		owner: ownerOf(req), who: req.Principal(), method: req.Method(), name: req.Name(), view: v, to: to, cancel: cancel, ctx: ctx, req: req,
		done: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	c, client := call(ctx, req, v, to, p.waiting), req.ClientCapabilities()
	if c.OnProgress != nil {
		c.OnProgress = p.progress
	}
	c.HasRoots = client.Roots != nil
	c.OnRequest = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		if err := answerable(client, method, params); err != nil {
			return nil, err
		}
		return p.ask(ctx, method, params)
	}
	if !b.parking.add(p) {
		cancel(nil)
		return nil, errStopping
	}
	b.parking.calls.Go(func() { // ends with the call, which Close ends at the latest
		defer close(p.done)
		defer cancel(nil)
		defer b.guard("a call", &p.err)
		p.answer, p.err = b.perform(calling, to, c)
	})
	return b.await(ctx, through, p)
}

// resume takes up a parked call with the answers that a request brings. It went where it went, and what its client may do is
// judged by the rules of now.
func (b *Bridge) resume(ctx context.Context, req *server.Request, handle string) (*server.RawResult, error) {
	id, err := server.OpenHandle[string](ctx, req, handleKind, handle)
	if err != nil {
		return nil, mcp.InvalidParams("requestState: %v", err)
	}
	p := b.parking.find(id, req)
	if p == nil {
		return nil, errNotParked
	}
	result, err := b.pass(ctx, req, b.view.Load().rules, p.view, p.to, func(ctx context.Context, through *Passage) (*server.RawResult, error) {
		if !p.goOn(ctx, &b.parking, req) {
			return nil, errNotParked
		}
		through.sent = p.to.sent
		responses, _ := req.Retry()
		p.deliver(responses)
		return b.await(ctx, through, p)
	})
	return p.view.withSchema(req, p.to, result, err)
}

var errStopping = mcp.Errorf(mcp.CodeInternal, "the gateway is shutting down")

var errNotParked = mcp.InvalidParams("requestState: the call that it belongs to is over, or is being answered already; call again without it")

// await waits for the end of a call, or for questions.
func (b *Bridge) await(ctx context.Context, through *Passage, p *parked) (*server.RawResult, error) {
	for {
		select {
		case <-p.done:
			b.parking.remove(p)
			return b.finished(ctx, through, p.view, p.to, p.answer, p.err)
		case <-p.wake:
			if questions := b.parking.leave(p); questions != nil {
				return b.questions(ctx, through.Request, p, questions)
			}
		case <-ctx.Done():
			p.cancel(context.Cause(ctx))
			<-p.done // at once: it has been told
			b.parking.remove(p)
			return nil, context.Cause(ctx)
		}
	}
}

// questions is the answer to a request whose call has questions.
func (b *Bridge) questions(ctx context.Context, req *server.Request, p *parked, questions json.RawMessage) (*server.RawResult, error) {
	handle, err := server.NewHandle(ctx, req, handleKind, p.id, parkedFor)
	if err != nil {
		b.parking.abandon(p, err)
		return nil, err
	}
	return &server.RawResult{InputRequests: questions, RequestState: jsonrpc.AppendString(nil, parkedState+handle)}, nil
}

// waiting is the request that waits for the call now; nil for none.
func (p *parked) waiting() (context.Context, *server.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ctx, p.req
}

// progress passes the progress of a call on, or keeps it for the next request.
func (p *parked) progress(params json.RawMessage) {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.missed = params
	p.catchUp()
}

// goOn lets a request wait for the call, and tells it what came while none did; false where it cannot.
func (p *parked) goOn(ctx context.Context, k *parking, req *server.Request) bool {
	p.telling.Lock()
	defer p.telling.Unlock()
	if !k.take(ctx, p, req) {
		return false
	}
	p.catchUp()
	return true
}

// catchUp tells the request that waits now what no other has been told. p.telling is held.
func (p *parked) catchUp() {
	ctx, req := p.waiting()
	if req != nil && p.missed != nil && progress(ctx, req, p.missed) == nil {
		p.missed = nil
	}
}

// ask puts a question to the client of the call and waits for its answer.
func (p *parked) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p.mu.Lock()
	var refusal error
	switch {
	case p.rounds >= mostRounds:
		refusal = mcp.Errorf(mcp.CodeInternal, "The client has been asked %d times for one call, which is the limit", mostRounds)
	case len(p.open) >= mostQuestions:
		refusal = mcp.Errorf(mcp.CodeInternal, "The client is being asked %d questions for one call, which is the limit; wait for answers", mostQuestions)
	}
	if refusal != nil {
		p.mu.Unlock()
		return nil, refusal
	}
	p.asked++
	q := &question{key: "q" + strconv.Itoa(p.asked), method: method, params: params, answer: make(chan json.RawMessage, 1)}
	p.open = append(p.open, q)
	p.ring()
	p.mu.Unlock()
	defer p.drop(q)
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-p.done: // a server on a pipe does not say whether it still wants to know
		return nil, mcp.Errorf(mcp.CodeInternal, "The call that this belongs to has ended")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ring says that there are questions. p.mu is held.
func (p *parked) ring() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *parked) drop(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = slices.DeleteFunc(p.open, func(other *question) bool { return other == q })
}

// asking writes the questions that are open as inputRequests, an object by their keys. p.mu is held.
func (p *parked) asking() json.RawMessage {
	out := []byte{'{'}
	for i, q := range p.open {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonrpc.AppendString(out, q.key), `:{"method":`...)
		out = jsonrpc.AppendString(out, q.method)
		if q.params != nil {
			out = append(append(out, `,"params":`...), q.params...)
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// deliver hands the answers of a client to the questions they are for. A question without an answer stays open.
func (p *parked) deliver(responses json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = slices.DeleteFunc(p.open, func(q *question) bool {
		answer, ok := jsonrpc.Member(responses, q.key)
		if !ok || !jsonrpc.IsObject(answer) {
			return false
		}
		q.answer <- answer // its only one: it is open no longer
		return true
	})
	if len(p.open) > 0 {
		p.ring() // asked once more
	}
}
