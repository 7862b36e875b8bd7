package engine

import (
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// register enters a request into the in-flight table, and the first time takes up what a handshake says. It returns a
// refusal for an id in use and for a second handshake.
func (p *Peer) register(in *Incoming) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return &era.Refusal{Err: mcp.Errorf(mcp.CodeInternal, "the session has ended; open a new one")}
	}
	if _, taken := p.incoming[in.ID()]; taken {
		return &era.Refusal{Row: era.RowShape, Err: mcp.Errorf(mcp.CodeInvalidRequest, "id %s is in use by a request that still runs", in.ID())}
	}
	if in.Method() == mcp.MethodInitialize {
		if p.envelope.ClientInfo != nil {
			return &era.Refusal{Row: era.RowShape, Err: mcp.Errorf(mcp.CodeInvalidRequest, "the session is initialized already; close it to begin anew")}
		}
		p.codec = in.Codec
		p.opening, p.answered = openingRuns, make(chan struct{})
		p.greeted(in.Call.Params())
	}
	if in.Codec.Traits().Handshake {
		in.Envelope = p.envelope
	}
	if p.incoming == nil {
		p.incoming = make(map[jsonrpc.ID]*Incoming)
	}
	p.incoming[in.ID()] = in
	return nil
}

// entry says whether a request that has come in may run.
type entry uint8

const (
	entered entry = iota // it may run, and is a task of its peer until done is called
	queued               // it runs when a place is free
	refused              // neither: the peer is told so
)

// enter gives a request a place among the running ones, or in the queue. What stays open by design needs no place.
func (p *Peer) enter(in *Incoming, mayQueue bool) entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.engine.opts
	switch {
	case p.closed != nil:
		return refused
	case in.long():
		p.tasks++
		return entered
	case o.MaxInFlight < 0 || p.active < o.MaxInFlight:
		p.seat(in)
		return entered
	case mayQueue && (o.MaxQueued < 0 || len(p.queue) < o.MaxQueued):
		p.queue = append(p.queue, in)
		return queued
	}
	return refused
}

// seat gives a request a place; p.mu is held.
func (p *Peer) seat(in *Incoming) {
	p.active++
	in.counted = true
	p.tasks++
}

// unregister gives the id of a request back.
func (p *Peer) unregister(in *Incoming) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.incoming[in.ID()] == in {
		delete(p.incoming, in.ID())
	}
	p.stirred()
}

// vacate gives the place of a request to the next one in the queue.
func (p *Peer) vacate(in *Incoming) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !in.counted {
		return
	}
	in.counted = false
	p.active--
	if len(p.queue) == 0 || p.closed != nil {
		return
	}
	next := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	p.seat(next)
	go next.runHere() // a task of the peer
}

// unqueue takes a request out of the queue, and tells whether it was there; p.mu is held.
func (p *Peer) unqueue(in *Incoming) bool {
	i := slices.Index(p.queue, in)
	if i < 0 {
		return false
	}
	p.queue = slices.Delete(p.queue, i, i+1)
	return true
}

// cancelled ends the request that a cancellation names, and tells whether there was one.
func (p *Peer) cancelled(n *era.Notice) bool {
	raw, ok := n.Message.Lifted(era.LiftRequestID)
	if !ok {
		return true // optional in one revision, and then there is nothing to find
	}
	id, err := jsonrpc.ParseID(raw)
	if err != nil {
		p.engine.opts.OnError(fmt.Errorf("a cancellation came with a requestId that is no id"))
		return true
	}
	p.mu.Lock()
	in := p.incoming[id]
	waiting := p.pending[id]
	waited := in != nil && p.unqueue(in)
	p.mu.Unlock()
	if in != nil {
		if in.Method() == mcp.MethodInitialize {
			return true // by no revision a client may cancel it, and without its answer the connection would be of no use
		}
		in.stop(ErrCancelled)
		if waited {
			in.Finish(nil) // it never ran: nobody else would give its id back
		}
		return true
	}
	if waiting != nil && waiting.opts.OnNotice != nil {
		waiting.opts.OnNotice(n) // a listen that the server ends is the caller's to see
		return true
	}
	return waiting == nil
}
