package pipe_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/pipe"
	"github.com/rialto-mcp/rialto/transport"
)

// receiver takes its time before and after it lets the reading go on.
type receiver struct {
	mu  sync.Mutex
	log []string
}

// silent is a peer that does nothing.
type silent struct{}

func (silent) Close(error)                 {}
func (silent) Idle() bool                  { return true }
func (silent) Drain(context.Context)       {}
func (silent) Restore(transport.PeerState) {}
func (silent) Codec() era.Codec            { return nil }

func (r *receiver) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, what)
}

func (r *receiver) Open(transport.PeerSpec) (transport.Peer, error) { return silent{}, nil }
func (r *receiver) Receive(context.Context, transport.Exchange)     {}

func (r *receiver) Deliver(_ context.Context, x transport.Exchange) {
	id := x.Message().ID.String()
	r.note("took " + id)
	time.Sleep(50 * time.Millisecond) // a large message, a pause of the collector
	r.note("knows " + id)
	x.(transport.Inline).Inline()
	time.Sleep(time.Second)
	r.note("ran " + id)
}

// However long the judging of a frame takes, the next one is not read before it is done; and however long the running
// takes, it is read soon after.
func TestReadingGoesOnOnlyBehindARegisteredFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair(0)
		r := &receiver{}
		ended := make(chan error, 1)
		go func() { ended <- pipe.Serve(context.Background(), far, r, codecs(t, era.ServerSide), pipe.Options{}) }()
		w := &world{t: t, client: near, ended: ended}
		began := time.Now()
		w.send(modernCall("1", "a"), modernCall("2", "a"), modernCall("3", "a"))
		time.Sleep(500 * time.Millisecond)
		w.send(modernCall("4", "a")) // the watchman is asleep by now
		time.Sleep(2 * time.Second)
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		want := []string{
			"took 1", "knows 1", "took 2", "knows 2", "took 3", "knows 3", "took 4", "knows 4", "ran 1", "ran 2", "ran 3", "ran 4",
		}
		if !slices.Equal(r.log, want) {
			t.Errorf("got  %q\nwant %q", r.log, want)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
