package app

import (
	"context"
	"net"
	"sync"
)

// conns knows the connections of one address that are open, those that streams have taken over from http.Server included. Its
// methods may be called concurrently.
type conns struct {
	mu    sync.Mutex
	open  map[*conn]struct{}
	empty chan struct{} // closed when none is open; nil while nobody waits for that
}

// conn is one of them. It is a TCP connection in all that http.Server looks for.
type conn struct {
	*net.TCPConn
	of *conns
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.remove(c)
	return c.TCPConn.Close()
}

// counting is a listener whose connections are known.
type counting struct {
	*net.TCPListener
	to *conns
}

// of makes known what a listener accepts.
func (c *conns) of(l *net.TCPListener) net.Listener { return counting{l, c} }

// Accept implements net.Listener.
func (l counting) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	one := &conn{tcp, l.to}
	l.to.add(one)
	return one, nil
}

func (c *conns) add(one *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = make(map[*conn]struct{})
	}
	c.open[one] = struct{}{}
}

func (c *conns) remove(one *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, one)
	if len(c.open) == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

// wait waits until none is open, or ctx ends. Nothing is accepted meanwhile.
func (c *conns) wait(ctx context.Context) {
	c.mu.Lock()
	if len(c.open) == 0 {
		c.mu.Unlock()
		return
	}
	empty := make(chan struct{})
	c.empty = empty
	c.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}

// close cuts those that are open. That one is closed already, or broken, is no matter then.
func (c *conns) close() {
	c.mu.Lock()
	var open []*conn
	for one := range c.open {
		open = append(open, one)
	}
	c.mu.Unlock()
	for _, one := range open {
		_ = one.Close()
	}
}
