package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Restore implements transport.Peer.
func (p *Peer) Restore(state transport.PeerState) {
	p.level.Store(state.Level)
	p.ready.Store(state.Ready)
	p.restore(state)
	p.engine.interest()
}

func (p *Peer) restore(state transport.PeerState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.envelope.ClientInfo, p.envelope.ClientCapabilities = state.ClientInfo, state.Capabilities
	p.resources = nil
	if len(state.Resources) > 0 {
		p.resources = make(map[string]bool, len(state.Resources))
	}
	for _, uri := range state.Resources {
		p.resources[uri] = true
	}
}

// SetLevel sets the least level of the log messages this peer wants. It fails where the state of the peer is kept
// elsewhere and cannot be.
func (p *Peer) SetLevel(ctx context.Context, l mcp.Level) error {
	if p.keeper == nil {
		p.level.Store(l)
		return nil
	}
	return p.keeper.Keep(ctx, func(s *transport.PeerState) { s.Level = l })
}

// mostSubscriptions bounds the resources one peer may subscribe to.
const mostSubscriptions = 10000

// Subscribe makes the peer hear of updates of a resource, on the legacy era. It answers false when the peer has 10,000
// such subscriptions already, and fails as SetLevel does.
func (p *Peer) Subscribe(ctx context.Context, uri string) (bool, error) {
	defer p.engine.interest()
	if p.keeper != nil {
		full := false
		err := p.keeper.Keep(ctx, func(s *transport.PeerState) {
			has := slices.Contains(s.Resources, uri)
			full = !has && len(s.Resources) >= mostSubscriptions
			if !has && !full {
				s.Resources = append(s.Resources, uri)
			}
		})
		return !full, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resources == nil {
		p.resources = make(map[string]bool)
	}
	if len(p.resources) >= mostSubscriptions && !p.resources[uri] {
		return false, nil
	}
	p.resources[uri] = true
	return true, nil
}

// Unsubscribe ends what Subscribe began. It fails as SetLevel does.
func (p *Peer) Unsubscribe(ctx context.Context, uri string) error {
	defer p.engine.interest()
	if p.keeper != nil {
		return p.keeper.Keep(ctx, func(s *transport.PeerState) {
			s.Resources = slices.DeleteFunc(s.Resources, func(one string) bool { return one == uri })
		})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.resources, uri)
	return nil
}

func (p *Peer) subscribed(uri string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resources[uri]
}

// announce sends a change notice to a legacy peer. Where other processes serve the peer too, whether it wants the notice is
// judged by the newest state.
func (p *Peer) announce(ctx context.Context, n *era.Notice) error {
	if !p.engine.complete(ctx, n) {
		return nil
	}
	if p.keeper == nil || n.Method == mcp.NotifyTask {
		return p.Notify(ctx, n)
	}
	wants, err := p.keeper.Refresh(ctx)
	if err != nil {
		p.engine.opts.OnError(fmt.Errorf("announce %s to a session: %w", n.Method, err)) // the next change may find its way
		return nil
	}
	if raw, ok := jsonrpc.Member(n.Params, "uri"); ok {
		uri, _ := jsonrpc.Text(raw)
		wants = wants && p.subscribed(uri)
	}
	if !wants {
		return nil
	}
	return p.Notify(ctx, n)
}

// How far the answer to the handshake is. What a client says before that it is initialized counts from the answer on.
const (
	openingNone     = iota // answered, or never asked for
	openingRuns            // asked for
	openingForeseen        // asked for, and the client has said already that it is initialized
)

// initialized takes the notification that ends the handshake. Changes from now on are for the client, but they must not
// overtake the answer to it.
func (p *Peer) initialized() {
	p.box.hold()
	p.mu.Lock()
	if len(p.incoming) == 0 {
		p.incoming = nil // the room that the handshake has taken; most sessions with an open stream wait for long now
	}
	foreseen := p.opening != openingNone
	if foreseen {
		p.opening = openingForeseen
	} else {
		p.ready.Store(true)
	}
	p.mu.Unlock()
	if !foreseen {
		p.box.begin()
	}
}

// expected tells whether the client has said that it is initialized, though the answer to its handshake may still be on its
// way out.
func (p *Peer) expected() bool {
	if p.Ready() {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opening == openingForeseen
}

// greetedBack notes that the answer to the handshake has gone out, or that there will be none.
func (p *Peer) greetedBack(good bool) {
	p.mu.Lock()
	if p.opening == openingForeseen && good {
		p.ready.Store(true)
	}
	p.opening = openingNone
	if p.answered != nil {
		close(p.answered)
		p.answered = nil
	}
	p.mu.Unlock()
	if !good {
		p.box.empty()
	}
	p.box.begin()
}

// settled is Ready, and where the client has ended the handshake while the answer to it is still on its way out, it waits
// for that: a quick client has read the answer before the goroutine that wrote it goes on.
func (p *Peer) settled(ctx context.Context) bool {
	if p.Ready() {
		return true
	}
	p.mu.Lock()
	answered := p.answered
	if p.opening != openingForeseen {
		answered = nil
	}
	p.mu.Unlock()
	if answered != nil {
		select {
		case <-answered:
		case <-ctx.Done():
		}
	}
	return p.Ready()
}
