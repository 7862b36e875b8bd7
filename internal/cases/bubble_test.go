package cases

import (
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

// bubbleIdle is how long a connection may go unused in a bubble, where nobody has to wait for that.
const bubbleIdle = time.Minute

// startInBubble is start for a bubble of testing/synctest: connections are lines in memory, so that time passes only while
// nobody has anything to do, however slow the machine is.
func startInBubble(t testing.TB, opts server.Options) *world {
	t.Helper()
	return startOn(t, &switchboard{calls: make(chan net.Conn), over: make(chan struct{})}, opts)
}

// switchboard is a listener in memory.
type switchboard struct {
	calls chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func (s *switchboard) Accept() (net.Conn, error) {
	select {
	case conn := <-s.calls:
		return conn, nil
	case <-s.over:
		return nil, net.ErrClosed
	}
}

func (s *switchboard) Close() error {
	s.once.Do(func() { close(s.over) })
	return nil
}

func (s *switchboard) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (s *switchboard) dial() (net.Conn, error) {
	there, back := &way{news: make(chan struct{})}, &way{news: make(chan struct{})}
	select {
	case s.calls <- &line{in: there, out: back, addr: s.Addr()}:
		return &line{in: back, out: there, addr: s.Addr()}, nil
	case <-s.over:
		return nil, net.ErrClosed
	}
}

// way is one direction of a line. It holds whatever is written, as the buffers of the system do.
type way struct {
	mu    sync.Mutex
	held  []byte
	ended bool          // nothing more comes
	left  bool          // nobody reads it any more
	limit time.Time     // of those who read it; zero for none
	news  chan struct{} // closed and replaced at each change
}

// change changes the way and wakes who waits for that.
func (w *way) change(how func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	how()
	close(w.news)
	w.news = make(chan struct{})
}

// take reads what is there. Where that is nothing, news says when to look again, and limit how long at most to wait for it.
func (w *way) take(p []byte) (n int, news <-chan struct{}, limit time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.left:
		err = net.ErrClosed
	case !w.limit.IsZero() && !time.Now().Before(w.limit):
		err = os.ErrDeadlineExceeded
	case len(w.held) > 0:
		n = copy(p, w.held)
		w.held = w.held[n:]
	case w.ended:
		err = io.EOF
	}
	return n, w.news, w.limit, err
}

// line is one end of a connection in memory.
type line struct {
	in, out *way
	addr    net.Addr
}

var _ net.Conn = (*line)(nil)

func (l *line) Read(p []byte) (int, error) {
	for {
		n, news, limit, err := l.in.take(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		if limit.IsZero() {
			<-news
			continue
		}
		late := time.NewTimer(time.Until(limit))
		select {
		case <-news:
		case <-late.C:
		}
		late.Stop()
	}
}

func (l *line) Write(p []byte) (n int, err error) {
	l.out.change(func() {
		if l.out.ended || l.out.left {
			err = io.ErrClosedPipe
			return
		}
		l.out.held, n = append(l.out.held, p...), len(p)
	})
	return n, err
}

func (l *line) Close() error {
	l.in.change(func() { l.in.left = true })
	l.out.change(func() { l.out.ended = true })
	return nil
}

func (l *line) LocalAddr() net.Addr                { return l.addr }
func (l *line) RemoteAddr() net.Addr               { return l.addr }
func (l *line) SetDeadline(at time.Time) error     { return l.SetReadDeadline(at) }
func (l *line) SetWriteDeadline(_ time.Time) error { return nil } // writing never waits

func (l *line) SetReadDeadline(at time.Time) error {
	l.in.change(func() { l.in.limit = at })
	return nil
}
