package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
)

// relay carries word of changes between the replicas of a server. Word may be lost; when it is known that some was, all that
// somebody here listens to is announced: who keeps a list reads it anew, and nothing else comes of one announcement too many.
type relay struct {
	s    *Server
	name string // of this replica among the others, random
	end  context.CancelFunc
	task sync.WaitGroup
}

// topic stands before the topics of a server on the bus. Replicas have one name, and other servers on the same bus another.
func (s *Server) topic() string {
	sum := sha256.Sum256([]byte(s.info.Name))
	const enough = 8
	return "rialto/" + hex.EncodeToString(sum[:enough])
}

func (s *Server) changes() string { return s.topic() + "/changes" }

// teller is how the engine tells the other replicas of changes; nil where there are none.
func (s *Server) teller() func(ctx context.Context, method, uri string) error {
	if s.opts.Bus == nil {
		return nil
	}
	s.relay = &relay{s: s, name: rand.Text()}
	return s.relay.publish
}

func (r *relay) publish(ctx context.Context, method, key string) error {
	_, err := r.s.opts.Bus.Publish(ctx, r.s.changes(), []byte(r.name+"\n"+method+"\n"+key))
	return err
}

// tellTime bounds what is told to other replicas, or to a client in the name of one.
const tellTime = 5 * time.Second

// tell tells the other replicas what is no change; nobody without a bus.
func (r *relay) tell(ctx context.Context, method, key string) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	if err := r.publish(ctx, method, key); err != nil {
		r.s.report(fmt.Errorf("tell the other replicas of %s: %w", method, err))
	}
}

// startRelay begins to hear of the changes of other replicas. Shutdown ends it.
func (s *Server) startRelay() {
	if s.relay == nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	s.relay.end = end
	s.relay.task.Go(func() { s.relay.run(ctx) }) // ends with stop, which waits
}

// stop ends the relay and may be called twice, and without one.
func (r *relay) stop() {
	if r != nil {
		r.end()
		r.task.Wait()
	}
}

// run hears of changes until ctx ends. A bus that fails is tried again after a moment.
func (r *relay) run(ctx context.Context) {
	const pause = time.Second
	for missed := false; ; missed = true {
		err := r.hear(ctx, missed)
		if ctx.Err() != nil {
			return
		}
		r.s.report(fmt.Errorf("hear of changes on other replicas: %w", err))
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// hear hears of changes until the bus fails. missed says that some may have been missed before.
func (r *relay) hear(ctx context.Context, missed bool) error {
	sub, err := r.s.opts.Bus.Subscribe(ctx, r.s.changes())
	if err != nil {
		return err
	}
	defer sub.Close()
	if missed {
		r.s.engine.HearAll()
	}
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		if m.Lost > 0 {
			r.s.engine.HearAll()
		}
		r.heard(ctx, m)
	}
}

// heard announces one change here, or tells a client of ours that its page is done with. What is neither is passed over: a later
// version may say more.
func (r *relay) heard(ctx context.Context, m state.Message) {
	from, rest, _ := bytes.Cut(m.Data, []byte{'\n'})
	method, key, whole := bytes.Cut(rest, []byte{'\n'})
	switch {
	case !whole || string(from) == r.name:
	case string(method) == mcp.NotifyElicitationComplete:
		r.completed(ctx, string(key))
	default:
		r.s.engine.Hear(string(method), string(key))
	}
}

// completed tells the client that was sent to a page from here, on a goroutine of its own: it may not read.
func (r *relay) completed(ctx context.Context, id string) {
	peer := r.s.pages.take(id)
	if peer == nil {
		return
	}
	r.task.Go(func() { // ends in tellTime or with stop, which waits
		ctx, cancel := context.WithTimeout(ctx, tellTime)
		defer cancel()
		_ = peer.Notify(ctx, pageDone(id)) // who has gone need not be told
	})
}
