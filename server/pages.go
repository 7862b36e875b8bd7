package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"weak"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ElicitationComplete tells the client whose user was sent to a page that they are done there, so that it need not ask them:
// for the page itself, or what it calls back, on a server that serves clients of 2025-11-25. id is ElicitURLParams's, which a
// handler that wants to say this has to choose itself; it must not be guessable. [Request.Until] says it for its own page.
//
// Only the client that was asked is told, once, by the process that asked it. The answer is whether this one has told it. It is
// false where there is no such client: the id is unknown here or was told already, the client has gone, or it is of a revision
// without such notices, as on the modern era, where the client finds out by its retry. With Options.Bus an id that is unknown
// here goes to the other replicas, of which one may know it; nobody waits for that. Of ids that nobody completes the newest
// 10,000 are remembered.
//
// Spec 2025-11-25, client/elicitation, "Completion Notifications for URL Mode Elicitation".
func (s *Server) ElicitationComplete(ctx context.Context, id string) bool {
	peer := s.pages.take(id)
	if peer == nil && id != "" {
		s.relay.tell(ctx, mcp.NotifyElicitationComplete, id)
	}
	return peer != nil && peer.Notify(ctx, pageDone(id)) == nil
}

// pageDone is the notice of a page that the user is done with.
func pageDone(id string) *era.Notice {
	return &era.Notice{
		Method: mcp.NotifyElicitationComplete,
		Params: jsonrpc.With(nil, noArguments, "elicitationId", jsonrpc.AppendString(nil, id)),
	}
}

// mostPages bounds how many pages are remembered that nobody has completed.
const mostPages = 10_000

// pages remembers which client was sent to which page. It keeps no client alive.
type pages struct {
	mu    sync.Mutex
	of    map[string]weak.Pointer[engine.Peer]
	queue []string // ids, the oldest first; those that have been taken may still stand in it
}

func (p *pages) remember(id string, peer *engine.Peer) {
	if id == "" || peer == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = make(map[string]weak.Pointer[engine.Peer])
	}
	if _, known := p.of[id]; !known {
		p.queue = append(p.queue, id)
	}
	p.of[id] = weak.Make(peer)
	for len(p.queue) > mostPages {
		delete(p.of, p.queue[0])
		p.queue = p.queue[1:]
	}
}

// take answers the client that was sent to a page, once; nil for none.
func (p *pages) take(id string) *engine.Peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.of[id].Value()
	delete(p.of, id)
	return peer
}

// rememberPages notes the pages among questions that a client is about to be sent to.
func (r *Request) rememberPages(questions mcp.InputRequests) {
	if t := r.in.Codec.Traits(); t.InputRounds || !t.URLElicitation {
		return
	}
	for _, q := range questions {
		if q.Method == mcp.MethodElicit && mcp.ElicitMode(q.Params) == mcp.ElicitModeURL {
			raw, _ := jsonrpc.Member(q.Params, "elicitationId")
			r.server.pages.remember(text(raw), r.in.Peer)
		}
	}
}

// refusePages is the error that sends the client to pages before it repeats the call, where Options.URLElicitationErrors
// wants that and there is nothing else to ask; nil where not.
func (r *Request) refusePages(questions mcp.InputRequests) error {
	if t := r.in.Codec.Traits(); r.line != nil || t.InputRounds || !t.URLElicitation || !r.server.opts.URLElicitationErrors {
		return nil
	}
	var visit []mcp.ElicitURLParams
	for _, key := range questions.Keys() {
		q := questions[key]
		var page mcp.ElicitURLParams
		if q.Method != mcp.MethodElicit || mcp.ElicitMode(q.Params) != mcp.ElicitModeURL {
			return nil
		}
		if err := json.Unmarshal(q.Params, &page); err != nil {
			return errors.New("a page that the handler sends the user to cannot be read")
		}
		if page.ElicitationID == "" {
			page.ElicitationID = engine.NewUUID()
		}
		r.server.pages.remember(page.ElicitationID, r.in.Peer)
		visit = append(visit, page)
	}
	if visit == nil {
		return nil
	}
	return mcp.URLElicitationRequired(visit...)
}
