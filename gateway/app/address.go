package app

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
)

// target is where a gateway is to listen.
type target struct {
	asked string       // host:port, as the command line or the file has it
	tcp   *net.TCPAddr // what that means: no IP for all addresses of the machine, port 0 for any that is free; nil on stdio
}

// resolve finds out what host:port means. Of a name with several addresses it takes the one that net.Listen would.
func resolve(ctx context.Context, asked string) (target, error) {
	host, service, err := net.SplitHostPort(asked)
	if err != nil {
		return target{}, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil || host == "" {
		return target{asked, &net.TCPAddr{Port: port}}, err
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return target{}, err
	}
	at := max(0, slices.IndexFunc(found, func(ip netip.Addr) bool { return ip.Unmap().Is4() }))
	return target{asked, net.TCPAddrFromAddrPort(netip.AddrPortFrom(found[at].Unmap(), uint16(port)))}, nil
}

// public tells whether others on the network can reach it.
func (t target) public() bool { return t.tcp != nil && !isLoopback(t.tcp) }

// whole tells whether it is all addresses of the machine.
func (t target) whole() bool { return len(t.tcp.IP) == 0 || t.tcp.IP.IsUnspecified() }

// is tells whether something listens there already: the same in other words, or any free port where that is one.
func (t target) is(a *address) bool {
	same := t.whole() && a.whole() || t.tcp.IP.Equal(a.tcp.IP) && t.tcp.Zone == a.tcp.Zone
	return same && (t.tcp.Port == a.port() || t.tcp.Port == 0 && a.tcp.Port == 0)
}

// covers tells whether one of the two is all addresses of the machine, and they have one port: some systems have only one of
// those open at a time.
func (t target) covers(a *address) bool { return t.tcp.Port == a.port() && t.whole() != a.whole() }

// address is one that is listened on, with the server there.
type address struct {
	target
	listener *net.TCPListener
	web      *http.Server
	conns    conns
	ended    chan struct{} // closed when nothing is accepted any more
	leaving  atomic.Bool   // which is meant
}

// bind opens an address. Nothing is served there yet, but who connects waits.
func (g *gateway) bind(ctx context.Context, t target) (*address, error) {
	listener, err := listenTCP(ctx, t.tcp)
	if err != nil {
		return nil, err
	}
	return &address{target: t, listener: listener, web: g.web()}, nil
}

func listenTCP(ctx context.Context, at *net.TCPAddr) (*net.TCPListener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener), nil // which is what tcp gives
}

// at is where it is listened: the port that was free, where any was asked for.
func (a *address) at() *net.TCPAddr { return a.listener.Addr().(*net.TCPAddr) }

func (a *address) port() int { return a.at().Port }

// serve lets requests in at an address.
func (g *gateway) serve(a *address) {
	a.ended = make(chan struct{})
	a.leaving.Store(false)
	listener, ended := a.conns.of(a.listener), a.ended
	go func() { // ends when the listener is closed: by pause, leave or stop
		defer close(ended)
		if err := a.web.Serve(listener); !a.leaving.Load() {
			g.fail(err)
		}
	}()
}

// fail ends the run with an error. Of several the first counts.
func (g *gateway) fail(err error) {
	select {
	case g.failed <- err:
	default:
	}
}

// pause accepts nothing at an address until resume opens it again. What is under way there goes on.
func (a *address) pause() error {
	a.leaving.Store(true)
	err := a.listener.Close()
	<-a.ended
	return err
}

func (g *gateway) resume(ctx context.Context, a *address) error {
	listener, err := listenTCP(ctx, a.at())
	if err != nil {
		return fmt.Errorf("listen on %s again: %w", a.at(), err)
	}
	a.listener = listener
	g.serve(a)
	return nil
}

// leave accepts nothing at an address any more. What is under way there may end in its own time.
func (g *gateway) leave(a *address) {
	a.leaving.Store(true)
	g.retiring.Go(func() { g.drain(a) }) // ends by itself after reloadDrain, and with the gateway, which waits
	<-a.ended                            // it can be opened again from now on
}

// drain waits until nothing is under way at an address, and no longer than what was taken out of a file may take. Streams have
// their connections to themselves, so http.Server neither waits for them nor closes them.
func (g *gateway) drain(a *address) {
	ctx, cancel := context.WithTimeout(g.running, cmp.Or(g.opts.drain, reloadDrain))
	defer cancel()
	if err := a.web.Shutdown(ctx); err == nil {
		a.conns.wait(ctx)
	}
	g.closeHTTP(a.web)
	a.conns.close()
}
