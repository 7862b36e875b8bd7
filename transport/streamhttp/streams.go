package streamhttp

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// streams knows every open stream of a handler and keeps the connections alive: one goroutine for all, which exists only
// while there are any.
type streams struct {
	every        time.Duration // between comments; none when not positive
	writeTimeout time.Duration
	noHijack     bool
	onError      func(error)
	readers      sync.WaitGroup // of connections taken over

	mu     sync.Mutex
	open   map[*stream]struct{}
	closed bool
	stop   chan struct{} // ends the beating; nil while there is none
	beats  sync.WaitGroup
}

func (l *streams) init(every, writeTimeout time.Duration, noHijack bool, onError func(error)) {
	l.every, l.writeTimeout, l.noHijack, l.onError = every, writeTimeout, noHijack, onError
	l.open = make(map[*stream]struct{})
}

func (l *streams) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

func (l *streams) add(s *stream) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return transport.ErrClosed
	}
	l.open[s] = struct{}{}
	if l.stop == nil && l.every > 0 {
		stop := make(chan struct{})
		l.stop = stop
		l.beats.Go(func() { l.beat(stop) }) // ends with the last stream; closeAll and wait see to it
	}
	return nil
}

func (l *streams) remove(s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, s)
	if len(l.open) == 0 && l.stop != nil {
		close(l.stop)
		l.stop = nil
	}
}

func (l *streams) all() []*stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]*stream, 0, len(l.open))
	for s := range l.open {
		out = append(out, s)
	}
	return out
}

func (l *streams) beat(stop chan struct{}) {
	ticker := time.NewTicker(l.every)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			for _, s := range l.all() {
				s.beat()
			}
		}
	}
}

// refuse takes no more streams.
func (l *streams) refuse() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
}

// closeAll takes no more streams and closes those there are.
func (l *streams) closeAll() {
	l.refuse()
	for _, s := range l.all() {
		s.close()
	}
}

// wait returns when the goroutines of the streams have ended.
func (l *streams) wait() {
	l.readers.Wait()
	l.beats.Wait()
}

// writeBy sets the limit within which a write must be over. A writer that knows no deadlines has its own limits.
func (l *streams) writeBy(rc *http.ResponseController, limit time.Duration) {
	if err := rc.SetWriteDeadline(time.Now().Add(limit)); err != nil && !errors.Is(err, http.ErrNotSupported) && !errors.Is(err, net.ErrClosed) {
		l.onError(err)
	}
}
